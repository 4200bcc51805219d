//! How values of arguments are read: closed choices, times, formats, colours, sizes of buffers and stacks.

mod buffer_size;
mod choice;
mod choice_or_value;
mod color;
mod format;
mod stack_size;
mod times;

pub(crate) use buffer_size::BufferSize;
pub(crate) use choice::ChoiceParser;
pub(crate) use choice_or_value::ChoiceOrValueParser;
pub(crate) use color::{ColorArg, color_in_arguments};
pub(crate) use format::FormatParser;
pub(crate) use stack_size::StackSize;
pub(crate) use times::{clock_range, time_of};
