//! Output on a terminal.

mod pictures;
