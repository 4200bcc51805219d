//! The call tree.

use formats::{columns, cost_text, cost_title};
use ratatui::text::{Line, Span};

use super::Canvas;
use super::functions::{names, shares};
use crate::app::{App, TreePane};
use crate::data::Tree;

/// Columns of the costs, with the space after them.
const COSTS: usize = OWN + 8 + 11;
/// Columns of own cost.
const OWN: usize = 8;

/// Columns of indentation for a level.
const STEP: usize = 2;

/// Draws the tree.
pub(super) fn draw(app: &App, pane: &TreePane, inverted: bool, canvas: &mut Canvas<'_>) {
    let (Some(data), Some(results)) = (&app.data, &app.results) else { return };
    let Some(tree) = &pane.tree else { return };
    let look = canvas.look;
    let mut from = 0;
    if !app.no_headers {
        let unit = cost_title(results.unit);
        let own = if inverted { "" } else { "    own " };
        let mut head = format!("{own}  incl. {unit:>10} function");
        if tree.omitted > 0 {
            head += &format!(" ({} nodes of low cost omitted)", tree.omitted);
        }
        let head = format!("{head:<0$}", canvas.width());
        canvas.line(0, &Line::styled(head, look.heading()));
        from = 1;
    }
    let room = canvas.width().saturating_sub(if inverted { COSTS - OWN } else { COSTS });
    canvas.rows(from, pane.list, tree.shown.len(), |at| {
        let node = tree.shown.get(at).copied().unwrap_or(0);
        let Some(row) = tree.row(node) else { return Line::default() };
        let mut line = shares(look, results, row.own.weight, row.inclusive.weight);
        if inverted {
            // Own cost there is that of the roots of stacks.
            line.spans.remove(0);
        }
        let cost = cost_text(results.unit, row.inclusive.weight);
        line.push_span(Span::raw(format!("{cost:>10} ")));
        let indent = indentation(tree, node, room / 2);
        let mark = match pane.is_open(node) {
            Some(true) => "- ",
            Some(false) => "+ ",
            None => "  ",
        };
        let left = room.saturating_sub(columns(&indent) + mark.len());
        line.push_span(Span::styled(indent, look.faint()));
        line.push_span(Span::raw(mark));
        line.extend(names(look, data, tree.function(node), app.full_names, left));
        line
    });
}

/// Returns the indentation of a row: a bar for each ancestor with several children, and a mark for an only child. If
/// that is too wide, the number of bars replaces the last ones.
fn indentation(tree: &Tree, node: u32, most: usize) -> String {
    let level = tree.level(node);
    let mark = if tree.is_only_child(node) { "└" } else { " " };
    if level * STEP <= most {
        return "│ ".repeat(level) + mark;
    }
    let number = format!("‥{level} ");
    let bars = most.saturating_sub(columns(&number)) / STEP;
    "│ ".repeat(bars) + &number + mark
}
