//! The stream for hotspot, written while the recording is unwound: all records are read first where they are in a file
//! (their headers only, which takes little time), then samples are walked in batches, and after some of them, each time
//! several times as many as before, what is new is looked up and written.
//!
//! ```text
//!   read | walk | names, write | walk  .  . | names, write | walk  .  .  .  .  .  .  .  .  .  . | names, write
//! ```
//!
//! What was written cannot be taken back, so nothing is tried that may have to be done again.

mod growing;
mod records;

use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use formats::{Details, ErrorKind, Format, HotspotStream, write_summary};
use module_map::Timeline;
use perf_data::{
    Arch, Finding, Findings, Input, MachineSource, RecordCounts, SampleType, Session,
    SessionOptions, Severity,
};
use unwinder::{ReplayOptions, Replayer};

use crate::args::RunArgs;
use crate::files::Files;
use crate::filter::filter;
use crate::findings;
use crate::memory_limit::MemoryLimit;
use crate::open;
use crate::stream::growing::Growing;
use crate::symbols::Sources;
use crate::terminal::{Inputs, Out, Progress, Status, Target, named, print_summary};
use crate::timings::Timings;

/// Where the recording comes from.
pub(crate) enum Reading<'a> {
    /// A path, `-` for standard input.
    Path(&'a Path),
    /// A peer that sends it, and what it is called.
    Peer(TcpStream, &'a Path),
}

/// What only hotspot's backend can be asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    /// The summary instead of the stream.
    pub(crate) statistics: bool,
    /// Whether it is an error that nobody says which processor was recorded.
    pub(crate) needs_arch: bool,
    /// The processor of a recording that does not tell it.
    pub(crate) arch: Option<Arch>,
    /// Bytes of a stream that are put in order at a time.
    pub(crate) window_bytes: Option<u64>,
    /// Bytes of a stream that may wait for the end of their round; more of them are an error.
    pub(crate) pending_bytes: Option<u64>,
}

/// Nobody says which processor was recorded.
#[derive(Debug)]
pub(crate) struct NoArchitecture;

impl std::fmt::Display for NoArchitecture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the recording does not tell its processor; name it with --arch")
    }
}

impl std::error::Error for NoArchitecture {}

/// More was waiting for the end of its round than may.
#[derive(Debug)]
pub(crate) struct BufferTooSmall;

impl std::fmt::Display for BufferTooSmall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the records could not be put in order within --max-buffer-size")
    }
}

impl std::error::Error for BufferTooSmall {}

/// How it went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) status: Status,
    /// Samples that were written.
    pub(crate) samples: u64,
    /// The processor, where the recording tells it.
    pub(crate) arch: Option<Arch>,
    /// Whether what came bytewise broke off with an error.
    pub(crate) peer_broke: bool,
}

/// The first window of a stream ends with the first round behind so many bytes.
const FIRST_BYTES: u64 = 256 << 10;

/// Bytes of a stream that are read at a time: it may be long until more come.
const READ_BYTES: usize = 256 << 10;

/// The stream, which downloads write to from other threads.
pub(crate) type Shared = Arc<Mutex<HotspotStream<Out>>>;

pub(crate) fn lock(stream: &Shared) -> MutexGuard<'_, HotspotStream<Out>> {
    // A panic of another thread leaves whole messages.
    stream.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Turns the recording into the stream.
pub(crate) fn run(reading: Reading<'_>, cli: &RunArgs, wishes: Wishes) -> anyhow::Result<Told> {
    let progress = Progress::new(cli.quiet);
    progress.stage("reading");
    let mut timings = Timings::start();
    let path = match &reading {
        Reading::Path(path) => *path,
        Reading::Peer(_, name) => *name,
    };
    let output = cli.output.as_deref().map(|output| named(output, path, Format::Hotspot));
    let inputs = Inputs::new(path, cli.named_inputs());
    let target = Target::new(output.as_deref(), cli.in_place, &inputs)?;
    let input = match reading {
        Reading::Path(path) => open::open(path)?,
        Reading::Peer(peer, _) => Input::Stream(Box::new(peer)),
    };
    let size = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|it| it.len());
    let mut found = Findings::default();
    let session = Session::open(input, session_options(cli, wishes), &mut found)
        .with_context(|| format!("cannot read {}", path.display()))?;
    if wishes.needs_arch && has_stacks(&session) && session.head().machine().arch == Arch::Unknown {
        return Err(NoArchitecture.into());
    }
    timings.ended("open");
    let out = if wishes.statistics { Ok(Out::nowhere()) } else { target.open() };
    let out = out.with_context(|| target.failed())?;
    let stream = HotspotStream::new(out, !cli.symbols.no_inline);
    let stream = Arc::new(Mutex::new(stream));
    let files = Files::watched(&cli.files, session.head(), Some(&stream))?;
    let run = Run { cli, path, size, progress, stream, files, target };
    run.all(session, found, timings, wishes)
}

/// Whether samples have registers and stacks, for which the processor has to be known; recorded callchains do without.
fn has_stacks(session: &Session) -> bool {
    let wanted = |event: &perf_data::Event| event.attr.sample_type.has(SampleType::REGS_USER);
    session.head().events().iter().any(wanted)
}

fn session_options(cli: &RunArgs, wishes: Wishes) -> SessionOptions {
    let usual = SessionOptions::default();
    let options = SessionOptions {
        first_bytes: FIRST_BYTES,
        read_bytes: READ_BYTES,
        switches: true,
        fallback_arch: wishes.arch,
        window_bytes: wishes.window_bytes.unwrap_or(usual.window_bytes),
        pending_bytes: wishes.pending_bytes.unwrap_or(usual.pending_bytes),
        ..usual
    };
    MemoryLimit::apply(cli.max_memory, options)
}

/// What a run has from its begin to its end.
struct Run<'a> {
    cli: &'a RunArgs,
    path: &'a Path,
    /// Bytes of the recording, where it is a file.
    size: Option<u64>,
    progress: Progress,
    stream: Shared,
    files: Files,
    target: Target,
}

impl Run<'_> {
    fn all(
        &self,
        mut session: Session,
        mut found: Findings,
        mut timings: Timings,
        wishes: Wishes,
    ) -> anyhow::Result<Told> {
        let Self { cli, files, .. } = self;
        let mut growing = Growing::new(session.head());
        let failed = || self.target.failed();
        lock(&self.stream).begin(&growing.profile, &growing.details).with_context(failed)?;
        let options = ReplayOptions {
            filter: filter(&cli.filters, session.head().events())?,
            max_frames: cli.max_frames.max(1),
            learn_files: true,
        };
        let mut timeline = Timeline::new();
        files.tell(&mut timeline);
        let mut replayer = Replayer::new(&mut timeline, &files.library, &options);
        let mut fed = 0;
        while let Some(window) = session.next_window(&mut found) {
            timings.ended("scan");
            growing.window(&window);
            fed += window.samples().len();
            let expected = self.expected(fed, session.counts());
            self.progress.samples("unwinding", expected as u64);
            replayer.feed_watched(window, &mut |replayer| {
                self.step(replayer, &mut growing, expected)
            })?;
            // In a stream it may take long until more comes.
            if growing.wants(fed) {
                replayer.settle();
                self.step(&replayer, &mut growing, expected)?;
            }
            timings.ended("replay");
            MemoryLimit::check(cli.max_memory)?;
        }
        replayer.settle();
        self.take(&replayer, &mut growing, fed)?;
        let replay = replayer.finish(&|_| {});
        timings.ended("replay");
        let mut profile = growing.finish(session.head(), &replay);
        findings::account(&mut profile, session.counts(), &found, &mut timeline, &growing.kernel);
        profile.summary.findings.extend(findings::late_maps(replay.late_maps));
        tell_disorder(&mut growing.details, &found);
        self.progress.clear();
        let mut stream = lock(&self.stream);
        stream.finish(&profile, &growing.details).with_context(failed)?;
        stream.output().complete().with_context(failed)?;
        timings.ended("print");
        if cli.timings {
            let (images, addresses) = (files.library.n_images(), profile.locations.len());
            let symbols = growing.symbol_timings;
            eprint!("{}", timings.report(&replay.timings, &symbols, images, addresses));
        }
        self.summary(&profile, wishes)?;
        let disorder = |finding: &Finding| matches!(finding, Finding::RoundsMissing { .. });
        if wishes.pending_bytes.is_some() && has(&found, disorder) {
            return Err(BufferTooSmall.into());
        }
        let damaged = found.severity() == Some(Severity::Damage);
        let machine = session.head().machine();
        let told = Told {
            status: if damaged { Status::Damaged } else { Status::Complete },
            samples: profile.samples.len() as u64,
            arch: (machine.source != MachineSource::Nothing).then_some(machine.arch),
            peer_broke: has(&found, |it| matches!(it, Finding::StreamBroken { .. })),
        };
        // The process ends here: nobody needs the tables to be taken apart.
        std::mem::forget((profile, replay, timeline));
        Ok(told)
    }

    /// Looks up and writes what is new, where that is worth it by now.
    fn step(
        &self,
        replayer: &Replayer<'_>,
        growing: &mut Growing,
        expected: usize,
    ) -> anyhow::Result<()> {
        let done = replayer.partial().samples.len();
        self.progress.done(done as u64);
        if growing.wants(done) {
            return self.take(replayer, growing, expected);
        }
        let part = done as f64 / expected.max(1) as f64;
        lock(&self.stream).progress(part).with_context(|| self.target.failed())
    }

    fn take(
        &self,
        replayer: &Replayer<'_>,
        growing: &mut Growing,
        expected: usize,
    ) -> anyhow::Result<()> {
        let (partial, head) = (replayer.partial(), Arc::clone(growing.head()));
        let sources = Sources {
            args: &self.cli.symbols,
            head: &head,
            recording: self.path,
            timeline: partial.timeline,
            library: &self.files.library,
        };
        growing.take(&partial, sources);
        let mut stream = lock(&self.stream);
        let written = stream.samples(&growing.profile, &growing.details, expected);
        growing.forget(stream.take_written());
        written.with_context(|| self.target.failed())
    }

    /// How many samples there will be: if the rest of a file is like what was read. Of a stream nobody knows the end;
    /// it is taken to be in the middle.
    fn expected(&self, samples: usize, counts: &RecordCounts) -> usize {
        let Some(size) = self.size else { return samples.saturating_mul(2) };
        let read = u128::from(counts.total().bytes.max(1));
        let all = samples as u128 * u128::from(size) / read;
        // Headers and features are no records.
        if read * 8 > u128::from(size) * 7 {
            return samples;
        }
        samples.max(usize::try_from(all).unwrap_or(samples))
    }

    /// The summary, for people on standard error, or as the output itself.
    fn summary(&self, profile: &profile::Profile, wishes: Wishes) -> anyhow::Result<()> {
        if wishes.statistics {
            let mut text = Vec::new();
            write_summary(profile, &mut text)?;
            self.target.write_all(&text)?;
        } else if !self.cli.quiet {
            print_summary(profile)?;
        }
        Ok(())
    }
}

/// Tells the user of records that could not be put in order.
fn tell_disorder(details: &mut Details, found: &Findings) {
    let disorder =
        |it: &Finding| matches!(it, Finding::OutOfOrder { .. } | Finding::RoundsMissing { .. });
    let groups = found.iter().filter_map(|group| group.examples.first());
    for finding in groups.filter(|finding| disorder(finding)) {
        let (kind, message) = (ErrorKind::TimeOrder, finding.to_string());
        details.errors.push(formats::ErrorRow { kind, message });
    }
}

fn has(found: &Findings, wanted: impl Fn(&Finding) -> bool) -> bool {
    found.iter().filter_map(|group| group.examples.first()).any(wanted)
}
