//! Tests of the commands by their user interface: arguments, exit statuses, written files.

mod arguments;
mod build_ids;
mod bundle;
mod cache;
mod cli;
mod convert;
mod diff;
mod errors;
mod filters;
#[cfg(feature = "parquet")]
mod fleet;
mod incomplete;
mod off_cpu;
mod readme;
mod record;
mod signals;
mod tables;
mod targets;
mod usual_cache;
