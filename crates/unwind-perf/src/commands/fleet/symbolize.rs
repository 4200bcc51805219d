//! `unwind-perf symbolize`: names for aggregated stacks, from files found by build-id.

use std::io;
use std::path::Path;
use std::sync::Arc;

use address::{Pid, Tid};
use anyhow::{Context as _, bail};
use formats::{
    Format, FormatOptions, StackCount, StackReader, StackWeight, StoredStacks, write_named_stacks,
};
use hashbrown::HashMap;
use host::{Content, Origin};
use pipeline::{Observer, Options};
use profile::{LayoutId, LayoutRow, Profile, SampleRow, StringId, ThreadId, ThreadRow};

use crate::args::{SymbolizeArgs, host, pipeline, with_argument};
use crate::commands::on_pool;
use crate::terminal::{
    Inputs, OutputTarget, Progress, Status, print_error, print_note, print_other_events, print_to,
    shown, to_terminal,
};

/// Maximum number of samples in formats that need each sample.
const MOST_SAMPLES: u64 = 1 << 24;

/// Names aggregated stacks.
pub(in crate::commands) fn run(args: &SymbolizeArgs) -> anyhow::Result<Status> {
    let by_ending = || Format::from_path(args.output.as_deref()?);
    let format = args.format.or_else(by_ending).unwrap_or(Format::Folded);
    if let Some(problem) = args.without_effect(format) {
        bail!(problem);
    }
    if StackOutput::of(format).is_none() {
        bail!(
            "aggregated stacks have neither times nor threads, which the format {} needs; choose folded, flamegraph, speedscope, callgrind, pprof, json or parquet",
            format.name()
        );
    }
    if args.output.is_none() && to_terminal() && format.is_binary() {
        bail!("{} is binary and is not written to a terminal; add -o FILE", format.name());
    }
    let options = args.options()?;
    on_pool(options.limits.threads(), || run_on_pool(args, &options, format))
}

/// Use of the rows in a format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StackOutput {
    /// One row per stack.
    Rows,
    /// One sample per stack, with the weight as its period.
    Sums,
    /// All samples.
    Samples,
}

impl StackOutput {
    /// Returns the use in a format; `None` if the format needs more than stacks have.
    fn of(format: Format) -> Option<Self> {
        match format.name() {
            "parquet" => Some(Self::Rows),
            "folded" | "flamegraph" => Some(Self::Sums),
            "speedscope" | "callgrind" | "pprof" | "json" => Some(Self::Samples),
            _ => None,
        }
    }
}

fn run_on_pool(args: &SymbolizeArgs, options: &Options, format: Format) -> anyhow::Result<Status> {
    let inputs = args.inputs.iter().map(|path| Inputs::new(path, options, &[]));
    let inputs = inputs.reduce(Inputs::and).unwrap_or_default();
    let target = OutputTarget::new(args.output.as_deref(), &inputs)?;
    let progress = Arc::new(Progress::new(args.quiet, false));
    let observer: Arc<dyn Observer> = progress.clone();
    let mut stored = read(args)?;
    select_events(&mut stored, &args.event)?;
    let StoredStacks { mut profile, rows } = stored;
    let first = args.inputs.first().map_or(Path::new(""), |path| path);
    let named = pipeline().name_stacks(&mut profile, first, options, &observer);
    let is_lost = named.map_err(with_argument).inspect_err(|_| progress.clear())?;
    progress.begin("writing");
    let written = write(&mut profile, &rows, args, options, format, &target);
    progress.clear();
    written?;
    if !args.quiet {
        account(&profile, &rows);
        if format.shows_one_event() {
            print_other_events(&profile, StackWeight::Samples);
        }
    } else if is_lost {
        print_error("names or lines are missing; run without --quiet for details");
    }
    Ok(if is_lost { Status::Damaged } else { Status::Complete })
}

/// The bytes of a file.
struct FileBytes(Content);

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn read(args: &SymbolizeArgs) -> anyhow::Result<StoredStacks> {
    let mut reader = StackReader::default();
    for path in &args.inputs {
        let file = host().open(path, Origin::User)?;
        let added = reader.add(FileBytes(file.content));
        added.with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok(reader.finish())
}

/// Retains the stacks of these events; all if none is named.
fn select_events(stored: &mut StoredStacks, events: &[String]) -> anyhow::Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let StoredStacks { profile, rows } = stored;
    let name = |id| profile.strings.get(id);
    if let Some(unknown) = events
        .iter()
        .find(|event| !profile.events.iter().any(|row| name(row.name) == event.as_bytes()))
    {
        let known = profile.events.iter().map(|row| String::from_utf8_lossy(name(row.name)));
        let known: Vec<String> = known.map(|name| shown(&name)).collect();
        bail!("--event {unknown}: no stack has that event; known are {}", known.join(", "));
    }
    rows.retain(|row| events.iter().any(|event| name(row.event) == event.as_bytes()));
    Ok(())
}

fn write(
    profile: &mut Profile,
    rows: &[StackCount],
    args: &SymbolizeArgs,
    options: &Options,
    format: Format,
    target: &OutputTarget,
) -> anyhow::Result<()> {
    let inlines = options.names.inlines;
    let weight = args.weight.unwrap_or(StackWeight::Samples);
    let mut printed = FormatOptions {
        inlines,
        keep_unrooted: args.keep_unrooted,
        kernel_suffix: args.kernel_suffix,
        reverse: args.reverse,
        weight,
        ..FormatOptions::DEFAULT
    };
    match StackOutput::of(format) {
        Some(StackOutput::Rows) | None => {
            return print_to(target, |out| write_named_stacks(profile, rows, inlines, out));
        }
        Some(StackOutput::Sums) => {
            add_samples(profile, rows, |row, add| match weight {
                StackWeight::Samples => add(row.samples),
                _ => add(row.weight),
            });
            printed.weight = StackWeight::Period;
        }
        Some(StackOutput::Samples) => {
            let all = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.samples));
            if all > MOST_SAMPLES {
                bail!(
                    "{all} samples are more than the {MOST_SAMPLES} of the format {}; choose folded or parquet",
                    format.name()
                );
            }
            add_samples(profile, rows, |row, add| {
                for period in periods(row) {
                    add(period);
                }
            });
        }
    }
    let printer = format.printer(printed);
    print_to(target, |out: &mut dyn io::Write| printer.print(profile, out))
}

/// Returns the periods of a stack's samples, as equal as possible; their sum is the weight.
fn periods(row: &StackCount) -> impl Iterator<Item = u64> {
    let samples = row.samples.max(1);
    let (each, more) = (row.weight / samples, row.weight % samples);
    (0..row.samples).map(move |at| each + u64::from(at < more))
}

/// Adds the samples of each stack. `samples` calls its argument with the period of each sample of a row.
fn add_samples(
    profile: &mut Profile,
    rows: &[StackCount],
    samples: impl Fn(&StackCount, &mut dyn FnMut(u64)),
) {
    let layout: LayoutId = profile.layouts.push(LayoutRow::default());
    let events: HashMap<StringId, _> =
        profile.events.entries().map(|(id, row)| (row.name, id)).collect();
    let mut threads: HashMap<(StringId, StringId), ThreadId> = HashMap::new();
    for row in rows {
        let Some(&event) = events.get(&row.event) else { continue };
        let StackCount { comm, process, .. } = *row;
        let thread = ThreadRow { pid: Pid(0), tid: Tid(0), comm, process, cgroup: None };
        let known = threads.entry((process, comm));
        let thread = *known.or_insert_with(|| profile.threads.push(thread));
        let sample = SampleRow::new(thread, event, row.end, row.stack, layout);
        samples(row, &mut |period| {
            profile.samples.push(sample.with_period(Some(period)));
        });
    }
}

/// Prints the amount of stacks and names, and the findings.
fn account(profile: &Profile, rows: &[StackCount]) {
    let samples = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.samples));
    let named = profile.locations.iter().filter(|location| location.n_inlines > 0).count();
    let (stacks, all) = (rows.len(), profile.locations.len());
    print_note(&format!(
        "{stacks} stacks of {samples} samples; {named} of {all} addresses have names"
    ));
    for finding in &profile.summary.findings {
        let times = if finding.count > 1 { format!(" ({})", finding.count) } else { String::new() };
        print_note(&format!("{}{times}", shown(&finding.message)));
    }
}
