//! How values of arguments are read: closed choices, times, formats, colours.

mod choice;
mod color;
mod format;
mod times;

pub(crate) use choice::ChoiceParser;
pub(crate) use color::{ColorArg, color_in_arguments};
pub(crate) use format::FormatParser;
pub(crate) use times::{clock_range, time_of};
