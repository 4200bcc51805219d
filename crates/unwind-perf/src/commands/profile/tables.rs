//! `unwind-perf top` and `unwind-perf tree`: the highest costs as tables.

use std::path::Path;

use anyhow::bail;
use formats::{SpanDurations, TopTable, TreeTable};
use options::{ChoiceOrValue, GroupBy, TopFormat, Weight};
use profile::query::FoldedFrames;

use super::{OutputFile, ProfileJob};
use crate::args::{SpansArgs, TopArgs, TreeArgs};
use crate::commands::extensions::by_ending;
use crate::commands::page::Embedded;
use crate::terminal::{Status, console_look};

/// Default number of rows of the text table.
const ROWS: usize = 25;
/// Default number of lines of the tree.
const LINES: usize = 200;

/// File endings of the table formats.
const ENDINGS: [(&str, TopFormat); 4] = [
    (".txt", TopFormat::Text),
    (".text", TopFormat::Text),
    (".json", TopFormat::Json),
    (".csv", TopFormat::Csv),
];

/// Returns the format of an argument, else that of the output's ending, else text.
fn table_format(given: Option<TopFormat>, output: Option<&Path>) -> anyhow::Result<TopFormat> {
    Ok(match (given, output) {
        (Some(format), _) => format,
        (None, Some(path)) => by_ending(path, &ENDINGS)?.unwrap_or_default(),
        (None, None) => TopFormat::default(),
    })
}

/// Prints the functions with the highest costs.
pub(in crate::commands) fn top(args: &TopArgs) -> anyhow::Result<Status> {
    let mut run = args.run.options()?;
    run.weigh_by(&args.weight);
    run.group_by("--by", Some(&args.by));
    let format = table_format(args.format, args.run.output.as_deref())?;
    if args.by == GroupBy::Wait.into() && args.weight.weight() != Weight::OffCpu {
        bail!("--by wait groups times off the processor; add --weight off-cpu");
    }
    let rows = if format == TopFormat::Text { ROWS } else { 0 };
    let table = TopTable {
        inlines: run.options.names.inlines,
        weight: args.weight.weight(),
        by: args.by.clone(),
        pools: run.options.names.fold_threads,
        sort: args.sort,
        limit: args.limit.unwrap_or(rows),
        format,
        look: console_look(args.run.output.is_none()).with_names(run.options.names.demangle),
    };
    let output = OutputFile::Table(Box::new(table), Some(args.weight.weight()));
    let input = args.input.path()?;
    let embedded = Embedded::default();
    let folded = args.weight.folded(FoldedFrames::KernelAndLibrary)?;
    let (service_name, no_open, args) = (None, true, &args.run);
    ProfileJob { input, output, embedded, service_name, no_open, run, folded, args }.run()
}

/// Prints the durations of spans.
pub(in crate::commands) fn spans(args: &SpansArgs) -> anyhow::Result<Status> {
    let mut run = args.run.options()?;
    if run.options.spans.is_empty() {
        bail!("spans needs --span NAME=BEGIN,END, such as --span request=server:start,server:done");
    }
    run.prints_spans = true;
    let by = args.by.as_ref().map(|name| ChoiceOrValue::<GroupBy>::Value(name.clone()));
    run.group_by("--by", by.as_ref());
    let format = table_format(args.format, args.run.output.as_deref())?;
    let rows = if format == TopFormat::Text { ROWS } else { 0 };
    let table = SpanDurations {
        by: args.by.clone(),
        limit: args.limit.unwrap_or(rows),
        format,
        look: console_look(args.run.output.is_none()),
    };
    let output = OutputFile::Table(Box::new(table), None);
    let input = args.input.path()?;
    let (embedded, folded) = (Embedded::default(), None);
    let (service_name, no_open, args) = (None, true, &args.run);
    ProfileJob { input, output, embedded, service_name, no_open, run, folded, args }.run()
}

/// Prints the tree of calls.
pub(in crate::commands) fn tree(args: &TreeArgs) -> anyhow::Result<Status> {
    let mut run = args.run.options()?;
    run.weigh_by(&args.weight);
    let format = table_format(args.format, args.run.output.as_deref())?;
    let lines = if format == TopFormat::Text { LINES } else { 0 };
    let table = TreeTable {
        inlines: run.options.names.inlines,
        weight: args.weight.weight(),
        bottom_up: args.bottom_up,
        keep_unrooted: args.keep_unrooted,
        min_share: args.min.share(),
        limit: args.limit.unwrap_or(lines),
        format,
        look: console_look(args.run.output.is_none()).with_names(run.options.names.demangle),
    };
    let output = OutputFile::Table(Box::new(table), Some(args.weight.weight()));
    let input = args.input.path()?;
    let embedded = Embedded::default();
    let folded = args.weight.folded(FoldedFrames::Kernel)?;
    let (service_name, no_open, args) = (None, true, &args.run);
    ProfileJob { input, output, embedded, service_name, no_open, run, folded, args }.run()
}
