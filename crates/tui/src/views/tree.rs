//! The call tree.

use ratatui::text::{Line, Span};

use super::Canvas;
use super::functions::{names, shares};
use crate::app::{App, TreePane};
use crate::data::{Tree, cost_text, cost_title};

/// Columns of the costs, with the space after them.
const COSTS: usize = 8 + 8 + 11;

/// Columns of indentation for a level, and the most of it.
const STEP: usize = 2;

/// Draws the tree.
pub(super) fn draw(app: &App, pane: &TreePane, canvas: &mut Canvas<'_>) {
    let (Some(data), Some(results)) = (&app.data, &app.results) else { return };
    let Some(tree) = &pane.tree else { return };
    let look = canvas.look;
    let mut from = 0;
    if !app.no_headers {
        let unit = cost_title(results.unit);
        let mut head = format!("    own   incl. {unit:>10} function");
        if tree.omitted > 0 {
            head += &format!(" ({} nodes of low cost omitted)", tree.omitted);
        }
        let head = format!("{head:<0$}", canvas.width());
        canvas.line(0, &Line::styled(head, look.heading()));
        from = 1;
    }
    let room = canvas.width().saturating_sub(COSTS);
    canvas.rows(from, pane.list, tree.shown.len(), |at| {
        let node = tree.shown.get(at).copied().unwrap_or(0);
        let Some(row) = tree.row(node) else { return Line::default() };
        let mut line = shares(look, results, row.own.weight, row.inclusive.weight);
        let cost = cost_text(results.unit, row.inclusive.weight);
        line.push_span(Span::raw(format!("{cost:>10} ")));
        let indent = indentation(tree, at, room / 2);
        let mark = match pane.is_open(node) {
            Some(true) => "- ",
            Some(false) => "+ ",
            None => "  ",
        };
        let left = room.saturating_sub(indent.chars().count() + mark.len());
        line.push_span(Span::styled(indent, look.faint()));
        line.push_span(Span::raw(mark));
        line.extend(names(look, data, tree.function(node), app.full_names, left));
        line
    });
}

/// Returns the indentation of a row: its depth, or the depth as a number if that is too wide.
fn indentation(tree: &Tree, at: usize, most: usize) -> String {
    let depth = tree.shown.get(at).and_then(|&node| tree.row(node)).map_or(0, |row| row.depth);
    if depth * STEP <= most {
        return "│ ".repeat(depth);
    }
    let number = format!("‥{depth} ");
    let bars = most.saturating_sub(number.chars().count()) / STEP;
    "│ ".repeat(bars) + &number
}
