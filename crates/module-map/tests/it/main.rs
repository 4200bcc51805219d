//! Tests of the crate's public interface.

mod hints;
mod hostile;
mod memory;
mod renewal;
mod space;
mod support;
mod timeline;
mod waiting;
