//! Tests of commands that use the terminal as a whole.

mod screen;
mod tui;
