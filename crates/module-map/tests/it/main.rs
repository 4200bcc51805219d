//! The crate as its users see it.

mod hints;
mod hostile;
mod memory;
mod space;
mod support;
mod timeline;
mod waiting;
