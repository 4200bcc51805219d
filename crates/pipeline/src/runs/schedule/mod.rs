//! The schedules of a run, which decide when a growing profile is output. Each advances one driver.

pub(super) mod at_end;
pub(super) mod by_samples;
mod pace;
pub(super) mod ticks;
mod way;

pub(super) use way::{Outcome, Way};
pub use way::{Schedule, StreamOptions, Ticks};
