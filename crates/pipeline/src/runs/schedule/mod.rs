//! The schedules of a run, which decide when a growing profile is output. Each advances one driver.

pub(super) mod at_end;
mod backlog;
pub(super) mod by_samples;
mod output_clock;
mod read_path;
pub(super) mod ticks;

pub(super) use read_path::{ReadOutcome, ReadPath};
pub use read_path::{Schedule, StreamOptions, Ticks};
