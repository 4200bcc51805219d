//! Values of options that are neither plain numbers nor closed choices, with their texts.

mod bytes;
pub(crate) mod cpus;
mod duration;
mod hint;
pub(crate) mod memory;
mod normalization;
mod percent;
mod time;

pub use bytes::{Bytes, from_hex, to_hex};
pub use cpus::parse_cpus;
pub use duration::parse_duration;
pub use hint::{Hint, HintError, HintScope};
pub use memory::{MemoryLimit, parse_memory, parse_size};
pub use normalization::Normalization;
pub use percent::{Percent, parse_percent, parse_share};
pub use time::{TimePoint, TimeRange, parse_seconds};
