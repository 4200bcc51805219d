//! The profile of a recording while it is unwound, for output that is written before the end: samples are walked in
//! chunks, and after some of them, each time several times as many as before, what is new is looked up and handed on.
//!
//! ```text
//!   read | walk | names, hand on | walk  .  . | names, hand on | walk  .  .  .  .  .  .  .  .  . | names, hand on
//! ```
//!
//! Of a stream what has come is handed on as soon as nothing more is there to be read, twice a second at most.
//!
//! What was handed on cannot be taken back, so nothing is tried that may have to be done again.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use address::Arch;
use module_map::{ImageStore, Timeline};
use perf_data::{
    Batch, Event, Findings, Head, LiveBatches, NextBatch, SampleType, Session, SessionOptions,
};
use profile::{LocationId, Profile};
use replay::{Partial, Replay, Replayer};

use super::analysis::{Analysis, Ended};
use super::assemble::{add_head, add_modules, add_threads};
use super::live_bytes::Reader;
use super::open::{Opened, check_whole, open_with};
use super::pace::{Due, Pace};
use super::run::Run;
use crate::error::Error;
use crate::files::Files;
use crate::limits::prefetch;
use crate::names::{NameReport, Prefetch, resolve};
use crate::observer::{Stage, begin};
use crate::setting::Setting;
use crate::source::Source;
use crate::timings::Timings;

/// How many times as many samples as were handed on have to be there before the next are looked up: each time the files
/// are read again.
const GROWTH: usize = 3;

/// Of a stream that does not pause so many samples have to be there at first. One that pauses has handed on some by then.
const FIRST_OF_STREAM: usize = 24 << 10;

/// The first batch of a stream ends with the first round after so many bytes.
const FIRST_BYTES: u64 = 256 << 10;

/// Bytes of a stream that are read at a time: it may be long until more come.
const READ_BYTES: usize = 256 << 10;

/// How a stream is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOptions {
    /// The processor of a recording that does not state it.
    pub arch: Option<Arch>,
    /// Whether a recording with stacks that does not state its processor is an error.
    pub needs_arch: bool,
    /// Bytes of a stream that are put in order at a time; `None` for as many as usual.
    pub batch_bytes: Option<u64>,
    /// Bytes of a stream that may wait for the end of their round; `None` for as many as usual.
    pub pending_bytes: Option<u64>,
    /// When a part is handed on.
    pub steps: Steps,
}

/// When a part of a growing profile is handed on, beside those of a stream that pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Steps {
    /// Each time there are several times as many samples as were handed on: what is handed on together follows from the
    /// recording.
    #[default]
    BySamples,
    /// By the clock: from time to time, as long as that takes a small part of it.
    ByTime,
}

/// Takes a profile while it grows. What has an id in it keeps that id, and what is new comes after it.
pub trait Growth {
    /// Called once, before anything is unwound: the profile has what the header says.
    ///
    /// # Errors
    /// Where nothing can be written; the run ends.
    fn begin(&mut self, head: &Head, profile: &mut Profile) -> io::Result<()>;

    /// A part of the recording was read, and is unwound next.
    fn batch(&mut self, batch: &Batch, profile: &mut Profile);

    /// The profile has grown.
    ///
    /// # Errors
    /// Where nothing can be written; the run ends.
    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()>;

    /// So large a part of the samples, from 0 to 1, is unwound.
    ///
    /// # Errors
    /// Where nothing can be written; the run ends.
    fn progress(&mut self, part: f64) -> io::Result<()>;
}

/// A profile that has grown.
#[derive(Debug)]
pub struct Grown<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The first location that is new.
    pub first_location: LocationId,
    /// The modules, and what was mapped where.
    pub timeline: &'a Timeline,
    /// The files of the modules.
    pub images: &'a ImageStore,
    /// What is to be said of the names so far.
    pub names: &'a NameReport,
    /// How many samples there will be, as far as is known by now.
    pub expected: usize,
}

/// Opens, replays and symbolizes a recording step by step.
pub(crate) fn analyze_growing(
    setting: &Setting<'_>,
    (source, stream): (Source, StreamOptions),
    growth: &mut dyn Growth,
) -> Result<Analysis, Error> {
    if setting.options.off_cpu {
        return Err(Error::OffCpuWhileGrowing);
    }
    let mut timings = Timings::start();
    begin(setting.observer, Stage::Reading);
    let reader = Reader::default();
    let mut is_stream = false;
    let stream_input = |bytes| {
        is_stream = true;
        reader.input(bytes, setting.observer)
    };
    let opened = open_with(&**setting.host, source, stream_input)?;
    let Opened { input, path, size, damage, pages } = opened;
    let run = Run::new(setting, path, size).giving_back(pages);
    let mut found = Findings::default();
    let session =
        Session::open_within(input, run.stream_reading(stream), &setting.memory, &mut found);
    run.go_on()?;
    let session = session.map_err(|it| run.recording_error(it))?;
    if stream.needs_arch && has_stacks(&session) && session.head().machine().arch.is_none() {
        return Err(Error::UnknownProcessor);
    }
    timings.ended("open");
    let steps = is_stream.then_some(stream.steps);
    let analysis = run.grow((session, found), timings, steps, growth);
    check_whole(run.path(), &damage)?;
    analysis
}

/// Whether samples have registers and stacks, for which the processor has to be known; recorded callchains do without.
fn has_stacks(session: &Session) -> bool {
    let wanted = |event: &Event| event.attr.sample_type.has(SampleType::REGS_USER);
    session.head().events().iter().any(wanted)
}

impl Run<'_> {
    fn stream_reading(&self, stream: StreamOptions) -> SessionOptions {
        let usual = self.usual_reading();
        prefetch(
            self.options.limits,
            SessionOptions {
                first_bytes: FIRST_BYTES,
                read_bytes: READ_BYTES,
                switches: true,
                live: Some(LiveBatches::default()),
                fallback_arch: stream.arch,
                batch_bytes: stream.batch_bytes.unwrap_or(usual.batch_bytes),
                pending_bytes: stream.pending_bytes.unwrap_or(usual.pending_bytes),
                ..usual
            },
        )
    }

    /// Replays and hands on; `stream` says when a stream is handed on, of which more may come at any time.
    fn grow(
        &self,
        (mut session, mut found): (Session, Findings),
        mut timings: Timings,
        stream: Option<Steps>,
        growth: &mut dyn Growth,
    ) -> Result<Analysis, Error> {
        let files = self.files(session.head())?;
        let options = self.replay_options(session.head(), true)?;
        let mut timeline = files.timeline();
        let mut replayer = self.replayer(&mut timeline, &files, &options);
        if stream.is_some() {
            replayer.repair_by_batches();
        }
        let mut growing = Growing::new(session.head(), stream, growth);
        growing.begin(replayer.partial().profile)?;
        begin(self.observer, Stage::Unwinding);
        let mut wait = LOOK;
        loop {
            let batch = match growing.next(&mut session, wait, &mut found) {
                NextBatch::Batch(batch) => batch,
                NextBatch::NotYet => {
                    wait = self.rest(&mut replayer, &files, &mut growing)?;
                    continue;
                }
                NextBatch::End => break,
            };
            timings.ended("scan");
            growing.take_in(&batch, replayer.partial().profile);
            growing.expected = self.expected_at_last(growing.fed, &session);
            self.observer.expected(growing.expected as u64);
            replayer.feed_watched(batch, self, &mut |replayer| {
                self.step(replayer, &files, &mut growing)
            })?;
            // In a stream it may take long until more comes.
            if growing.wants(growing.fed) {
                replayer.settle(self);
                self.step(&mut replayer, &files, &mut growing)?;
            }
            growing.prefetch.look(&replayer.partial(), &files.images, self.setting, self.path());
            timings.ended("replay");
            wait = SOON;
        }
        replayer.end(self);
        self.go_on()?;
        growing.expected = growing.fed;
        self.take(replayer.partial(), &files, &mut growing)?;
        let mut report = growing.report;
        self.keep_rules(&mut report);
        let Replay {
            mut profile, missed_maps, left_out, timings: replay_timings, held: _held, ..
        } = replayer.finish(self);
        timings.ended("replay");
        add_head(&mut profile, session.head());
        timings.replay = replay_timings;
        let engine = self.engine();
        let file = self.file();
        let ended =
            Ended { session, found, files, timeline, missed_maps, left_out, engine, report, file };
        Ok(ended.into_analysis(profile, timings, self.setting.spelling))
    }

    /// Nothing more has come of a stream: hands on what is there, if it is time. Gives how long to wait for more.
    fn rest(
        &self,
        replayer: &mut Replayer<'_>,
        files: &Files,
        growing: &mut Growing<'_>,
    ) -> Result<Duration, Error> {
        self.go_on()?;
        replayer.settle(self);
        let partial = replayer.partial();
        self.observer.done(partial.profile.samples.len() as u64);
        let due = growing.due(partial.profile);
        match growing.pace.until(due) {
            None => Ok(LOOK),
            Some(Duration::ZERO) => {
                self.take(partial, files, growing)?;
                Ok(LOOK)
            }
            Some(wait) => Ok(wait.min(LOOK)),
        }
    }

    /// Looks up and hands on what is new, where that is worth it by now.
    fn step(
        &self,
        replayer: &mut Replayer<'_>,
        files: &Files,
        growing: &mut Growing<'_>,
    ) -> Result<(), Error> {
        self.go_on()?;
        let partial = replayer.partial();
        let done = partial.profile.samples.len();
        self.observer.done(done as u64);
        if growing.wants(done) {
            return self.take(partial, files, growing);
        }
        let part = done as f64 / growing.expected.max(1) as f64;
        growing.growth.progress(part).map_err(Error::Output)
    }

    fn take(
        &self,
        partial: Partial<'_>,
        files: &Files,
        growing: &mut Growing<'_>,
    ) -> Result<(), Error> {
        let start = Instant::now();
        let Partial { profile, timeline, threads, .. } = partial;
        let due = growing.due(profile);
        let Growing { head, report, first_location, handed_on, expected, .. } = growing;
        let first = *first_location;
        add_modules(profile, timeline, &files.images);
        let list = growing.prefetch.take_list();
        let sources = self.sources(head, (timeline, threads), files);
        // Processes that still run have compiled more.
        files.images.forget_perf_maps();
        report.add(resolve(profile, first, sources, list));
        add_threads(profile, threads, timeline, self.options.names.fold_threads);
        *handed_on = profile.samples.len();
        *first_location = profile.locations.next_id();
        let (images, expected) = (&*files.images, *expected);
        let grown =
            Grown { profile, first_location: first, timeline, images, names: report, expected };
        growing.growth.grown(&grown).map_err(Error::Output)?;
        growing.pace.handed_on(start, due);
        Ok(())
    }

    /// How many samples there will be: if the rest of a file is like what was read. Of a stream nobody knows the end;
    /// it is taken to be in the middle.
    fn expected_at_last(&self, samples: usize, session: &Session) -> usize {
        let Some(size) = self.size else { return samples.saturating_mul(2) };
        let read = u128::from(session.counts().total().bytes.max(1));
        // Headers and features are no records.
        if read * 8 > u128::from(size) * 7 {
            return samples;
        }
        let all = self.expected(samples as u64, session.counts());
        usize::try_from(all).unwrap_or(samples)
    }
}

/// How long to wait for more of a stream before what has come is seen to.
const SOON: Duration = Duration::from_millis(20);
/// How long to wait at a time where nothing is to be done.
const LOOK: Duration = Duration::from_millis(100);

/// What is kept from one step to the next.
struct Growing<'g> {
    growth: &'g mut dyn Growth,
    head: Arc<Head>,
    /// When a stream is handed on; `None` for what is no stream.
    stream: Option<Steps>,
    pace: Pace,
    prefetch: Prefetch,
    /// What is to be said of the names so far.
    report: NameReport,
    /// The first location without names.
    first_location: LocationId,
    /// Samples that were read, those that were handed on, and how many there will be.
    fed: usize,
    handed_on: usize,
    expected: usize,
}

impl<'g> Growing<'g> {
    fn new(head: &Arc<Head>, stream: Option<Steps>, growth: &'g mut dyn Growth) -> Self {
        Self {
            growth,
            head: Arc::clone(head),
            stream,
            pace: Pace::start(),
            prefetch: Prefetch::default(),
            report: NameReport::default(),
            first_location: LocationId::new(0),
            fed: 0,
            handed_on: 0,
            expected: 0,
        }
    }

    fn begin(&mut self, profile: &mut Profile) -> Result<(), Error> {
        add_head(profile, &self.head);
        self.growth.begin(&self.head, profile).map_err(Error::Output)
    }

    /// The next batch; of a stream, if it comes soon.
    fn next(&self, session: &mut Session, wait: Duration, found: &mut Findings) -> NextBatch {
        if self.stream.is_some() {
            return session.next_batch_within(wait, found);
        }
        session.next_batch(found).map_or(NextBatch::End, NextBatch::Batch)
    }

    /// Takes in what a batch says apart from its samples.
    fn take_in(&mut self, batch: &Batch, profile: &mut Profile) {
        self.head = Arc::clone(batch.head());
        add_head(profile, batch.head());
        self.growth.batch(batch, profile);
        self.fed += batch.samples().len();
    }

    /// What there is to hand on.
    fn due(&self, profile: &Profile) -> Due {
        if profile.samples.len() <= self.handed_on {
            Due::Nothing
        } else if profile.locations.next_id() == self.first_location {
            Due::Named
        } else {
            Due::Unnamed
        }
    }

    /// Whether so many samples are worth a look-up though more are there.
    fn wants(&self, done: usize) -> bool {
        if self.stream == Some(Steps::ByTime) {
            return done > self.handed_on && self.pace.is_late();
        }
        let first = if self.stream.is_some() { FIRST_OF_STREAM } else { 1 };
        done > self.handed_on && done >= first.max(self.handed_on * GROWTH)
    }
}
