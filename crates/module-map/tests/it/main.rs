//! The crate as its users see it.

mod files;
mod hints;
mod kernel;
mod layouts;
mod sharing;
mod space;
mod support;
mod timeline;
