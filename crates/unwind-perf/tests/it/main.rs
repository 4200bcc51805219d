//! The command as its users run it: recordings in; bytes, messages and exit status out.
//!
//! No test needs root, a network, perf or a compiler; all inputs are in `testdata`, or written here.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write recordings and read what the command wrote"
)]

mod commands;
mod files;
mod formats;
mod hostile;
#[cfg(feature = "mcp")]
mod mcp;
mod recordings;
#[cfg(feature = "service")]
mod service;
mod support;
mod terminal;
