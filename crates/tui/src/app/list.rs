//! The cursor of a list and the part of it that is on the screen.

/// A position in a list of rows; a page of them is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    /// The selected row.
    pub(crate) at: usize,
    /// The first row on the screen.
    pub(crate) top: usize,
}

/// A movement of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

impl List {
    /// Moves the cursor in a list of `rows` rows; `page` of them are shown.
    pub(crate) fn go(&mut self, to: Move, rows: usize, page: usize) {
        let step = page.saturating_sub(1).max(1);
        self.at = match to {
            Move::Up => self.at.saturating_sub(1),
            Move::Down => self.at + 1,
            Move::PageUp => self.at.saturating_sub(step),
            Move::PageDown => self.at + step,
            Move::First => 0,
            Move::Last => usize::MAX,
        };
        self.show(rows, page);
    }

    /// Moves the page so that it has the cursor, which stays within the list.
    pub(crate) fn show(&mut self, rows: usize, page: usize) {
        self.at = self.at.min(rows.saturating_sub(1));
        let least = (self.at + 1).saturating_sub(page.max(1));
        self.top = self.top.clamp(least, self.at).min(rows.saturating_sub(page)).max(least);
    }

    /// Selects a row, in the middle of the page.
    pub(crate) fn center(&mut self, at: usize, rows: usize, page: usize) {
        self.at = at;
        self.top = at.saturating_sub(page / 2);
        self.show(rows, page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_follows_the_cursor() {
        let mut list = List::default();
        let mut go = |to, expected| {
            list.go(to, 100_000, 20);
            assert_eq!((list.at, list.top), expected, "{to:?}");
        };
        go(Move::Up, (0, 0));
        go(Move::PageDown, (19, 0));
        go(Move::Down, (20, 1));
        go(Move::PageDown, (39, 20));
        go(Move::Last, (99_999, 99_980));
        go(Move::Down, (99_999, 99_980));
        go(Move::PageUp, (99_980, 99_980));
        go(Move::Up, (99_979, 99_979));
        go(Move::First, (0, 0));
        list.center(50, 60, 20);
        assert_eq!((list.at, list.top), (50, 40));
        list.show(10, 20);
        assert_eq!((list.at, list.top), (9, 0));
        list.show(0, 20);
        assert_eq!((list.at, list.top), (0, 0));
    }
}
