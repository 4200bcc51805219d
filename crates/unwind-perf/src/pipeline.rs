//! The pipeline on one screen: scan, replay, symbolize, print.

use std::fs::Metadata;
use std::io::Write as _;

use anyhow::Context as _;
use module_map::Timeline;
use output::{Format, FormatOptions, write_summary};
use perf_data::{Findings, RecordCounts, Session, SessionOptions, Severity, Window};
use unwinder::{Replay, ReplayOptions, Replayer};

use crate::assemble::assemble;
use crate::cli::MainArgs;
use crate::files::Files;
use crate::filter::filter;
use crate::kernel::Kernel;
use crate::progress::Progress;
use crate::symbols::{Resolved, Sources, resolve};
use crate::timings::Timings;
use crate::{findings, open, write};

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
    let mut timings = Timings::start();
    let format =
        cli.format.or_else(|| Format::from_path(cli.output.as_deref()?)).unwrap_or(Format::Json);

    progress.stage("reading");
    let cannot_read = || format!("cannot read {}", cli.input.display());
    let mut found = Findings::default();
    let input = open::open(&cli.input)?;
    let reading = SessionOptions { eager: true, ..SessionOptions::default() };
    let mut session = Session::open(input, reading, &mut found).with_context(cannot_read)?;

    let options = ReplayOptions {
        filter: filter(&cli.filters, session.head().events())?,
        max_frames: cli.max_frames.max(1),
    };
    let files = Files::new(&cli.files, session.head())?;
    timings.ended("open");
    let mut timeline = Timeline::new();
    let size = std::fs::metadata(&cli.input).ok().filter(Metadata::is_file).map(|file| file.len());
    let mut watch = Watch { found: &mut found, progress: &progress, timings: &mut timings, size };
    let replay = replay(&mut session, &files, &mut timeline, &options, &mut watch);
    let library = &files.library;
    let head = session.head();
    let replay_timings = replay.timings;

    progress.stage("symbolizing");
    let (resolved, kernel) = if cli.symbols.no_symbols {
        (Resolved::nothing(&replay, &timeline), Kernel::default())
    } else {
        let (args, recording, timeline) = (&cli.symbols, &*cli.input, &timeline);
        resolve(&replay, Sources { args, head, recording, timeline, library })
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
    // The process ends here: nobody needs the tables to be taken apart, which takes as long as printing some of them.
    std::mem::forget((profile, resolved, timeline));
    Ok(if found.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete })
}

/// What is told while the replay goes on.
struct Watch<'w> {
    found: &'w mut Findings,
    progress: &'w Progress,
    timings: &'w mut Timings,
    /// Bytes of the recording, where it is a file.
    size: Option<u64>,
}

/// How many samples there will be, if the rest of the file is like what was read.
fn expected(samples: u64, counts: &RecordCounts, size: Option<u64>) -> u64 {
    let read = u128::from(counts.total().bytes.max(1));
    let all = size.map_or(0, |size| u128::from(samples) * u128::from(size) / read);
    samples.max(u64::try_from(all).unwrap_or(samples))
}

/// Replays all windows; from the first one again where the recording starts over.
fn replay(
    session: &mut Session,
    files: &Files,
    timeline: &mut Timeline,
    options: &ReplayOptions,
    watch: &mut Watch<'_>,
) -> Replay {
    let Watch { found, progress, timings, size } = watch;
    let size = *size;
    let mut samples = 0;
    let mut next = session.next_window(found);
    loop {
        *timeline = Timeline::new();
        files.tell(timeline);
        let mut replayer = Replayer::new(timeline, &files.library, options);
        while let Some(window) = next.take() {
            timings.ended("scan");
            samples += window.samples().len() as u64;
            progress.samples("unwinding", expected(samples, session.counts(), size));
            replayer.feed(window, &|done| progress.done(done));
            timings.ended("replay");
            next = session.next_window(found);
            if next.as_ref().is_some_and(Window::starts_over) {
                break;
            }
        }
        if next.is_none() {
            let replay = replayer.finish(&|done| progress.done(done));
            timings.ended("replay");
            return replay;
        }
        samples = 0;
    }
}
