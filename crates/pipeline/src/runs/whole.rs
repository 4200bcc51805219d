//! The profile of a recording as a whole: replayed the quick way where that can be done - while the file is read, in
//! the hope that its rounds keep their promise and that no file was replaced under its path. Where that fails, it is
//! done again, the slow way. Then the distinct addresses get their names.

use module_map::Timeline;
use perf_data::{Batch, EagerBatches, Findings, Session, SessionOptions};
use profile::LocationId;
use replay::{Replay, ReplayObserver as _, Replayer};

use super::analysis::{Analysis, Ended};
use super::assemble::{add_head, add_modules, add_threads};
use super::off_cpu::{add_off_cpu, name_asleep, off_cpu_findings};
use super::open::{Opened, can_be_read_again, check_whole, open};
use super::run::Run;
use crate::error::Error;
use crate::files::Files;
use crate::limits::prefetch;
use crate::names::Prefetch;
use crate::names::resolve;
use crate::observer::{Stage, begin};
use crate::setting::Setting;
use crate::source::Source;
use crate::timings::Timings;

/// A replayed recording and what it was replayed with.
struct Replayed {
    session: Session,
    found: Findings,
    files: Files,
    timeline: Timeline,
    replay: Replay,
    prefetch: Prefetch,
}

/// Opens, replays and symbolizes a recording.
pub(crate) fn analyze(setting: &Setting<'_>, source: Source) -> Result<Analysis, Error> {
    let Setting { host, observer, .. } = setting;
    let mut timings = Timings::start();
    begin(observer, Stage::Reading);
    let mut again = can_be_read_again(&***host, &source).then(|| source.name().to_owned());
    let mut next = Some(source);
    // What can be read only once must be replayed right at once.
    let mut quick = again.is_some();
    while let Some(source) = next.take() {
        let Opened { input, path, size, pages, damage } = open(&***host, source)?;
        let run = Run::new(setting, path, size).giving_back(pages);
        let attempt = run.attempt(input, quick, &mut timings);
        check_whole(run.path(), &damage)?;
        if let Some(replayed) = attempt? {
            let analysis = run.symbolize(replayed, timings);
            check_whole(run.path(), &damage)?;
            return analysis;
        }
        next = again.take().map(Source::Path);
        quick = false;
        begin(observer, Stage::Reading);
    }
    Err(Error::BrokenOff)
}

/// What is read, and what is known of it.
struct Reading<'r> {
    session: &'r mut Session,
    found: &'r mut Findings,
    prefetch: &'r mut Prefetch,
    files: &'r Files,
}

impl Run<'_> {
    /// One way through the whole recording; `None` where the quick way turned out to be wrong.
    fn attempt(
        &self,
        input: perf_data::Input,
        quick: bool,
        timings: &mut Timings,
    ) -> Result<Option<Replayed>, Error> {
        let mut found = Findings::default();
        let reading = SessionOptions { eager: quick.then(batches), ..self.usual_reading() };
        let reading = prefetch(self.options.limits, reading);
        let mut session = Session::open_within(input, reading, &self.setting.memory, &mut found)
            .map_err(|it| self.recording_error(it))?;
        let options = self.replay_options(session.head(), !quick)?;
        let files = self.files(session.head())?;
        timings.ended("open");
        let mut next = session.next_batch(&mut found);
        loop {
            let mut timeline = files.timeline();
            let mut replayer = self.replayer(&mut timeline, &files, &options);
            let mut prefetch = Prefetch::default();
            let reading = Reading {
                session: &mut session,
                found: &mut found,
                prefetch: &mut prefetch,
                files: &files,
            };
            next = self.feed(&mut replayer, next, reading, quick, timings)?;
            if quick && replayer.saw_several_files() {
                return Ok(None);
            }
            if next.is_none() {
                replayer.settle(self);
                let walked = replayer.partial();
                let rest = prefetch.rest(&walked, &files.images, self.setting, self.path());
                // What the last repair and merge need no thread for.
                let (replay, ()) =
                    rayon::join(|| replayer.finish(self), || rest.unpack(|| self.is_cancelled()));
                timings.ended("replay");
                return Ok(Some(Replayed { session, found, files, timeline, replay, prefetch }));
            }
        }
    }

    /// Feeds batches, to the last one or to one that starts over, which is given back.
    fn feed(
        &self,
        replayer: &mut Replayer<'_>,
        first: Option<Batch>,
        reading: Reading<'_>,
        quick: bool,
        timings: &mut Timings,
    ) -> Result<Option<Batch>, Error> {
        let Reading { session, found, prefetch, files } = reading;
        let (mut samples, mut done) = (0, 0);
        let mut next = first;
        begin(self.observer, Stage::Unwinding);
        while let Some(batch) = next {
            timings.ended("scan");
            samples += batch.samples().len() as u64;
            self.observer.expected(self.expected(samples, session.counts()));
            let first = batch.first_position();
            replayer.feed(batch, self);
            if let Some(first) = first {
                // The batches before this one were walked, and what no sample is of goes with them.
                self.walked(done..first);
                done = first.max(done);
            }
            // Two threads have no time for it before the end of the walk.
            if rayon::current_num_threads() > 2 {
                prefetch.look(&replayer.partial(), &files.images, self.setting, self.path());
            }
            timings.ended("replay");
            self.go_on()?;
            if quick && replayer.saw_several_files() {
                return Ok(None);
            }
            next = session.next_batch(found);
            if next.as_ref().is_some_and(Batch::starts_over) {
                return Ok(next);
            }
        }
        Ok(None)
    }

    /// Gives the addresses their names and puts the profile together.
    fn symbolize(&self, replayed: Replayed, mut timings: Timings) -> Result<Analysis, Error> {
        let Replayed { session, found, files, timeline, replay, mut prefetch } = replayed;
        let Replay {
            mut profile,
            threads,
            missed_maps,
            left_out,
            off_cpu,
            timings: replay_timings,
            mut held,
        } = replay;
        self.go_on()?;
        begin(self.observer, Stage::Symbolizing);
        let head = session.head().clone();
        add_head(&mut profile, &head);
        if let Some(times) = &off_cpu {
            add_off_cpu(&mut profile, times)?;
        }
        add_modules(&mut profile, &timeline, &files.images);
        let sources = self.sources(&head, (&timeline, &threads), &files);
        let mut report = resolve(&mut profile, LocationId::new(0), sources, prefetch.take_list());
        name_asleep(&mut profile);
        self.keep_rules(&mut report);
        timings.ended("symbolize");
        self.go_on()?;
        add_threads(&mut profile, &threads, &timeline, self.options.names.fold_threads);
        timings.replay = replay_timings;
        let engine = self.engine();
        let file = self.file();
        let ended =
            Ended { session, found, files, timeline, missed_maps, left_out, engine, report, file };
        let mut analysis = ended.into_analysis(profile, timings, self.setting.spelling);
        let findings =
            off_cpu.iter().flat_map(|times| off_cpu_findings(times, self.setting.spelling));
        analysis.profile.summary.findings.extend(findings);
        held.set(analysis.profile.heap_bytes() as u64);
        self.go_on()?;
        analysis.timings.ended("assemble");
        Ok(analysis)
    }
}

/// Bytes of a batch for each thread: enough slices of samples for all of them.
const OF_THREAD: u64 = 16 << 20;

/// How a file is cut into batches, three of which are in memory: few threads have enough with smaller ones than the usual.
/// What comes out is the same.
fn batches() -> EagerBatches {
    let usual = EagerBatches::default();
    let wanted = OF_THREAD * rayon::current_num_threads() as u64;
    EagerBatches { most_bytes: wanted.min(usual.most_bytes), ..usual }
}
