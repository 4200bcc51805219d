//! The main job and the pictures: a recording becomes a profile, and the profile an output.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use formats::Format;
use pipeline::{Observer, StreamOptions};

#[cfg(feature = "flamegraph")]
use crate::args::FlamegraphArgs;
use crate::args::{MainArgs, ReportArgs, RunArgs, pipeline, source, with_argument};
use crate::hotspot;
use crate::terminal::{
    Completeness, Inputs, OutputTarget, Progress, Status, output_path, print_profile,
    print_summary, timings_text,
};

/// A run: of what, into what, with which options.
#[derive(Clone, Copy)]
struct ProfileJob<'a> {
    input: &'a Path,
    format: Format,
    inverted: bool,
    args: &'a RunArgs,
}

/// Runs the main job.
pub(super) fn main(args: &MainArgs) -> anyhow::Result<Status> {
    let by_ending = || Format::from_path(args.run.output.as_deref()?);
    let format = args.format.or_else(by_ending).unwrap_or(Format::Json);
    run(ProfileJob { input: &args.input, format, inverted: false, args: &args.run })
}

/// Draws a flame graph.
#[cfg(feature = "flamegraph")]
pub(super) fn flamegraph(args: &FlamegraphArgs) -> anyhow::Result<Status> {
    let (format, inverted) = (Format::Flamegraph, args.inverted);
    run(ProfileJob { input: &args.input, format, inverted, args: &args.run })
}

/// Writes a page for a browser.
pub(super) fn report(args: &ReportArgs) -> anyhow::Result<Status> {
    run(ProfileJob { input: &args.input, format: Format::Report, inverted: false, args: &args.run })
}

fn run(job: ProfileJob<'_>) -> anyhow::Result<Status> {
    let threads = job.args.jobs.map_or(0, usize::from);
    on_pool(threads, || match job.format {
        Format::Hotspot => {
            let output = hotspot::HotspotJob {
                source: source(job.input),
                options: job.args.options()?,
                stream: StreamOptions::default(),
                output: job.args.output.as_deref(),
                map_files: &job.args.files.map_file,
                quiet: job.args.quiet,
                timings: job.args.timings,
                statistics: false,
            };
            let hotspot::Outcome { status, completeness, .. } = hotspot::run(output)?;
            Ok(completeness.judge(job.args.fail_if_incomplete.as_ref(), status))
        }
        _ => run_on_pool(job),
    })
}

/// Runs `work` with so many threads; 0 for one a processor.
pub(crate) fn on_pool<T: Send>(
    threads: usize,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .context("cannot start threads")?;
    pool.install(work)
}

fn run_on_pool(job: ProfileJob<'_>) -> anyhow::Result<Status> {
    let ProfileJob { input, format, inverted, args } = job;
    let path = args.output.as_deref().map(|path| output_path(path, input, format));
    let options = args.options()?;
    let inputs = Inputs::new(input, &options, &args.files.map_file);
    let target = OutputTarget::new(path.as_deref(), &inputs)?;
    let progress = Arc::new(Progress::new(args.quiet));
    let observer: Arc<dyn Observer> = progress.clone();
    let mut analysis =
        pipeline().analyze(source(input), &options, &observer).map_err(with_argument)?;
    progress.begin("writing");
    let printer = format.printer(args.format_options(inverted));
    let written = print_profile(&analysis.profile, &*printer, &target);
    progress.clear();
    written?;
    analysis.timings.ended("print");
    if args.timings {
        eprint!("{}", timings_text(&analysis.timings, analysis.profile.locations.len()));
    }
    if !args.quiet {
        print_summary(&analysis.profile)?;
    }
    let status = if analysis.is_damaged { Status::Damaged } else { Status::Complete };
    let completeness = Completeness::of(&analysis.profile);
    let status = completeness.judge(args.fail_if_incomplete.as_ref(), status);
    // The process ends here, and taking the tables apart takes as long as printing some of them.
    std::mem::forget(analysis);
    Ok(status)
}
