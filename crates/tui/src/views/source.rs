//! Source and instructions of a function.

use profile::query::Cost;
use ratatui::text::{Line, Span};

use super::Canvas;
use crate::app::{App, SourceRow};
use crate::data::{Results, cut, share_of};
use crate::views::look::Look;

/// Columns of the costs and the line, with the space after them.
const COSTS: usize = 8 + 8 + 9 + 2;

/// Draws source or instructions.
pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let (Some(data), Some(results)) = (&app.data, &app.results) else { return };
    let (look, pane) = (canvas.look, &app.source);
    let Some(function) = pane.function else {
        return canvas.without_function();
    };
    let mut from = 0;
    if !app.no_headers {
        let (column, other) =
            if pane.shows_code { ("address", "source") } else { ("line", "instructions") };
        let name = data.name(function, app.full_names);
        let head = format!("    own   incl. {column:>9}  ");
        let tail = format!("  s {other}");
        let room = canvas.width().saturating_sub(head.len() + tail.len());
        let head = format!("{head}{:<room$}{tail}", cut(&name, room));
        canvas.line(0, &Line::styled(head, look.heading()));
        from = 1;
    }
    let [source, code] = pane.lists;
    if !pane.shows_code {
        let room = canvas.width().saturating_sub(COSTS);
        canvas.rows(from, source, pane.source.len(), |at| match pane.source.get(at) {
            Some(SourceRow::File(name)) => {
                Line::styled(format!("{:COSTS$}{}", "", cut(name, room)), look.heading())
            }
            Some(SourceRow::Line { number, text, own, inclusive }) => {
                let number = if *number == 0 { String::new() } else { number.to_string() };
                line(look, results, (*own, *inclusive), &number, text)
            }
            None => Line::default(),
        });
    } else if let Some(why) = &pane.no_code {
        canvas.line(from + 1, &Line::raw(format!(" No instructions: {why}.")));
    } else {
        canvas.rows(from, code, pane.code.len(), |at| {
            let Some(it) = pane.code.get(at) else { return Line::default() };
            let address = format!("{:x}", it.address);
            let text = crate::data::safe(it.text.as_bytes());
            line(look, results, (it.own, it.inclusive), &address, &text)
        });
    }
}

/// Returns a line with its costs; blank if it has none.
fn line(
    look: Look,
    results: &Results,
    (own, inclusive): (Cost, Cost),
    number: &str,
    text: &str,
) -> Line<'static> {
    let total = results.total.weight;
    let shown = |cost: Cost| {
        let text = if cost.weight == 0 { String::new() } else { share_of(cost.weight, total) };
        Span::styled(format!("{text:>7} "), look.share(cost.weight, total))
    };
    Line::from(vec![
        shown(own),
        shown(inclusive),
        Span::styled(format!("{number:>9}  "), look.faint()),
        Span::raw(text.to_owned()),
    ])
}
