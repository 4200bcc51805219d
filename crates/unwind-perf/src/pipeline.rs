//! The pipeline on one screen: scan, replay, symbolize, print.

use std::io::Write as _;

use anyhow::Context as _;
use module_map::{Library, Timeline};
use output::{Format, FormatOptions, write_summary};
use perf_data::{Findings, Recording, Severity};
use unwinder::{ReplayOptions, replay};

use crate::assemble::assemble;
use crate::cli::MainArgs;
use crate::filter::filter;
use crate::progress::Progress;
use crate::symbols::{Resolved, resolve};
use crate::{findings, input, kernel, write};

/// How the run went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Everything in the recording is in the output.
    Complete,
    /// The output was written, but the recording is damaged.
    Damaged,
}

/// Runs the main job.
pub(crate) fn run(cli: &MainArgs) -> anyhow::Result<Status> {
    let jobs = cli.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .build()
        .context("cannot start threads")?;
    pool.install(|| run_on_pool(cli))
}

fn run_on_pool(cli: &MainArgs) -> anyhow::Result<Status> {
    let progress = Progress::new(cli.quiet);
    let format =
        cli.format.or_else(|| Format::from_path(cli.output.as_deref()?)).unwrap_or(Format::Json);

    progress.stage("reading");
    let bytes = input::map(&cli.input)?;
    let mut found = Findings::default();
    let recording = Recording::parse(&bytes, &mut found)
        .with_context(|| format!("cannot read {}", cli.input.display()))?;
    let scan = recording.scan(&mut found);

    let options = ReplayOptions {
        filter: filter(&cli.filters, recording.events())?,
        max_frames: cli.max_frames.max(1),
    };
    let library = Library::new(findings::file_options(&cli.files, &recording));
    let mut timeline = Timeline::new();
    progress.samples("unwinding", scan.samples.len() as u64);
    let replay =
        replay(&recording, &scan, &mut timeline, &library, &options, &|done| progress.done(done));

    progress.stage("symbolizing");
    let kernel = kernel::load(&cli.symbols, &timeline);
    let resolved = if cli.symbols.no_symbols {
        Resolved::nothing(&replay, &timeline)
    } else {
        resolve(&replay, &timeline, &library, kernel.symbols.as_ref(), &cli.symbols)
    };
    let mut profile = assemble(&recording, &timeline, replay, &resolved);
    findings::account(&mut profile, &scan, &found, &timeline, &kernel);

    progress.stage("writing");
    let options = FormatOptions {
        inlines: !cli.symbols.no_inline,
        keep_unrooted: cli.folded.keep_unrooted,
        weight: cli.folded.weight.into(),
        kernel_suffix: cli.folded.kernel_suffix,
        event: None,
        root: cli.folded.root.into(),
        reverse: cli.folded.reverse,
    };
    let target = write::Target::new(cli.output.as_deref(), cli.in_place);
    let written = write::write(&profile, &*format.printer(options), target);
    progress.clear();
    written?;
    if !cli.quiet {
        let mut text = Vec::new();
        write_summary(&profile, &mut text)?;
        // A closed stderr is no reason to fail.
        let _ = std::io::stderr().write_all(&text);
    }
    Ok(if found.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete })
}
