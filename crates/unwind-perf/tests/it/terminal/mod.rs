//! Output on a terminal.

mod pictures;
mod widths;
