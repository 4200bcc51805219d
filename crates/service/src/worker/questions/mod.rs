//! Questions about a profile, as the engine of `profile` answers them.

mod answer;
#[cfg(test)]
mod tests;

pub(super) use answer::rows;
pub(super) use profile::query::engine::Index;
