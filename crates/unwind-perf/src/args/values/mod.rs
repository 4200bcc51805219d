//! How values of arguments are read: sizes, shares, times, formats, colours.

mod color;
mod format;
mod memory;
mod percent;
mod times;

pub(crate) use color::{ColorArg, color_in_arguments};
pub(crate) use format::FormatParser;
pub(crate) use memory::parse_memory;
pub(crate) use percent::{Percent, parse_percent};
pub(crate) use times::{clock_range, time_of, time_range};
