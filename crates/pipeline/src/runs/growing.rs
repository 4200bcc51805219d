//! The profile of a recording while it is unwound, for output that is written before the end: samples are walked in
//! chunks, and after some of them, each time several times as many as before, what is new is looked up and handed on.
//!
//! ```text
//!   read | walk | names, hand on | walk  .  . | names, hand on | walk  .  .  .  .  .  .  .  .  . | names, hand on
//! ```
//!
//! What was handed on cannot be taken back, so nothing is tried that may have to be done again.

use std::io;
use std::sync::Arc;

use module_map::{ImageStore, Timeline};
use perf_data::{Batch, Event, Findings, Head, RecordedArch, SampleType, Session, SessionOptions};
use profile::{LocationId, Profile};
use unwinder::{Partial, Replay, Replayer};

use super::analysis::{Analysis, Ended};
use super::assemble::{add_head, add_modules, add_threads};
use super::open::{Opened, check_whole, open};
use super::run::Run;
use crate::error::Error;
use crate::files::Files;
use crate::names::{NameReport, resolve};
use crate::observer::Stage;
use crate::options::Source;
use crate::setting::Setting;
use crate::timings::Timings;

/// How many times as many samples as were handed on have to be there before the next are looked up: each time the files
/// are read again.
const GROWTH: usize = 3;

/// The first batch of a stream ends with the first round after so many bytes.
const FIRST_BYTES: u64 = 256 << 10;

/// Bytes of a stream that are read at a time: it may be long until more come.
const READ_BYTES: usize = 256 << 10;

/// How a stream is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOptions {
    /// The processor of a recording that does not state it.
    pub arch: Option<RecordedArch>,
    /// Whether a recording with stacks that does not state its processor is an error.
    pub needs_arch: bool,
    /// Bytes of a stream that are put in order at a time; `None` for as many as usual.
    pub batch_bytes: Option<u64>,
    /// Bytes of a stream that may wait for the end of their round; `None` for as many as usual.
    pub pending_bytes: Option<u64>,
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
    let mut timings = Timings::start();
    setting.observer.stage(Stage::Reading);
    let Opened { input, path, size, damage, .. } = open(&**setting.host, source)?;
    let run = Run::new(setting, path, size);
    let mut found = Findings::default();
    let session =
        Session::open_within(input, run.stream_reading(stream), &setting.memory, &mut found);
    let session = session.map_err(|it| run.recording_error(it))?;
    if stream.needs_arch
        && has_stacks(&session)
        && session.head().machine().arch == RecordedArch::Unknown
    {
        return Err(Error::UnknownProcessor);
    }
    timings.ended("open");
    let analysis = run.grow(session, found, timings, growth);
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
        self.options.limits.apply(SessionOptions {
            first_bytes: FIRST_BYTES,
            read_bytes: READ_BYTES,
            switches: true,
            fallback_arch: stream.arch,
            batch_bytes: stream.batch_bytes.unwrap_or(usual.batch_bytes),
            pending_bytes: stream.pending_bytes.unwrap_or(usual.pending_bytes),
            ..usual
        })
    }

    fn grow(
        &self,
        mut session: Session,
        mut found: Findings,
        mut timings: Timings,
        growth: &mut dyn Growth,
    ) -> Result<Analysis, Error> {
        let files = self.files(session.head())?;
        let options = self.replay_options(session.head(), true)?;
        let mut timeline = files.timeline();
        let mut replayer = self.replayer(&mut timeline, &files, &options);
        let mut growing = Growing {
            head: session.head().clone(),
            report: NameReport::default(),
            first_location: LocationId::new(0),
        };
        let profile = replayer.partial().profile;
        add_head(profile, session.head());
        growth.begin(session.head(), profile).map_err(Error::Output)?;
        let mut fed = 0;
        let mut handed_on = 0;
        self.observer.stage(Stage::Unwinding);
        while let Some(batch) = session.next_batch(&mut found) {
            timings.ended("scan");
            growing.head = batch.head().clone();
            let profile = replayer.partial().profile;
            add_head(profile, batch.head());
            growth.batch(&batch, profile);
            fed += batch.samples().len();
            let expected = self.expected_at_last(fed, &session);
            self.observer.expected(expected as u64);
            replayer.feed_watched(batch, self, &mut |replayer| {
                self.step(replayer, &files, (&mut growing, growth), (&mut handed_on, expected))
            })?;
            // In a stream it may take long until more comes.
            if wants(fed, handed_on) {
                replayer.settle(self);
                let counts = (&mut handed_on, expected);
                self.step(&mut replayer, &files, (&mut growing, growth), counts)?;
            }
            timings.ended("replay");
        }
        replayer.end(self);
        self.go_on()?;
        self.take(replayer.partial(), &files, (&mut growing, growth), (&mut handed_on, fed))?;
        let Replay {
            mut profile, late_maps, left_out, timings: replay_timings, held: _held, ..
        } = replayer.finish(self);
        timings.ended("replay");
        add_head(&mut profile, session.head());
        timings.replay = replay_timings;
        let report = growing.report;
        let engine = self.engine();
        let recorded_until = self.recorded_until();
        let ended = Ended {
            session,
            found,
            files,
            timeline,
            late_maps,
            left_out,
            engine,
            report,
            recorded_until,
        };
        Ok(ended.into_analysis(profile, timings))
    }

    /// Looks up and hands on what is new, where that is worth it by now.
    fn step(
        &self,
        replayer: &mut Replayer<'_>,
        files: &Files,
        grown: (&mut Growing, &mut dyn Growth),
        (handed_on, expected): (&mut usize, usize),
    ) -> Result<(), Error> {
        self.go_on()?;
        let partial = replayer.partial();
        let done = partial.profile.samples.len();
        self.observer.done(done as u64);
        if wants(done, *handed_on) {
            return self.take(partial, files, grown, (handed_on, expected));
        }
        let part = done as f64 / expected.max(1) as f64;
        grown.1.progress(part).map_err(Error::Output)
    }

    fn take(
        &self,
        partial: Partial<'_>,
        files: &Files,
        (growing, growth): (&mut Growing, &mut dyn Growth),
        (handed_on, expected): (&mut usize, usize),
    ) -> Result<(), Error> {
        let Partial { profile, timeline, threads } = partial;
        let Growing { head, report, first_location } = growing;
        let first = *first_location;
        add_modules(profile, timeline, &files.images);
        report.add(resolve(profile, first, self.sources(head, timeline, files), None));
        add_threads(profile, threads, timeline);
        *handed_on = profile.samples.len();
        *first_location = profile.locations.next_id();
        let images = &*files.images;
        let grown =
            Grown { profile, first_location: first, timeline, images, names: report, expected };
        growth.grown(&grown).map_err(Error::Output)
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

/// What is kept from one step to the next.
struct Growing {
    head: Arc<Head>,
    /// What is to be said of the names so far.
    report: NameReport,
    /// The first location without names.
    first_location: LocationId,
}

/// Whether so many samples are worth a look-up, where so many were handed on.
const fn wants(done: usize, handed_on: usize) -> bool {
    done > 0 && done >= handed_on * GROWTH && done > handed_on
}
