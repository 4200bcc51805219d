//! The backend of pictures: termion's, without queries to the terminal.

use std::io;

use ratatui::backend::{Backend, ClearType, TermionBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

use crate::terminal::TerminalOutput;

/// Draws on the terminal. The position of the cursor is not asked for, since the answer would come among the keys, which
/// another thread reads; the view does not depend on it.
#[derive(Debug)]
pub(crate) struct QuietBackend(TermionBackend<TerminalOutput>);

impl QuietBackend {
    pub(crate) const fn new() -> Self {
        Self(TermionBackend::new(TerminalOutput))
    }
}

impl Backend for QuietBackend {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.0.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.0.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
