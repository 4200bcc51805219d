//! Context of one task: its files, its observer, and the state of the worker.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::IntoIter;

use host::{Host, OpenedFileHost, RestrictedHost};
use options::{Demangle, SampleFilter};
use pipeline::{
    IdentifiedFiles, LoadedProfile, LoadedProfiles, Observer, Pipeline, RecallNeeds, Source,
};

use super::answer::not_written;
use super::live::LiveTables;
use super::outbox::ReplySender;
use super::{WorkerOptions, source};
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{RecordingRef, RunOptions, Sender};

/// State of a worker, shared by its tasks.
#[derive(Debug)]
pub(super) struct WorkerState {
    pub(super) outbox: Arc<ReplySender>,
    pub(super) pipeline: Pipeline,
    host: Arc<dyn Host>,
    pub(super) options: WorkerOptions,
    /// Profiles cached for later queries.
    pub(super) profiles: LoadedProfiles,
    /// Tables of the live recording.
    pub(super) live: LiveTables,
    /// Locked by the run in progress: one run uses all processors.
    analyzing: Mutex<()>,
}

impl WorkerState {
    pub(super) fn new(sender: Sender, host: Arc<dyn Host>, options: WorkerOptions) -> Self {
        let host: Arc<dyn Host> =
            if options.foreign { Arc::new(RestrictedHost::for_untrusted(host)) } else { host };
        Self {
            outbox: Arc::new(ReplySender::new(sender)),
            pipeline: Pipeline::new(Arc::clone(&host)).spelling(options.spelling),
            host,
            profiles: LoadedProfiles::new(options.cache_bytes),
            live: LiveTables::default(),
            options,
            analyzing: Mutex::default(),
        }
    }
}

/// Inputs of a task besides its request.
#[derive(Debug)]
pub(super) struct TaskContext<'w> {
    pub(super) worker: &'w WorkerState,
    /// Descriptors that came with the request, in its order.
    pub(super) files: IntoIter<OwnedFd>,
    pub(super) observer: Arc<dyn Observer>,
    /// Number of the request.
    pub(super) id: u64,
    /// Descriptors to send with the answer.
    pub(super) handed: Vec<OwnedFd>,
}

impl TaskContext<'_> {
    /// Returns the profile of a recording, which is cached for later queries.
    pub(super) fn analysis(
        &mut self,
        recording: &RecordingRef,
        options: &RunOptions,
    ) -> Result<Arc<LoadedProfile>, Problem> {
        self.analysis_of(recording, options, &SampleFilter::default())
    }

    /// Like `analysis`, for samples that pass a filter and without off-CPU times that were not asked for.
    pub(super) fn recorded_analysis(
        &mut self,
        recording: &RecordingRef,
        options: &RunOptions,
        samples: &SampleFilter,
    ) -> Result<Arc<LoadedProfile>, Problem> {
        let opened = OpenedRecording::of(self, recording)?;
        let loaded = opened.profile(&recording.key, options, samples)?;
        if !loaded.profile.off_cpu_is_extra {
            return Ok(loaded);
        }
        let options = options.with_off_cpu(false);
        opened.profile(&format!("{} recorded", recording.key), &options, samples)
    }

    /// Like `analysis`, for samples that pass a filter.
    pub(super) fn analysis_of(
        &mut self,
        recording: &RecordingRef,
        options: &RunOptions,
        samples: &SampleFilter,
    ) -> Result<Arc<LoadedProfile>, Problem> {
        OpenedRecording::of(self, recording)?.profile(&recording.key, options, samples)
    }

    /// Returns this host's files by build-id, for requests without a recording.
    pub(super) fn identified(
        &self,
        inlines: bool,
        demangle: Demangle,
    ) -> Result<IdentifiedFiles, Problem> {
        let mut options = self.worker.options.options.clone();
        (options.names.inlines, options.names.demangle) = (inlines, Some(demangle));
        Ok(self.worker.pipeline.identified_files(&options, &self.observer)?)
    }

    /// Writes the stream for hotspot to the output.
    pub(super) fn stream(
        &mut self,
        recording: &RecordingRef,
        options: &RunOptions,
        samples: &SampleFilter,
    ) -> Result<(), Problem> {
        let (pipeline, source) = self.opened(recording)?;
        let out = Box::new(self.output()?);
        // The stream has the switches themselves.
        let off_cpu = options.usual.off_cpu.unwrap_or(false);
        let options = self.options(&options.with_off_cpu(off_cpu), samples);
        let hotspot = self.worker.options.hotspot;
        let _turn = self.worker.analyzing.lock().unwrap_or_else(PoisonError::into_inner);
        let observer = Arc::clone(&self.observer);
        hotspot(&pipeline, source, &options, observer, out).map_err(|error| match error {
            pipeline::Error::Output(error) => not_written(&error),
            error => error.into(),
        })
    }

    /// Returns the operator's options with those of a request applied.
    fn options(&self, options: &RunOptions, samples: &SampleFilter) -> pipeline::Options {
        let base =
            pipeline::Options { samples: samples.clone(), ..self.worker.options.options.clone() };
        options.apply(&base)
    }

    /// Returns a pipeline whose host provides the recording, and its source.
    pub(super) fn opened(
        &mut self,
        recording: &RecordingRef,
    ) -> Result<(Pipeline, Source), Problem> {
        let path = PathBuf::from(&recording.path);
        let source = Source::Path(path.clone());
        if recording.is_folder {
            return Ok((self.worker.pipeline.clone(), source));
        }
        let file = File::from(self.file()?);
        let host = OpenedFileHost::new(Arc::clone(&self.worker.host), &path, file)
            .map_err(pipeline::Error::from)?;
        Ok((self.worker.pipeline.on(Arc::new(host)), source))
    }

    /// Returns the file for the result.
    pub(super) fn output(&mut self) -> Result<File, Problem> {
        Ok(File::from(self.file()?))
    }

    /// Returns the text of a source file that debug information names.
    pub(super) fn source_text(&self, file: &str) -> Result<source::SourceText, Problem> {
        source::text_of(file, &self.worker.options.options.files, self.host())
    }

    pub(super) fn host(&self) -> &dyn Host {
        &*self.worker.host
    }

    /// Returns the next descriptor of the request.
    pub(super) fn file(&mut self) -> Result<OwnedFd, Problem> {
        let missing = || Problem::new(ProblemKind::Internal).detail("a request without its files");
        self.files.next().ok_or_else(missing)
    }
}

/// A recording whose file is taken from the request.
struct OpenedRecording<'c, 'w> {
    context: &'c TaskContext<'w>,
    pipeline: Pipeline,
    path: PathBuf,
}

impl<'c, 'w> OpenedRecording<'c, 'w> {
    fn of(context: &'c mut TaskContext<'w>, recording: &RecordingRef) -> Result<Self, Problem> {
        let (pipeline, _) = context.opened(recording)?;
        Ok(Self { context, pipeline, path: PathBuf::from(&recording.path) })
    }

    /// Returns the cached profile of a key, or makes it.
    fn profile(
        &self,
        key: &str,
        options: &RunOptions,
        samples: &SampleFilter,
    ) -> Result<Arc<LoadedProfile>, Problem> {
        let TaskContext { worker, observer, .. } = self.context;
        let options = self.context.options(options, samples);
        let key = if *samples == SampleFilter::default() {
            key.to_owned()
        } else {
            format!("{key} {samples:?}")
        };
        worker.profiles.get(&key, || {
            // One analysis uses all processors.
            let _turn = worker.analyzing.lock().unwrap_or_else(PoisonError::into_inner);
            let source = Source::Path(self.path.clone());
            let needs = RecallNeeds::Files;
            Ok(self.pipeline.analyze_or_recall(source, &options, needs, observer)?)
        })
    }
}
