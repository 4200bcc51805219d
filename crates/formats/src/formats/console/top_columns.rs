//! The columns of costs before the names of a table, and the choice of those that fit.

use anstyle::Style;

use crate::render::width::columns;

/// Columns between two cells.
const GAP: usize = 2;

/// A column of a table; its cells are in the order of the rows.
pub(super) struct CostColumn {
    heading: &'static str,
    width: usize,
    is_left: bool,
    /// 0 if it is always shown; of the others, those with high ranks are omitted first.
    rank: u8,
    /// Columns that names have at least if this one is shown.
    least_name: usize,
    cells: Vec<String>,
    /// Styles of cells; empty if they have none.
    styles: Vec<Style>,
}

impl CostColumn {
    /// Returns a column of at least `width` columns, aligned on the right.
    pub(super) fn new(
        heading: &'static str,
        width: usize,
        cells: impl Iterator<Item = String>,
    ) -> Self {
        let cells: Vec<String> = cells.collect();
        let longest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        let width = longest.max(heading.len()).max(width);
        Self { heading, width, is_left: false, rank: 0, least_name: 0, cells, styles: Vec::new() }
    }

    /// Aligns the column on the left.
    pub(super) fn left(self) -> Self {
        Self { is_left: true, ..self }
    }

    /// Sets the styles of the cells.
    pub(super) fn styled(self, styles: Vec<Style>) -> Self {
        Self { styles, ..self }
    }

    /// Permits to omit the column if names had fewer than `least_name` columns.
    pub(super) fn omitted(self, rank: u8, least_name: usize) -> Self {
        Self { rank, least_name, ..self }
    }

    /// Returns the heading, padded.
    pub(super) fn head(&self) -> String {
        self.padded(self.heading)
    }

    /// Returns the cell of a row, padded.
    pub(super) fn cell(&self, row: usize) -> String {
        let style = self.styles.get(row).copied().unwrap_or_default();
        let cell = self.padded(self.cells.get(row).map_or("", String::as_str));
        format!("{style}{cell}{style:#}")
    }

    fn padded(&self, text: &str) -> String {
        let width = self.width;
        if self.is_left { format!("{text:<width$}") } else { format!("{text:>width$}") }
    }
}

/// Returns the columns that fit beside names into a line of `width` columns.
pub(super) fn shown(mut all: Vec<CostColumn>, width: Option<usize>) -> Vec<CostColumn> {
    let Some(width) = width else { return all };
    loop {
        let used = width_of(&all);
        let rank = all.iter().map(|column| column.rank).max().unwrap_or(0);
        let last = all.iter().filter(|column| column.rank == rank);
        let least = last.map(|column| column.least_name).max().unwrap_or(0);
        if rank == 0 || width >= used + least {
            return all;
        }
        all.retain(|column| column.rank < rank);
    }
}

/// Returns the width of columns, with the gap after each.
pub(super) fn width_of(shown: &[CostColumn]) -> usize {
    shown.iter().map(|column| column.width + GAP).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_high_rank_are_omitted_first() {
        let column = |heading, rank, least| {
            let cells = ["1".to_owned(), "22".to_owned()].into_iter();
            CostColumn::new(heading, 7, cells).omitted(rank, least)
        };
        let all = || vec![column("a", 0, 0), column("b", 1, 20), column("c", 2, 40)];
        let headings = |width| -> Vec<&str> {
            shown(all(), width).iter().map(|column| column.heading).collect()
        };
        assert_eq!(headings(None), ["a", "b", "c"]);
        assert_eq!(headings(Some(67)), ["a", "b", "c"]);
        assert_eq!(headings(Some(66)), ["a", "b"]);
        assert_eq!(headings(Some(38)), ["a", "b"]);
        assert_eq!(headings(Some(37)), ["a"]);
        assert_eq!(headings(Some(5)), ["a"]);
        let left = column("a", 0, 0).left();
        assert_eq!((&*left.head(), &*left.cell(1)), ("a      ", "22     "));
        assert_eq!(column("a", 0, 0).cell(1), "     22");
    }
}
