//! Runs of a whole recording, of one that grows, or of its maps alone, and their shared parts from opening to the
//! account.

mod account;
mod analysis;
mod analyze;
mod assemble;
mod driver;
mod events;
mod head;
mod input;
mod lag;
mod maps;
mod off_cpu;
mod output;
mod run;
mod schedule;
mod sink;
mod values;

pub(crate) use account::account_of_files;
pub use account::dangling_ids;
pub use analysis::Analysis;
pub(crate) use analyze::{analyze, analyze_in_steps};
pub(crate) use head::head;
pub use input::RecordingWatch;
pub(crate) use input::open;
pub use maps::MapReplay;
pub use schedule::{Schedule, StreamOptions, Ticks};
pub use sink::{Grown, Lag, LiveWarning, RunAccount, Sink, TableSizes};
