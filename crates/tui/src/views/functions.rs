//! The table of functions.

use formats::{columns, cost_text, cost_title};
use options::CostKind;
use profile::query::FunctionId;
use ratatui::text::{Line, Span};

use super::Canvas;
use super::look::{BAR, Look, bar};
use crate::app::App;
use crate::data::{Results, Snapshot, cut, share_of};

/// Columns of the costs, with the space after them.
const COSTS: usize = 8 + 8 + 13 + BAR + 1;

/// Draws the table.
pub(super) fn draw(app: &App, canvas: &mut Canvas<'_>) {
    let (Some(data), Some(results)) = (&app.data, &app.results) else { return };
    let look = canvas.look;
    let mut from = 0;
    if !app.no_headers {
        let mark = |kind| if app.sort == kind { '▼' } else { ' ' };
        let (own, inclusive) = (mark(CostKind::Own), mark(CostKind::Inclusive));
        let unit = cost_title(results.unit);
        let head = format!("{own}   own {inclusive} incl. {unit:>12} {:BAR$} function", "");
        let head = format!("{head:<0$}", canvas.width());
        canvas.line(0, &Line::styled(head, look.heading()));
        from = 1;
    }
    // The rows are sorted by it.
    let most = results.functions.first().map_or(0, |row| kind(app.sort, row));
    let room = canvas.width().saturating_sub(COSTS);
    canvas.rows(from, app.functions, app.rows.len(), |at| {
        let row = app.rows.get(at).copied().unwrap_or(0);
        let function = results.function(row);
        let Some(costs) = results.functions.get(row as usize) else { return Line::default() };
        let sorted = kind(app.sort, costs);
        let (own, all) = (costs.own.weight, costs.inclusive.weight);
        let mut line = shares(look, results, own, all);
        line.push_span(Span::raw(format!(" {:>11} ", cost_text(results.unit, sorted))));
        line.push_span(Span::styled(bar(sorted, most, BAR), look.bar()));
        line.push_span(Span::raw(" "));
        line.extend(names(look, data, function, app.full_names, room));
        line
    });
}

const fn kind(sort: CostKind, row: &profile::query::engine::TableRow) -> u64 {
    match sort {
        CostKind::Own => row.own.weight,
        CostKind::Inclusive => row.inclusive.weight,
    }
}

/// Returns own and inclusive share.
pub(super) fn shares(look: Look, results: &Results, own: u64, inclusive: u64) -> Line<'static> {
    let total = results.total.weight;
    let text = if own == 0 { String::new() } else { share_of(own, total) };
    Line::from(vec![
        Span::styled(format!("{text:>7} "), look.share(own, total)),
        Span::styled(format!("{} ", share_of(inclusive, total)), look.share(inclusive, total)),
    ])
}

/// Returns the name of a function, cut in the middle, and its module on the right.
pub(super) fn names(
    look: Look,
    data: &Snapshot,
    function: Option<FunctionId>,
    is_full: bool,
    room: usize,
) -> [Span<'static>; 2] {
    let Some(function) = function else { return [Span::raw("[truncated]"), Span::raw("")] };
    let module = data.module_name(function);
    let module = cut(&module, if room < 24 { 0 } else { room / 3 });
    let name = cut(&data.name(function, is_full), room.saturating_sub(columns(&module) + 2));
    let gap = room.saturating_sub(columns(&name) + columns(&module));
    [Span::raw(name), Span::styled(format!("{:gap$}{module}", ""), look.faint())]
}
