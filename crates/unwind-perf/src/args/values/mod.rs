//! How values of arguments are read: closed choices, times, formats, colours, sizes of buffers and stacks.

mod buffer_size;
mod choice;
mod color;
mod format;
mod stack_size;
mod times;
mod weight;

pub(crate) use buffer_size::BufferSize;
pub(crate) use choice::ChoiceParser;
pub(crate) use color::{ColorArg, color_in_arguments};
pub(crate) use format::FormatParser;
pub(crate) use stack_size::StackSize;
pub(crate) use times::{clock_range, time_of};
pub(crate) use weight::{SampleWeight, WeightParser};
