//! Queries on a profile, answered by the engine of `profile`.

mod answer;
#[cfg(test)]
mod tests;

pub(super) use answer::{rows, spans};
