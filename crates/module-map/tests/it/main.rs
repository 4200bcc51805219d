//! The crate as its users see it.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]

mod bounds;
mod by_content;
mod debug_files;
mod exported;
mod files;
mod headerless;
mod hints;
mod hostile;
mod kernel;
mod layouts;
mod memory;
mod moved;
mod per_frame;
mod sharing;
mod space;
mod support;
mod timeline;
mod waiting;
