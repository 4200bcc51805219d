//! The output of a run so far: the rows of the growing profile that have names, and those that were sent to the sink.

use std::sync::Arc;
use std::time::Instant;

use address::Timestamp;
use perf_data::{Batch, Head, Session};
use profile::query::StackWalker;
use profile::{FindingRow, LocationId, Profile, SampleRow};
use replay::PartialReplay;
use symbolizer::KernelListPrefetch;

use super::assemble::{add_head, add_modules, add_threads};
use super::lag::LagClock;
use super::run::Run;
use super::sink::{Grown, LiveWarning, RunAccount, Sink, TableSizes};
use crate::error::Error;
use crate::files::Files;
use crate::names::{NameReport, Prefetch, RemainingPrefetch, resolve};

/// Whether nameless locations are looked up before the profile goes to the sink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Naming {
    /// They are looked up first.
    First,
    /// They are looked up later.
    Later,
}

/// The rows that were sent to the sink, and the state for the next ones.
pub(super) struct Output<'r> {
    run: &'r Run<'r>,
    files: Arc<Files>,
    pub(super) sink: &'r mut dyn Sink,
    head: Arc<Head>,
    /// The clock of a recording that is followed live.
    clock: Option<LagClock>,
    prefetch: Prefetch,
    report: NameReport,
    pub(super) account: RunAccount,
    /// Number of samples read.
    pub(super) read: usize,
    /// Number of times that the tables were cleared.
    generation: u32,
    /// Number of samples that are no longer in the tables.
    gone: u64,
    /// Number of those in this generation.
    forgotten: u64,
    /// Table sizes at the last output.
    pub(super) before: TableSizes,
    /// Time of the last output, and the lost records and lost samples at that time.
    last_sent: (Instant, u64, u64),
    /// The first location without a name, now and at the last output.
    named: LocationId,
    named_before: LocationId,
}

impl<'r> Output<'r> {
    pub(super) fn new(
        run: &'r Run<'r>,
        head: &Arc<Head>,
        files: Arc<Files>,
        sink: &'r mut dyn Sink,
    ) -> Self {
        let first = LocationId::new(0);
        Self {
            run,
            files,
            sink,
            head: Arc::clone(head),
            clock: None,
            prefetch: Prefetch::default(),
            report: NameReport::default(),
            account: RunAccount::default(),
            read: 0,
            generation: 0,
            gone: 0,
            forgotten: 0,
            before: TableSizes::default(),
            last_sent: (Instant::now(), 0, 0),
            named: first,
            named_before: first,
        }
    }

    /// The run with this output.
    pub(super) const fn run(&self) -> &'r Run<'r> {
        self.run
    }

    /// Starts to report the age of the newest sample in the account.
    pub(super) fn watch_lag(&mut self) {
        self.clock = Some(LagClock::new(&self.head, &**self.run.setting.host));
    }

    /// Sends the facts of the header to the sink.
    pub(super) fn begin(&mut self, profile: &mut Profile) -> Result<(), Error> {
        let Self { sink, head, account, run, .. } = self;
        add_head(profile, head, &run.head_selection());
        if !head.events().iter().any(|event| event.attr.flags.build_id()) {
            account.warnings.push(LiveWarning::NoBuildIds);
        }
        sink.begin(head, profile, account).map_err(Error::Output)
    }

    /// Records the facts of a batch apart from its samples.
    pub(super) fn record_batch(&mut self, batch: &Batch, session: &Session, profile: &mut Profile) {
        self.head = Arc::clone(batch.head());
        add_head(profile, batch.head(), &self.run.head_selection());
        self.sink.batch(batch, profile);
        self.read += batch.samples().len();
        let counts = session.counts();
        self.account.bytes = counts.total().bytes;
        self.account.lost_records = counts.lost_events;
        self.account.lost_samples = counts.lost_samples;
        if let Some(last) = batch.samples().last().filter(|last| last.time != Timestamp(0)) {
            self.clock.iter_mut().for_each(|clock| clock.arrived(last.time));
        }
    }

    /// Starts unpacking the files for the symbol look-up.
    pub(super) fn prefetch(&mut self, partial: &PartialReplay<'_>) {
        self.prefetch.look(partial, &self.files.images, self.run.setting, self.run.path());
    }

    /// Returns the files that are not unpacked yet, after all samples are walked.
    pub(super) fn unpack_remaining(
        &mut self,
        partial: &PartialReplay<'_>,
    ) -> RemainingPrefetch<'r> {
        self.prefetch.remaining(partial, &self.files.images, self.run.setting, self.run.path())
    }

    /// Returns true if there are locations without a name.
    pub(super) fn has_unnamed(&self, profile: &Profile) -> bool {
        profile.locations.next_id() != self.named
    }

    /// Looks up the names of the locations without one.
    pub(super) fn name(&mut self, partial: PartialReplay<'_>) {
        let PartialReplay { profile, timeline, threads, .. } = partial;
        let sources = self.run.sources(&self.head, timeline, threads, &self.files);
        // Processes that still run may have compiled more code.
        self.files.images.clear_perf_maps();
        self.report.add(resolve(profile, self.named, sources, self.prefetch.take_list()));
        self.named = profile.locations.next_id();
    }

    /// Sends the new rows to the sink.
    pub(super) fn send_rows(
        &mut self,
        partial: PartialReplay<'_>,
        naming: Naming,
    ) -> Result<(), Error> {
        let PartialReplay { profile, timeline, threads, modules } = partial;
        add_modules(profile, timeline, &self.files.images);
        if naming == Naming::First {
            self.name(PartialReplay { profile, timeline, threads, modules });
        }
        add_threads(profile, threads, timeline, self.run.options.names.fold_threads);
        self.count(profile);
        let Self { account, before, .. } = self;
        let grown = Grown {
            profile,
            generation: self.generation,
            before: *before,
            forgotten: self.forgotten,
            named: self.named_before..self.named,
            timeline,
            images: &self.files.images,
            names: &self.report,
            account,
        };
        self.sink.grown(&grown).map_err(Error::Output)?;
        self.before = TableSizes::of(profile, self.forgotten);
        self.named_before = self.named;
        self.last_sent = (Instant::now(), account.lost_records, account.lost_samples);
        Ok(())
    }

    /// Shows the sink samples that are not in the profile yet. Returns false if there are none.
    pub(super) fn show_waiting(&mut self, samples: &Profile) -> bool {
        let has_some = !samples.samples.is_empty();
        if has_some {
            self.sink.waiting(samples);
        }
        has_some
    }

    /// Updates the account.
    fn count(&mut self, profile: &Profile) {
        let Self { account, clock, gone, run, .. } = self;
        account.samples = *gone + profile.samples.len() as u64;
        account.newest = profile.samples.as_slice().last().and_then(|row| row.time());
        account.lag = (account.newest.zip(clock.as_ref()))
            .and_then(|(newest, clock)| clock.lag(newest, &**run.setting.host));
    }

    /// Time of the last output.
    pub(super) const fn last(&self) -> Instant {
        self.last_sent.0
    }

    /// Returns true if there is something new to output.
    pub(super) fn has_changed(&self, profile: &Profile) -> bool {
        let Self { account, before, forgotten, last_sent, .. } = self;
        before.samples < forgotten + profile.samples.len() as u64
            || self.named_before != self.named
            || (last_sent.1, last_sent.2) != (account.lost_records, account.lost_samples)
            || self.sink.is_behind()
    }

    /// Returns true if a sample from before `oldest` was not output yet.
    pub(super) fn has_unsent_before(&self, profile: &Profile, oldest: Timestamp) -> bool {
        let sent = self.before.samples.saturating_sub(self.forgotten);
        let first = profile.samples.as_slice().get(usize::try_from(sent).unwrap_or(usize::MAX));
        first.and_then(SampleRow::time).is_some_and(|time| time < oldest)
    }

    /// Number of all samples so far, including those that are no longer in the tables.
    pub(super) const fn samples(&self, profile: &Profile) -> u64 {
        self.gone + profile.samples.len() as u64
    }

    /// Records that the first samples of the table were dropped.
    pub(super) const fn forget(&mut self, samples: u64) {
        self.forgotten += samples;
        self.gone += samples;
    }

    /// Opens the sources of files again, without opened images and unwind rules.
    pub(super) fn renewed_files(&self) -> Result<Arc<Files>, Error> {
        let setting = self.run.setting;
        setting.renew();
        Files::new(setting, &self.head, None, None).map(Arc::new)
    }

    /// Resets the state after the tables were cleared; later images are those of `files`.
    pub(super) fn restart(&mut self, profile: &mut Profile, files: Arc<Files>) {
        self.files = files;
        add_head(profile, &self.head, &self.run.head_selection());
        self.generation += 1;
        self.gone += self.before.samples - self.forgotten;
        self.forgotten = 0;
        self.before = TableSizes::default();
        self.named = LocationId::new(0);
        self.named_before = self.named;
        self.prefetch = Prefetch::default();
        self.report.by_start.clear();
    }

    /// Returns the account of the names, the kernel's list if it was not used, and the files. If samples were dropped,
    /// updates the summary of `profile` to the retained ones.
    pub(super) fn finish(
        mut self,
        profile: &mut Profile,
    ) -> (NameReport, Option<KernelListPrefetch>, Arc<Files>) {
        if self.gone > 0 || self.generation > 0 {
            account_for_retained(profile, self.generation);
        }
        (self.report, self.prefetch.take_list(), self.files)
    }
}

/// Updates the summary of a profile after samples were dropped. `anew` is the number of times that tables were cleared.
fn account_for_retained(profile: &mut Profile, restarts: u32) {
    let walker = StackWalker::new(profile);
    let frames = profile.samples.ids().map(|sample| walker.depth(sample)).sum();
    profile.summary.frames = frames;
    if restarts > 0 {
        profile.summary.findings.push(FindingRow {
            kind: "live-began-anew".to_owned(),
            message: "there were too many different stacks to keep: those before the last begin are forgotten"
                .to_owned(),
            count: restarts.into(), help: None, });
    }
}
