//! The tables of a profile.

mod strings;

pub use strings::{StringId, Strings};
