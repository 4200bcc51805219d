//! The run that is watched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use address::Timestamp;
use perf_data::{Batch, Findings, Head, LiveBatches, NextBatch, Session, SessionOptions};
use profile::query::StackWalker;
use profile::{FindingRow, LocationId, Profile};
use replay::{Partial, Replay, Replayer};

use super::growth::{LiveAccount, LiveGrown, LiveGrowth, LiveOptions, LiveWarning, TableSizes};
use super::lag::LagClock;
use crate::error::Error;
use crate::files::Files;
use crate::limits::prefetch;
use crate::names::{NameReport, Prefetch, resolve};
use crate::observer::{Stage, begin};
use crate::runs::analysis::{Analysis, Ended};
use crate::runs::assemble::{add_head, add_modules, add_threads};
use crate::runs::live_bytes::Reader;
use crate::runs::open::{Opened, check_whole, open_with};
use crate::runs::run::Run;
use crate::setting::Setting;
use crate::source::Source;
use crate::timings::Timings;

/// Batches are no larger, so that many can wait while something else is done: who writes the stream must not wait.
const BATCH_BYTES: u64 = 4 << 20;
/// So many batches wait.
const BATCHES: usize = 32;
/// Bytes of a stream that are read at a time.
const READ_BYTES: usize = 256 << 10;
/// How long to wait for a batch at a time.
const LOOK: Duration = Duration::from_millis(50);
/// Names are looked up as often as this at most.
const LOOK_UP: Duration = Duration::from_secs(1);
/// After a look-up nine times as long none begins.
const REST: u32 = 9;

/// Opens, replays and symbolizes a recording while it is made.
pub(crate) fn analyze_live(
    setting: &Setting<'_>,
    source: Source,
    options: LiveOptions,
    growth: &mut dyn LiveGrowth,
) -> Result<Analysis, Error> {
    let mut timings = Timings::start();
    begin(setting.observer, Stage::Reading);
    let reader = Reader::default();
    let input = |bytes| reader.input(bytes, setting.observer);
    let Opened { input, path, size, damage, .. } = open_with(&**setting.host, source, input)?;
    let run = Run::new(setting, path, size);
    let mut found = Findings::default();
    let reading = prefetch(
        run.options.limits,
        SessionOptions {
            batch_bytes: BATCH_BYTES,
            first_bytes: BATCH_BYTES,
            read_bytes: READ_BYTES,
            live: Some(LiveBatches { waiting: BATCHES, ..LiveBatches::default() }),
            fallback_arch: options.arch,
            ..run.usual_reading()
        },
    );
    let session = Session::open_within(input, reading, &setting.memory, &mut found);
    run.go_on()?;
    let session = session.map_err(|it| run.recording_error(it))?;
    timings.ended("open");
    let analysis = run.watch((session, found), timings, options, growth);
    check_whole(run.path(), &damage)?;
    analysis
}

impl Run<'_> {
    fn watch(
        &self,
        (mut session, mut found): (Session, Findings),
        mut timings: Timings,
        options: LiveOptions,
        growth: &mut dyn LiveGrowth,
    ) -> Result<Analysis, Error> {
        // The recording goes on: its files may change until its end.
        let files = Files::new(self.setting, session.head(), None, None)?;
        let replay_options = self.replay_options(session.head(), true)?;
        let mut timeline = files.timeline();
        let mut replayer = self.replayer(&mut timeline, &files, &replay_options);
        replayer.repair_by_batches();
        let clock = LagClock::new(session.head(), &**self.setting.host);
        let mut live = Live::new(session.head(), options, clock, growth);
        live.begin(replayer.partial().profile)?;
        begin(self.observer, Stage::Unwinding);
        self.follow((&mut session, &mut found), &mut replayer, &files, &mut live)?;
        timings.ended("replay");
        replayer.end(self);
        self.go_on()?;
        self.name(replayer.partial(), &files, &mut live);
        self.go_on()?;
        self.hand_on(replayer.partial(), &files, &mut live)?;
        let Live { mut report, anew, total, .. } = live;
        self.keep_rules(&mut report);
        let Replay {
            mut profile, missed_maps, left_out, timings: replay_timings, held: _held, ..
        } = replayer.finish(self);
        timings.ended("replay");
        if total.forgotten > 0 || anew > 0 {
            account_for_kept(&mut profile, anew);
        }
        add_head(&mut profile, session.head());
        timings.replay = replay_timings;
        let (engine, file) = (self.engine(), self.file());
        let ended =
            Ended { session, found, files, timeline, missed_maps, left_out, engine, report, file };
        Ok(ended.into_analysis(profile, timings, self.setting.spelling))
    }

    /// Takes in the stream to its end, or until that is enough.
    fn follow(
        &self,
        (session, found): (&mut Session, &mut Findings),
        replayer: &mut Replayer<'_>,
        files: &Files,
        live: &mut Live<'_>,
    ) -> Result<(), Error> {
        let mut wait = LOOK;
        while !live.growth.is_enough() {
            let batch = match session.next_batch_within(wait, found) {
                NextBatch::Batch(batch) => Some(batch),
                NextBatch::NotYet => None,
                NextBatch::End => break,
            };
            self.go_on()?;
            if let Some(batch) = batch {
                live.take_in(&batch, session, replayer.partial().profile);
                replayer.feed(batch, self);
                let images = &files.images;
                live.prefetch.look(&replayer.partial(), images, self.setting, self.path());
                wait = LOOK.min(live.until_tick());
                if !wait.is_zero() {
                    continue;
                }
            }
            self.see_to(replayer, files, live)?;
            let waits = live.has_changed(replayer.partial().profile);
            wait = if waits { LOOK.min(live.until_tick()) } else { LOOK };
        }
        Ok(())
    }

    /// Finishes what has come, forgets what is old, looks up names and hands on, each if it is time.
    fn see_to(
        &self,
        replayer: &mut Replayer<'_>,
        files: &Files,
        live: &mut Live<'_>,
    ) -> Result<(), Error> {
        replayer.settle(self);
        self.go_on()?;
        self.observer.done(live.total.samples + replayer.partial().profile.samples.len() as u64);
        if let Some(oldest) = live.oldest(replayer.partial().profile) {
            live.forget(replayer.forget_before(oldest));
        }
        if live.wants_names(replayer.partial().profile) {
            self.name(replayer.partial(), files, live);
            self.go_on()?;
        }
        if live.until_tick().is_zero() && live.has_changed(replayer.partial().profile) {
            self.hand_on(replayer.partial(), files, live)?;
        }
        let samples = size_of::<profile::SampleRow>() * replayer.partial().profile.samples.len();
        let tables = replayer.held_bytes().saturating_sub(2 * samples as u64);
        if tables > live.options.table_bytes {
            let mut handed_on = Ok(());
            replayer.begin_anew(self, |partial| handed_on = self.hand_on(partial, files, live));
            handed_on?;
            live.begin_anew(replayer.partial().profile);
        }
        Ok(())
    }

    /// Looks up the names of all new locations.
    fn name(&self, partial: Partial<'_>, files: &Files, live: &mut Live<'_>) {
        let start = Instant::now();
        let Partial { profile, timeline, threads, .. } = partial;
        let first = live.named;
        if first == profile.locations.next_id() {
            return;
        }
        let sources = self.sources(&live.head, (timeline, threads), files);
        // Processes that still run have compiled more.
        files.images.forget_perf_maps();
        live.report.add(resolve(profile, first, sources, live.prefetch.take_list()));
        live.named = profile.locations.next_id();
        live.look_up = Some((Instant::now(), start.elapsed()));
    }

    /// Hands on what is new.
    fn hand_on(
        &self,
        partial: Partial<'_>,
        files: &Files,
        live: &mut Live<'_>,
    ) -> Result<(), Error> {
        let Partial { profile, timeline, threads, .. } = partial;
        add_modules(profile, timeline, &files.images);
        add_threads(profile, threads, timeline, self.setting.options.names.fold_threads);
        live.count(profile, &**self.setting.host);
        let grown = LiveGrown {
            profile,
            generation: live.anew,
            before: live.before,
            forgotten: live.forgotten,
            named: live.named_before..live.named,
            timeline,
            images: &files.images,
            names: &live.report,
            account: &live.account,
        };
        live.growth.grown(&grown).map_err(Error::Output)?;
        live.before = TableSizes::of(profile, live.forgotten);
        live.named_before = live.named;
        live.handed_on = (Instant::now(), live.account.lost_records, live.account.lost_samples);
        Ok(())
    }
}

/// The summary of a profile of which samples were forgotten, or whose tables began anew so often.
fn account_for_kept(profile: &mut Profile, anew: u32) {
    let walker = StackWalker::new(profile);
    let frames = profile.samples.ids().map(|sample| walker.depth(sample)).sum();
    profile.summary.frames = frames;
    if anew > 0 {
        profile.summary.findings.push(FindingRow {
            kind: "live-began-anew".to_owned(),
            message: "there were too many different stacks to keep: those before the last begin are forgotten"
                .to_owned(),
            count: anew.into(), help: None, });
    }
}

/// What was forgotten in all.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    /// Samples of generations before this one and forgotten ones of this one.
    samples: u64,
    forgotten: u64,
}

/// What is kept from one step to the next.
struct Live<'g> {
    growth: &'g mut dyn LiveGrowth,
    options: LiveOptions,
    head: Arc<Head>,
    clock: LagClock,
    prefetch: Prefetch,
    report: NameReport,
    account: LiveAccount,
    /// How often the tables began anew.
    anew: u32,
    total: Total,
    /// Samples of this generation that are forgotten.
    forgotten: u64,
    /// What was handed on.
    before: TableSizes,
    /// When that was, and what had been lost by then.
    handed_on: (Instant, u64, u64),
    /// The first location without a name, and what it was when something was handed on last.
    named: LocationId,
    named_before: LocationId,
    /// When the last look-up ended, and how long it took.
    look_up: Option<(Instant, Duration)>,
}

impl<'g> Live<'g> {
    fn new(
        head: &Arc<Head>,
        options: LiveOptions,
        clock: LagClock,
        growth: &'g mut dyn LiveGrowth,
    ) -> Self {
        let (prefetch, report, account, total, before) = Default::default();
        let first = LocationId::new(0);
        Self {
            growth,
            options,
            head: Arc::clone(head),
            clock,
            prefetch,
            report,
            account,
            anew: 0,
            total,
            forgotten: 0,
            before,
            handed_on: (Instant::now(), 0, 0),
            named: first,
            named_before: first,
            look_up: None,
        }
    }

    fn begin(&mut self, profile: &mut Profile) -> Result<(), Error> {
        let Self { growth, head, account, .. } = self;
        add_head(profile, head);
        if !head.events().iter().any(|event| event.attr.flags.build_id()) {
            account.warnings.push(LiveWarning::NoBuildIds);
        }
        growth.begin(head, profile, account).map_err(Error::Output)
    }

    /// Takes in what a batch says apart from its samples.
    fn take_in(&mut self, batch: &Batch, session: &Session, profile: &mut Profile) {
        self.head = Arc::clone(batch.head());
        add_head(profile, batch.head());
        let counts = session.counts();
        self.account.bytes = counts.total().bytes;
        self.account.lost_records = counts.lost_events;
        self.account.lost_samples = counts.lost_samples;
        if let Some(last) = batch.samples().last().filter(|last| last.time != Timestamp(0)) {
            self.clock.arrived(last.time);
        }
    }

    /// How long it is until something may be handed on.
    fn until_tick(&self) -> Duration {
        self.options.tick.saturating_sub(self.handed_on.0.elapsed())
    }

    /// Whether there is something to hand on.
    fn has_changed(&self, profile: &Profile) -> bool {
        let Self { account, before, forgotten, handed_on, .. } = self;
        before.samples < forgotten + profile.samples.len() as u64
            || self.named_before != self.named
            || (handed_on.1, handed_on.2) != (account.lost_records, account.lost_samples)
    }

    /// Samples before this time are forgotten.
    fn oldest(&self, profile: &Profile) -> Option<Timestamp> {
        let keep = u64::try_from(self.options.keep?.as_nanos()).unwrap_or(u64::MAX);
        let newest = profile.samples.as_slice().last()?.time()?;
        Some(Timestamp(newest.0.saturating_sub(keep)))
    }

    fn forget(&mut self, samples: u64) {
        self.forgotten += samples;
        self.total.forgotten += samples;
        self.total.samples += samples;
    }

    /// Whether names are to be looked up now.
    fn wants_names(&self, profile: &Profile) -> bool {
        let rest = |(ended, took): (Instant, Duration)| ended.elapsed() >= LOOK_UP.max(took * REST);
        profile.locations.next_id() != self.named && self.look_up.is_none_or(rest)
    }

    /// Brings the account up to date.
    fn count(&mut self, profile: &Profile, host: &dyn host::Host) {
        let Self { account, clock, total, .. } = self;
        account.samples = total.samples + profile.samples.len() as u64;
        account.newest = profile.samples.as_slice().last().and_then(|row| row.time());
        account.lag = account.newest.and_then(|newest| clock.lag(newest, host));
    }

    /// The tables are empty again.
    fn begin_anew(&mut self, profile: &mut Profile) {
        add_head(profile, &self.head);
        self.anew += 1;
        self.total.samples += self.before.samples - self.forgotten;
        self.total.forgotten += self.before.samples - self.forgotten;
        self.forgotten = 0;
        self.before = TableSizes::default();
        self.named = LocationId::new(0);
        self.named_before = self.named;
        self.prefetch = Prefetch::default();
        self.report.by_start.clear();
    }
}
