//! `unwind-perf mcp`, asked by the client of the protocol's SDK.

mod client;
mod guide;
mod refusals;
mod tools;
mod traced;
mod values;
