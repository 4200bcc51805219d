//! The service as its clients use it: a separate process, reached over the loopback.

mod answers;
mod client;
mod connections;
mod debuginfod;
mod faults;
mod firefox;
mod full_disk;
mod guard;
mod interrupted;
mod jobs;
mod live;
mod same_bytes;
mod symbols;
pub(crate) mod traced;
mod uploads;
