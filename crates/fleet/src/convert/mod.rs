//! Conversion of recordings: the options and their hash, the runs of the program, and the workers.

mod absolute;
mod account;
mod converter;
mod digest;
mod named_options;
mod process;
mod runner;
#[cfg(feature = "urls")]
mod url;
mod workers;

pub use account::Account;
pub use converter::{Converted, Converter};
pub use named_options::NamedOptions;
pub use runner::Runner;
pub use workers::{Tally, convert_all};
