//! Callers and callees of a function.

use formats::cost_text;
use ratatui::text::{Line, Span};

use super::Canvas;
use super::functions::names;
use super::look::{BAR, bar};
use crate::app::App;
use crate::data::share_of;

/// Draws the callers above the function, and the callees below it.
pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let (Some(data), Some(results)) = (&app.data, &app.results) else { return };
    let look = canvas.look;
    let pane = &app.callers;
    let Some(function) = pane.function else {
        return canvas.without_function();
    };
    let mut from = 0;
    if !app.no_headers {
        let mut head = format!("  incl.        cost {:BAR$} callers, the function, callees", "");
        if pane.omitted > 0 {
            head += &format!(" ({} nodes omitted)", pane.omitted);
        }
        canvas.line(0, &Line::styled(format!("{head:<0$}", canvas.width()), look.heading()));
        from = 1;
    }
    let of_itself = pane.weight;
    let total = results.total.weight;
    let room = canvas.width().saturating_sub(8 + 12 + BAR + 3);
    canvas.rows(from, pane.list, pane.rows(), |at| {
        let (mark, weight, of, is_root) = match pane.row(at) {
            None => ("■ ", of_itself, Some(function), false),
            Some(it) if at < pane.callers.len() => {
                ("↓ ", it.cost.weight, it.function, it.function.is_none())
            }
            Some(it) => ("→ ", it.cost.weight, it.function, false),
        };
        let mut line = Line::from(vec![
            Span::styled(format!("{} ", share_of(weight, total)), look.share(weight, total)),
            Span::raw(format!("{:>11} ", cost_text(results.unit, weight))),
            Span::styled(bar(weight, of_itself, BAR), look.bar()),
            Span::raw(format!(" {mark}")),
        ]);
        if is_root {
            line.push_span(Span::raw("[no caller]"));
        } else {
            line.extend(names(look, data, of, app.full_names, room));
        }
        line
    });
}
