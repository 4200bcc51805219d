//! A difference as a table for people: the comparison's parameters, and the functions that changed most.

use std::io;

use profile::query::diff::{Change, Diff, DiffFunction, DiffMethod, DiffRuns, NotCompared};

use super::DiffPrintOptions;
use super::labels::{diff_function_name, function, module, printable, with_module};
use super::notes::{diff_notes, normalization};
use super::scale::{Scale, ratio};
use crate::formats::ConsoleLook;
use crate::render::numbers::{counted, grouped};
use crate::render::width::{columns, cut_middle, wrapped_text};

/// Number of recordings before, and of recordings after, that are named.
const NAMED: usize = 4;

/// Prints the table.
pub(super) fn print(
    diff: &Diff,
    options: DiffPrintOptions,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut text = head(diff, options.look);
    let ranked = diff.ranked(options.inclusive);
    let limit = if options.limit == 0 { usize::MAX } else { options.limit };
    let change = |row: &DiffFunction| if options.inclusive { row.inclusive } else { row.own };
    let marked = ranked.iter().filter(|(_, row)| change(row).marked).count();
    text.push('\n');
    let verdict = verdict(diff, marked, options.inclusive);
    text.push_str(&wrapped_text(&verdict, options.look.width, 2));
    text.push('\n');
    let rows: Vec<RowCells> = ranked
        .iter()
        .take(limit)
        .map(|(_, row)| RowCells::new(diff, row, &change(row), &Scale::new(diff)))
        .collect();
    if !rows.is_empty() {
        table(&rows, options, &mut text);
    }
    if let Some(rest) = ranked.len().checked_sub(limit).filter(|&rest| rest > 0) {
        text.push_str(&options.look.more("", rest, "more function"));
    }
    not_compared(diff, options, limit, &mut text);
    out.write_all(text.as_bytes())
}

/// Appends the functions that are not compared, each with its reason.
fn not_compared(diff: &Diff, options: DiffPrintOptions, limit: usize, text: &mut String) {
    let rows = diff.functions_not_compared(options.inclusive);
    if rows.is_empty() {
        return;
    }
    let scale = Scale::new(diff);
    let [before, after] = diff.not_compared_shares().map(|share| 100.0 * share);
    text.push_str(&format!("\nnot compared: {before:.1} % of before, {after:.1} % of after\n"));
    let titles = ["before", "after", "reason"];
    let cells: Vec<([String; 3], String)> = rows
        .iter()
        .take(limit)
        .map(|(_, row)| {
            let change = if options.inclusive { row.inclusive } else { row.own };
            let cost = |value: f64| if value == 0.0 { String::new() } else { scale.cost(value) };
            let reason = row.not_compared.map_or("", reason).to_owned();
            let cells = [cost(change.before.value), cost(change.after.value), reason];
            (cells, diff_function_name(diff, row))
        })
        .collect();
    let width = |column: usize| {
        let texts = cells.iter().map(|(cells, _)| columns(&cells[column]));
        texts.chain([titles[column].len()]).max().unwrap_or(0)
    };
    let widths = [0, 1, 2].map(width);
    let (heading, faint) = (options.look.heading(), options.look.faint());
    let line = |cells: [&str; 3]| {
        let [first, second, third] = widths;
        format!("{:>first$}  {:>second$}  {:third$}", cells[0], cells[1], cells[2])
    };
    let room = options.look.remaining(2 + widths.iter().map(|width| width + 2).sum::<usize>());
    text.push_str(&format!("{heading}  {}  function{heading:#}\n", line(titles)));
    for (cells, name) in &cells {
        let cells = cells.each_ref().map(String::as_str);
        let name = cut_middle(name, room);
        text.push_str(&format!("{faint}  {}  {name}{faint:#}\n", line(cells)));
    }
    if let Some(rest) = rows.len().checked_sub(limit).filter(|&rest| rest > 0) {
        text.push_str(&options.look.more("", rest, "more function"));
    }
}

/// Returns the reason that a function is not compared, in two words.
fn reason(reason: NotCompared) -> &'static str {
    match reason {
        NotCompared::NoPartner => "no partner",
        NotCompared::NoName => "no name",
    }
}

/// Returns the lines on the recordings, the method, and the caveats.
fn head(diff: &Diff, look: ConsoleLook) -> String {
    let spelling = look.spelling;
    let mut lines = vec![
        ("before", side_text(diff, &diff.before)),
        ("after", side_text(diff, &diff.after)),
        ("compared", compared(diff)),
    ];
    lines.extend(diff_notes(diff, spelling).into_iter().map(|line| ("note", line)));
    let line = |(word, line): &(&str, String)| {
        format!("{}\n", wrapped_text(&format!("{word:<9} {line}"), look.width, 10))
    };
    lines.iter().map(line).collect()
}

/// Formats the totals before or after, such as
/// `a.data: 21,034 samples of cpu-clock, 5.26 s in 5.27 s; 99.8 % of the stacks are complete`.
fn side_text(diff: &Diff, side: &DiffRuns) -> String {
    let runs = &side.runs;
    let mut names: Vec<String> =
        runs.iter().take(NAMED).map(|run| printable(run.name.as_bytes())).collect();
    if runs.len() > NAMED {
        names.push("…".to_owned());
    }
    let mut line = names.join(" ");
    if runs.len() > 1 {
        line = format!("{} ({line})", counted(runs.len() as u64, "recording"));
    }
    let sum = |of: &dyn Fn(&profile::query::diff::DiffRun) -> u64| {
        runs.iter().map(of).fold(0, u64::saturating_add)
    };
    let samples = counted(sum(&|run| run.total.samples), "sample");
    line.push_str(&format!(": {samples} of {}", printable(diff.event.as_bytes())));
    let cost = sum(&|run| run.total.cost);
    match diff.unit {
        Some("nanoseconds") => line.push_str(&format!(", {:.2} s", cost as f64 / 1e9)),
        Some(_) => line.push_str(&format!(", {} in all", grouped(cost))),
        None => {}
    }
    if side.mean_seconds() > 0.0 {
        let each = if runs.len() > 1 { " each on average" } else { "" };
        line.push_str(&format!(" in {:.2} s{each}", side.mean_seconds()));
    }
    let complete = 100.0 * side.complete_share();
    line.push_str(&format!("; {complete:.1} % of the stacks are complete"));
    line
}

fn compared(diff: &Diff) -> String {
    let names = if diff.exact_names { "exact name" } else { "name" };
    let with = if diff.inlines { "with" } else { "without" };
    let mut line = format!(
        "{}; functions by {names} and module, {with} inlined functions",
        normalization(diff)
    );
    if !diff.filters.is_empty() {
        line.push_str("; filters: ");
        line.push_str(&printable(diff.filters.join(", ").as_bytes()));
    }
    line
}

/// Returns the number of functions that changed, and its significance.
fn verdict(diff: &Diff, marked: usize, inclusive: bool) -> String {
    let tested = diff.tested[usize::from(inclusive)] as u64;
    let what = if inclusive { "inclusive cost" } else { "own cost" };
    let within = match diff.method {
        DiffMethod::Rates | DiffMethod::Proportions => "within these two runs",
        DiffMethod::Spread => "by the spread between the runs",
        DiffMethod::Unknown => return format!("{what}; nothing is marked"),
    };
    let of = counted(tested, "function");
    match marked {
        0 => format!("{what}: none of {of} changed, {within}"),
        _ => format!("{what}: {} of {of} changed (*), {within}", grouped(marked as u64)),
    }
}

/// Cells of a table row.
struct RowCells {
    marked: bool,
    /// Before, after, change, interval, ratio.
    cells: [String; 5],
    name: String,
    module: Option<String>,
}

impl RowCells {
    fn new(diff: &Diff, row: &DiffFunction, change: &Change, scale: &Scale) -> Self {
        let (before, after) = (change.before.value, change.after.value);
        let cells = [
            scale.cost(before),
            scale.cost(after),
            scale.delta(change.delta()),
            change.interval.map_or(String::new(), |interval| scale.range(interval)),
            ratio(before, after),
        ];
        let module = row.module.map(|id| printable(module(diff, id)));
        Self { marked: change.marked, cells, name: printable(&function(diff, row)), module }
    }
}

fn table(rows: &[RowCells], options: DiffPrintOptions, text: &mut String) {
    let titles = ["before", "after", "change", "95 %", "ratio"];
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| columns(&row.cells[column]));
        cells.chain([titles[column].len()]).max().unwrap_or(0)
    });
    // The first columns that a narrow terminal loses are the interval and the ratio.
    let choices: [&[usize]; 3] = [&[0, 1, 2, 3, 4], &[0, 1, 2, 4], &[0, 1, 2]];
    let used = |shown: &[usize]| 2 + shown.iter().map(|&column| widths[column] + 2).sum::<usize>();
    let fits =
        |used| options.look.width.is_none_or(|width| width >= used + ConsoleLook::LEAST_NAME);
    let shown = choices.into_iter().find(|shown| fits(used(shown))).unwrap_or(&[0, 1, 2]);
    let (heading, faint) = (options.look.heading(), options.look.faint());
    let line = |cells: &[&str]| -> String {
        let cell = |&column: &usize| format!("{:>width$}", cells[column], width = widths[column]);
        shown.iter().map(cell).collect::<Vec<_>>().join("  ")
    };
    let room = options.look.remaining(used(shown));
    text.push_str(&format!("{heading}  {}  function{heading:#}\n", line(&titles)));
    for row in rows {
        let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
        let mark = if row.marked { '*' } else { ' ' };
        let name = with_width(row, room);
        let style = if row.marked { anstyle::Style::new() } else { faint };
        text.push_str(&format!("{style}{mark} {}  {name}{style:#}\n", line(&cells)));
    }
}

/// Returns the function with its module in brackets, which is omitted if the width is too small for both.
fn with_width(row: &RowCells, room: Option<usize>) -> String {
    let module = columns(&with_module("", row.module.clone()));
    match room.map(|room| (room, room.saturating_sub(module))) {
        Some((room, ..ConsoleLook::LEAST_NAME)) if columns(&row.name) + module > room => {
            cut_middle(&row.name, Some(room))
        }
        left => {
            let name = cut_middle(&row.name, left.map(|(_, left)| left));
            with_module(&name, row.module.clone())
        }
    }
}
