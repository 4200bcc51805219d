//! Commands for many recordings.

mod compact;
mod convert;
mod symbolize;

pub(super) use compact::run as compact;
pub(super) use convert::{convert_recording, run as convert};
pub(super) use symbolize::run as symbolize;
