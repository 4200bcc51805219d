//! The runs: a recording as a whole, while it is unwound, or its maps alone; and what they share, from opening to the
//! account.

mod account;
mod analysis;
mod assemble;
mod events;
pub(crate) mod growing;
mod head;
pub(crate) mod live;
mod live_bytes;
mod maps;
mod off_cpu;
mod open;
mod pace;
mod run;
mod sample_times;
pub(crate) mod whole;

pub use account::dangling_ids;
pub use analysis::Analysis;
pub(crate) use head::head;
pub use maps::MapReplay;
pub use open::RecordingWatch;
pub(crate) use open::open;
