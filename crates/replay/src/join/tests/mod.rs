//! Repair of stacks in a text notation: each test has the samples of a recording,
//! and the completions of the truncated ones.

mod functions;
mod gaps;
mod history;
mod joins;
mod notation;
mod trials;
