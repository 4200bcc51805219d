//! State that every run has from start to end: host, options and observer.

use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::Timestamp;
use budget::Budget;
use host::{FileKind, Origin};
use module_map::Timeline;
use options::Options;
use perf_data::{Head, RecordCounts, SampleType, ScanOptions, SessionOptions};
use replay::{ReplayObserver, ReplayOptions, Replayer, RequestedVariables, Thread, has_switches};
use unwinder::{Engine, StoredRules};

use super::assemble::HeadSelection;
use super::events::filter;
use super::input::{ReleasedPages, sample_times};
use super::values::{Weighing, check_selection, check_spans, check_values, weighed_events};
use crate::cached_rules::{store_rules, stored_rules};
use crate::error::Error;
use crate::files::Files;
use crate::limits::check_memory;
use crate::names::{NameReport, NameScope, Sources};
use crate::observer::Observer;
use crate::setting::Setting;

/// A run. It observes the replay.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) setting: &'a Setting<'a>,
    pub(crate) options: &'a Options,
    pub(crate) observer: &'a Arc<dyn Observer>,
    /// The recording's name in messages; a list of kernel symbols can be next to it.
    path: PathBuf,
    /// Size of the recording in bytes, if it is one file.
    pub(crate) size: Option<u64>,
    /// Releases the pages of a plain file.
    pages: Option<ReleasedPages>,
    /// The unwind rules of earlier runs.
    rules: Option<Arc<StoredRules>>,
}

/// Facts about a recording from its file.
pub(crate) struct RecordingFile {
    /// File name without folders; `None` for standard input.
    pub(crate) name: Option<Box<[u8]>>,
    /// Modification time, in nanoseconds since 1970; `None` if it is not a file.
    pub(crate) written: Option<i128>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(setting: &'a Setting<'a>, path: PathBuf, size: Option<u64>) -> Self {
        let Setting { options, observer, memory, cache, .. } = setting;
        let rules = cache.as_ref().map(|cache| Arc::new(stored_rules(cache, memory)));
        Self { setting, options, observer, path, size, pages: None, rules }
    }

    /// Makes the run release the pages of walked samples. In a plain file, positions are offsets.
    pub(crate) fn giving_back(self, pages: Option<ReleasedPages>) -> Self {
        Self { pages, ..self }
    }

    /// Opens the files of a recording with this header.
    pub(crate) fn files(&self, head: &Head) -> Result<Files, Error> {
        Files::new(self.setting, head, self.recorded_until(), Some(&self.path))
    }

    /// The field or the spans that are the weight of samples.
    pub(crate) fn weighed(&self) -> Option<Weighing<'_>> {
        let pattern = self.options.weight_field.as_deref()?;
        Some(Weighing { pattern, spans: &self.options.spans })
    }

    /// The facts of the header that the profile has.
    pub(crate) fn head_selection(&self) -> HeadSelection<'_> {
        let with_arguments = self.options.with_arguments;
        HeadSelection { weighing: self.weighed(), with_arguments }
    }

    /// The recording's name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the modification time of the recording, in nanoseconds since 1970; `None` if it is not a file.
    pub(crate) fn recorded_until(&self) -> Option<i128> {
        let stat = self.setting.host.stat(&self.path, Origin::User).ok()?;
        (stat.kind == FileKind::Regular).then_some(stat.stamp.modified)
    }

    /// Returns the facts about the recording from its file.
    pub(crate) fn file(&self) -> RecordingFile {
        let name = self.path.file_name().filter(|_| self.path != Path::new("-"));
        let name = name.map(|name| name.as_bytes().into());
        RecordingFile { name, written: self.recorded_until() }
    }

    /// Returns the default options for reading a recording.
    pub(crate) fn usual_reading(&self) -> SessionOptions {
        SessionOptions {
            switches: self.options.off_cpu,
            budget: self.setting.shared().budget,
            scan: scan_ahead(rayon::current_num_threads()),
            ..SessionOptions::default()
        }
    }

    /// The engine with the cached rules.
    pub(crate) fn engine(&self) -> Arc<Engine> {
        self.setting.shared().engine
    }

    /// Returns a replay that uses the cached rules.
    pub(crate) fn replayer<'r>(
        &self,
        timeline: &'r mut Timeline,
        files: &Files,
        options: &'r ReplayOptions,
    ) -> Replayer<'r> {
        let replayer = Replayer::with_engine(self.engine(), timeline, &files.images, options);
        replayer.with_stored_rules(self.rules.clone())
    }

    /// Stores the new unwind rules for the next run; reports the reason if that fails.
    pub(crate) fn store_rules(&self, report: &mut NameReport) {
        if let (Some(rules), Some(cache)) = (&self.rules, &self.setting.cache) {
            store_rules(rules, cache);
            let problem = cache.finish();
            report.not_kept = report.not_kept.take().or(problem);
        }
    }
}

impl ReplayObserver for Run<'_> {
    fn done(&self, samples: u64) {
        self.observer.done(samples);
    }

    fn walked(&self, positions: Range<u64>) {
        if let Some(pages) = &self.pages {
            pages.done(positions);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }
}

impl Run<'_> {
    /// Returns the sources of names.
    pub(crate) fn sources<'a>(
        &'a self,
        head: &'a Head,
        timeline: &'a Timeline,
        threads: &'a [Thread],
        files: &'a Files,
    ) -> Sources<'a> {
        Sources {
            options: &self.options.names,
            scope: NameScope::of(&self.options.names),
            kallsyms: self.options.files.kallsyms.as_deref(),
            head,
            recording: &self.path,
            timeline,
            threads,
            images: &files.images,
            observer: &**self.observer,
            cache: self.setting.cache.as_deref(),
        }
    }

    /// Returns an error if the run was cancelled or exceeded its memory limit.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        check_memory(&self.setting.memory)?;
        if self.observer.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    pub(crate) fn recording_error(&self, source: perf_data::Error) -> Error {
        let recording = Error::Recording { path: self.path.clone(), source };
        check_memory(&self.setting.memory).err().unwrap_or(recording)
    }

    /// Returns the times of the first and last sample. If the header does not state them and the recording is a file,
    /// that is read once more.
    fn sample_times(&self, head: &Head) -> Result<Option<(Timestamp, Timestamp)>, Error> {
        match head.features().sample_time {
            None if self.recorded_until().is_some() => {
                sample_times(&**self.setting.host, &self.path)
            }
            stated => Ok(stated),
        }
    }

    /// Refuses options of the unwinder, which have no effect on finished callchains.
    fn check_unwound(&self) -> Result<(), Error> {
        let usual = Options::default();
        let changed = [
            ("join", self.options.join != usual.join),
            ("tail_calls", self.options.tail_calls != usual.tail_calls),
            ("max_frames", self.options.max_frames != usual.max_frames),
            ("value", !self.options.values.is_empty()),
        ];
        match changed.iter().find(|(_, is_changed)| *is_changed) {
            Some(&(option, _)) => Err(Error::NoStacks { option }),
            None => Ok(()),
        }
    }

    /// Returns the options to replay a recording with this header.
    pub(crate) fn replay_options(
        &self,
        head: &Head,
        learn_files: bool,
    ) -> Result<ReplayOptions, Error> {
        let off_cpu = self.options.off_cpu && has_switches(head);
        if self.options.off_cpu && !off_cpu && !self.options.off_cpu_optional {
            return Err(Error::NoSwitches);
        }
        if head.chain_evidence().is_some() {
            self.check_unwound()?;
        }
        check_selection(&self.options.with_fields, head)?;
        if self.options.branches && !has_branches(head) {
            return Err(Error::NoBranches);
        }
        check_values(&self.options.samples.conditions, &self.options.labels, head)?;
        let mut filter = filter(&self.options.samples, head, || self.sample_times(head))?;
        check_spans(&self.options.spans, &self.options.labels, head)?;
        if let Some(weighing) = self.weighed() {
            filter.select_events(&weighed_events(weighing, head)?);
        }
        Ok(ReplayOptions {
            filter,
            max_frames: self.options.max_frames.get(),
            learn_files,
            join: self.options.join,
            tail_calls: self.options.tail_calls,
            fields: self.options.with_fields.clone(),
            trace_text: self.options.trace_text,
            branches: self.options.branches,
            labels: self.options.labels.clone(),
            spans: self.options.spans.clone(),
            variables: self.variables()?,
            redact: self.options.redact.clone(),
            weight_field: self.options.weight_field.clone(),
            off_cpu,
        })
    }

    /// Returns the requested variables of functions.
    fn variables(&self) -> Result<Option<Arc<RequestedVariables>>, Error> {
        let texts = &self.options.values;
        if texts.is_empty() {
            return Ok(None);
        }
        let requested = RequestedVariables::parse(texts, Budget::default());
        let requested =
            requested.map_err(|(text, problem)| Error::FunctionVariable { text, problem })?;
        Ok(Some(Arc::new(requested)))
    }

    /// Estimates the number of samples, assuming that the rest of the file is like the part read so far.
    pub(crate) fn expected(&self, samples: u64, counts: &RecordCounts) -> u64 {
        let read = u128::from(counts.total().bytes.max(1));
        let all = self.size.map_or(0, |size| u128::from(samples) * u128::from(size) / read);
        samples.max(u64::try_from(all).unwrap_or(samples))
    }
}

/// Number of walking threads that need one thread to scan records ahead, besides the reader.
const WALKERS: usize = 4;
/// Bytes that such a thread scans at a time. Each of them has twice as many in memory before they are walked.
const CHUNK: usize = 1 << 20;

/// Returns the look-ahead for a recording that `jobs` threads walk. Few threads need none.
fn scan_ahead(jobs: usize) -> Option<ScanOptions> {
    let threads = (jobs / WALKERS).min(16);
    (threads > 0).then_some(ScanOptions { threads, chunk_bytes: CHUNK })
}

/// Returns true if samples of an event have branch records.
fn has_branches(head: &Head) -> bool {
    head.events().iter().any(|event| event.attr.sample_type.has(SampleType::BRANCH_STACK))
}
