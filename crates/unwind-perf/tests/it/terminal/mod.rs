//! Output on a terminal, and commands that use the terminal as a whole.

mod pictures;
#[cfg(feature = "tui")]
mod screen;
#[cfg(feature = "tui")]
mod tui;
mod widths;
