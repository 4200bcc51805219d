//! The pipeline on one screen: scan, replay, symbolize, print.

use std::path::Path;

use anyhow::Context as _;
use formats::{Fields, Format, FormatOptions};
use perf_data::Severity;

#[cfg(feature = "flamegraph")]
use crate::args::FlamegraphArgs;
use crate::args::{MainArgs, ReportArgs, RunArgs};
use crate::assemble::assemble;
use crate::findings;
use crate::memory_limit::MemoryLimit;
use crate::replay::{self, Replayed};
use crate::stream::{self, Reading};
use crate::symbols::{Kernel, Places, Resolved, Sources, resolve};
use crate::terminal::{Inputs, Progress, Status, Target, named, print_profile, print_summary};
use crate::timings::Timings;

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
#[cfg(feature = "flamegraph")]
pub(crate) fn flamegraph(args: &FlamegraphArgs) -> anyhow::Result<Status> {
    let (format, inverted) = (Format::Flamegraph, args.inverted);
    run(Job { input: &args.input, format, inverted, cli: &args.run })
}

/// Writes a page for a browser.
pub(crate) fn report(args: &ReportArgs) -> anyhow::Result<Status> {
    run(Job { input: &args.input, format: Format::Report, inverted: false, cli: &args.run })
}

fn run(job: Job<'_>) -> anyhow::Result<Status> {
    on_pool(job.cli, || run_on_pool(job))
}

/// Runs `work` with as many threads as the arguments say.
pub(crate) fn on_pool<T: Send>(
    cli: &RunArgs,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let jobs = cli.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .context("cannot start threads")?;
    pool.install(work)
}

fn run_on_pool(job: Job<'_>) -> anyhow::Result<Status> {
    let Job { input, format, cli, .. } = job;
    if format == Format::Hotspot {
        let told = stream::run(Reading::Path(input), cli, stream::Wishes::default())?;
        return Ok(told.status);
    }
    let path = cli.output.as_deref().map(|path| named(path, input, format));
    let inputs = Inputs::new(input, cli.named_inputs());
    let target = Target::new(path.as_deref(), cli.in_place, &inputs)?;
    let progress = Progress::new(cli.quiet);
    let mut timings = Timings::start();

    let Replayed { session, found, files, mut timeline, replay, ahead } =
        replay::run(input, cli, &progress, &mut timings)?;
    let library = &files.library;
    let head = session.head();
    let replay_timings = replay.timings;
    let late_maps = replay.late_maps;

    progress.stage("symbolizing");
    let (resolved, kernel) = if cli.symbols.no_symbols {
        (Resolved::nothing(&replay.frames, &mut Places::default(), &timeline), Kernel::default())
    } else {
        let (args, recording, timeline) = (&cli.symbols, input, &timeline);
        let places = &mut Places::default();
        let sources = Sources { args, head, recording, timeline, library };
        resolve(&replay.frames, places, sources, ahead.into_list())
    };
    timings.ended("symbolize");
    let mut profile = assemble(head, &timeline, replay, &resolved);
    findings::account(&mut profile, session.counts(), &found, &mut timeline, &kernel);
    profile.summary.findings.extend(findings::late_maps(late_maps));

    MemoryLimit::check(cli.max_memory)?;
    timings.ended("assemble");

    progress.stage("writing");
    let options = FormatOptions {
        inlines: !cli.symbols.no_inline,
        keep_unrooted: cli.folded.keep_unrooted,
        weight: cli.folded.weight.into(),
        kernel_suffix: cli.folded.kernel_suffix,
        root: cli.folded.root.into(),
        reverse: cli.folded.reverse,
        fields: cli.script.fields.unwrap_or(Fields::DEFAULT),
        inverted: job.inverted,
    };
    let written = print_profile(&profile, &*format.printer(options), &target);
    progress.clear();
    written?;
    timings.ended("print");
    if cli.timings {
        let (images, addresses) = (library.n_images(), profile.locations.len());
        eprint!("{}", timings.report(&replay_timings, &resolved.timings, images, addresses));
    }
    if !cli.quiet {
        print_summary(&profile)?;
    }
    // The process ends here: nobody needs the tables to be taken apart, which takes as long as printing some of them.
    std::mem::forget((profile, resolved, timeline, kernel));
    Ok(if found.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete })
}
