//! The pipeline on one screen: scan, replay, symbolize, print.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use module_map::Timeline;
use output::{Fields, Format, FormatOptions, write_summary};
use perf_data::{Findings, Session, SessionOptions, Severity};
use unwinder::{ReplayOptions, Replayer};

use crate::assemble::assemble;
use crate::cli::{FlamegraphArgs, MainArgs, ReportArgs, RunArgs};
use crate::files::Files;
use crate::filter::filter;
use crate::progress::Progress;
use crate::symbols::{Resolved, resolve};
use crate::timings::Timings;
use crate::{findings, kernel, open, write};

/// How the run went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Everything in the recording is in the output.
    Complete,
    /// The output was written, but the recording is damaged.
    Damaged,
}

/// A run: of what, into what, with which options.
#[derive(Clone, Copy)]
struct Job<'a> {
    input: &'a Path,
    format: Format,
    inverted: bool,
    cli: &'a RunArgs,
}

/// Runs the main job.
pub(crate) fn main(args: &MainArgs) -> anyhow::Result<Status> {
    let by_ending = || Format::from_path(args.run.output.as_deref()?);
    let format = args.format.or_else(by_ending).unwrap_or(Format::Json);
    run(Job { input: &args.input, format, inverted: false, cli: &args.run })
}

/// Draws a flame graph.
pub(crate) fn flamegraph(args: &FlamegraphArgs) -> anyhow::Result<Status> {
    let (format, inverted) = (Format::Flamegraph, args.inverted);
    run(Job { input: &args.input, format, inverted, cli: &args.run })
}

/// Writes a page for a browser.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Status> {
    run(Job { input: &args.input, format: Format::Report, inverted: false, cli: &args.run })
}

fn run(job: Job<'_>) -> anyhow::Result<Status> {
    let cli = job.cli;
    let jobs = cli.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .context("cannot start threads")?;
    pool.install(|| run_on_pool(job))
}

fn run_on_pool(job: Job<'_>) -> anyhow::Result<Status> {
    let Job { input, format, cli, .. } = job;
    let progress = Progress::new(cli.quiet);
    let mut timings = Timings::start();

    progress.stage("reading");
    let cannot_read = || format!("cannot read {}", input.display());
    let mut found = Findings::default();
    let mut session = Session::open(open::open(input)?, SessionOptions::default(), &mut found)
        .with_context(cannot_read)?;

    let options = ReplayOptions {
        filter: filter(&cli.filters, session.head().events())?,
        max_frames: cli.max_frames.max(1),
    };
    let mut files = Files::new(&cli.files, session.head())?;
    let mut timeline = Timeline::new();
    files.tell(&mut timeline);
    let library = &files.library;
    let mut replayer = Replayer::new(&mut timeline, library, &options);
    timings.ended("open");
    while let Some(window) = session.next_window(&mut found) {
        timings.ended("scan");
        progress.samples("unwinding", window.samples().len() as u64);
        replayer.feed(&window, &|done| progress.done(done));
        timings.ended("replay");
    }
    let replay = replayer.finish();
    let head = session.head();
    let replay_timings = replay.timings;

    progress.stage("symbolizing");
    let kernel = kernel::load(&cli.symbols, head, input, &timeline, library);
    let resolved = if cli.symbols.no_symbols {
        Resolved::nothing(&replay, &timeline)
    } else {
        resolve(&replay, &timeline, library, &kernel, &cli.symbols)
    };
    timings.ended("symbolize");
    let mut profile = assemble(head, &timeline, replay, &resolved);
    findings::account(&mut profile, session.counts(), &found, &mut timeline, &kernel);

    timings.ended("assemble");

    progress.stage("writing");
    let options = FormatOptions {
        inlines: !cli.symbols.no_inline,
        keep_unrooted: cli.folded.keep_unrooted,
        weight: cli.folded.weight.into(),
        kernel_suffix: cli.folded.kernel_suffix,
        event: None,
        root: cli.folded.root.into(),
        reverse: cli.folded.reverse,
        fields: cli.script.fields.unwrap_or(Fields::DEFAULT),
        inverted: job.inverted,
    };
    let target = write::Target::new(cli.output.as_deref(), cli.in_place);
    let written = write::write(&profile, &*format.printer(options), target);
    progress.clear();
    written?;
    timings.ended("print");
    if cli.timings {
        eprint!("{}", timings.report(&replay_timings, library.n_images(), profile.locations.len()));
    }
    if !cli.quiet {
        let mut text = Vec::new();
        write_summary(&profile, &mut text)?;
        // A closed stderr is no reason to fail.
        let _ = std::io::stderr().write_all(&text);
    }
    Ok(if found.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete })
}
