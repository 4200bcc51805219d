//! The stream as a sink of a growing profile: each step is written at once.

use address::ById as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use formats::{Details, ErrorKind, ErrorRow, HotspotStream};
use hashbrown::HashSet;
use module_map::MappedKind;
use perf_data::{Batch, Head};
use pipeline::{Download, Grown, Observer, RunAccount, ServerWait, Sink, Stage};
use profile::{FindingRow, Profile};

use crate::hotspot::details::{learn_tracepoints, machine_details};
use crate::hotspot::records::Records;
use crate::spelling::SPELLING;
use crate::terminal::Out;

/// The stream, which downloads write to from other threads.
#[derive(Clone, Debug)]
pub(super) struct SharedStream(Arc<Mutex<HotspotStream<Out>>>);

impl SharedStream {
    pub(super) fn new(stream: HotspotStream<Out>) -> Self {
        Self(Arc::new(Mutex::new(stream)))
    }

    /// Calls `f` with the stream.
    pub(super) fn with<T>(&self, f: impl FnOnce(&mut HotspotStream<Out>) -> T) -> T {
        // After a panic of another thread the stream holds complete messages only.
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Forwards progress to an observer, and downloads to the stream as well.
#[derive(Debug)]
pub(super) struct StreamObserver {
    pub(super) progress: Arc<dyn Observer>,
    pub(super) stream: SharedStream,
}

impl Observer for StreamObserver {
    fn stage(&self, stage: Stage) {
        self.progress.stage(stage);
    }

    fn expected(&self, samples: u64) {
        self.progress.expected(samples);
    }

    fn done(&self, samples: u64) {
        self.progress.done(samples);
    }

    fn waiting(&self, waiting: &ServerWait<'_>) {
        self.progress.waiting(waiting);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    fn download(&self, download: &Download<'_>) {
        self.progress.download(download);
        let Download { name, url, done, total, ended } = *download;
        if !ended {
            // A reader that is gone is noticed when the next samples are written.
            let _ = self
                .stream
                .with(|stream| stream.download(name.as_bytes(), url.as_bytes(), done, total));
        }
    }
}

/// Collects the details that only this stream has, while a recording is read.
#[derive(Debug, Default)]
pub(super) struct CollectedDetails {
    details: Details,
    records: Records,
    /// Modules with a missing file that was already reported.
    missing: HashSet<u32>,
    reported_kernel: bool,
    reported_fields: bool,
}

impl CollectedDetails {
    /// Returns the details that were not written yet.
    pub(super) fn into_details(self) -> Details {
        self.details
    }

    /// Reports files that are missing for new locations.
    fn report_missing(&mut self, grown: &Grown<'_>) {
        let Grown { profile, timeline, images, names, named, .. } = grown;
        let mut nameless = false;
        for location in profile.locations.iter().skip(named.start.index()) {
            let Some(id) = location.module else { continue };
            let Some(module) = timeline.modules().by_id(id) else { continue };
            nameless |= module.kind == MappedKind::Kernel && location.n_inlines == 0;
            let wants_file = matches!(module.kind, MappedKind::File | MappedKind::Vdso);
            let error = images.outcome(module).and_then(Result::err).filter(|_| wants_file);
            if let Some(error) = error
                && self.missing.insert(id.0)
            {
                let path = String::from_utf8_lossy(&module.path);
                let message = format!("{path}: {error}; stacks end in it and names are missing");
                self.details.errors.push(ErrorRow { kind: ErrorKind::MissingFile, message });
            }
        }
        let refused = names.kernel_refused.as_ref().filter(|_| nameless && !self.reported_kernel);
        if let Some(reason) = refused {
            let help = names.kernel_help().map(|it| it.sentence(SPELLING));
            let help = help.map_or_else(String::new, |help| format!("; {help}"));
            let message = format!("kernel functions have no names: {reason}{help}");
            self.details.errors.push(ErrorRow { kind: ErrorKind::KernelSymbols, message });
            self.reported_kernel = true;
        }
    }
}

impl Sink for CollectedDetails {
    fn begin(&mut self, head: &Head, profile: &mut Profile, _: &RunAccount) -> io::Result<()> {
        self.details = machine_details(head, &mut profile.strings);
        learn_tracepoints(head, &mut self.details, &mut profile.strings);
        Ok(())
    }

    fn batch(&mut self, batch: &Batch, profile: &mut Profile) {
        learn_tracepoints(batch.head(), &mut self.details, &mut profile.strings);
        self.records.read(batch, &mut profile.strings, &mut self.details);
        if self.records.overlapping > 0 && !std::mem::replace(&mut self.reported_fields, true) {
            profile.summary.findings.push(FindingRow {
                kind: "tracepoint-fields".to_owned(),
                message: "overlapping fields of tracepoints were omitted".to_owned(),
                count: self.records.overlapping as u64,
                help: None,
            });
        }
    }

    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        self.report_missing(grown);
        Ok(())
    }
}

/// Writes a growing profile.
#[derive(Debug)]
pub(super) struct StreamOutput {
    stream: SharedStream,
    collected: CollectedDetails,
}

impl StreamOutput {
    pub(super) fn new(stream: SharedStream) -> Self {
        Self { stream, collected: CollectedDetails::default() }
    }

    /// Returns the details that only this stream has and that were not written yet.
    pub(super) fn into_details(self) -> Details {
        self.collected.into_details()
    }
}

impl Sink for StreamOutput {
    fn begin(
        &mut self,
        head: &Head,
        profile: &mut Profile,
        account: &RunAccount,
    ) -> io::Result<()> {
        self.collected.begin(head, profile, account)?;
        self.stream.with(|stream| stream.begin(profile, &self.collected.details))
    }

    fn batch(&mut self, batch: &Batch, profile: &mut Profile) {
        self.collected.batch(batch, profile);
    }

    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        self.collected.grown(grown)?;
        let details = &mut self.collected.details;
        self.stream.with(|stream| {
            let written = stream.samples(grown.profile, details, grown.account.expected);
            // Written data is not needed again: events of threads, and rows of single samples.
            let (tasks, extras) = stream.take_written();
            details.tasks.drain(..tasks.min(details.tasks.len()));
            details.extras.drain(..extras.min(details.extras.len()));
            written
        })
    }

    fn progress(&mut self, share: f64) -> io::Result<()> {
        self.stream.with(|stream| stream.progress(share))
    }
}
