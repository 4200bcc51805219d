//! Requests, one after the other or several at a time: each gets a thread of its own, and an answer.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::IntoIter;

use hashbrown::HashMap;
use host::{HandedHost, Host, RefusingHost};
use options::{Demangle, SampleFilter};
use pipeline::{IdentifiedFiles, Observer, Pipeline, Source};
use serde::Serialize;
use serde_json::value::to_raw_value;

use super::held::{Held, HeldProfile};
use super::live::LiveTables;
use super::watch::Watch;
use super::{WorkerOptions, about, diff, export, live, place, questions, source, symbols, tables};
use crate::problem::{Kind, Problem};
use crate::protocol::{Event, Given, Reply, Request, RunOptions, Sender, Task};

/// Where replies go.
#[derive(Debug)]
pub(super) struct Outbox(Mutex<Sender>);

impl Outbox {
    /// Tells the front. Where it is gone there is nobody to tell, and the process ends when it reads on.
    pub(super) fn send(&self, id: u64, event: Event) {
        self.send_with(id, event, &[]);
    }

    /// The same with descriptors, which the front gets copies of.
    fn send_with(&self, id: u64, event: Event, files: &[OwnedFd]) {
        let files: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sender.send(&Reply { id, event }, &files);
    }
}

/// A worker at work.
#[derive(Debug)]
pub(super) struct Serving {
    pub(super) outbox: Arc<Outbox>,
    pub(super) pipeline: Pipeline,
    host: Arc<dyn Host>,
    pub(super) options: WorkerOptions,
    held: Held,
    /// The tables of a stream that is watched.
    pub(super) live: LiveTables,
    /// Held by the run that is under way.
    analyzing: Mutex<()>,
    /// The requests that are worked at, with what tells them to stop.
    running: Mutex<HashMap<u64, Arc<AtomicBool>>>,
}

/// A request that was accepted.
#[derive(Debug)]
pub(super) struct Job {
    id: u64,
    task: Task,
    files: IntoIter<OwnedFd>,
    cancelled: Arc<AtomicBool>,
}

impl Job {
    /// Whether it is done on the pool. The tables of what is watched are asked for while the watching has a thread of it,
    /// which can be the only one.
    pub(super) const fn is_on_pool(&self) -> bool {
        !matches!(self.task, Task::LiveColumns)
    }
}

/// What a task needs beside its words.
#[derive(Debug)]
pub(super) struct Bench<'s> {
    pub(super) serving: &'s Serving,
    files: IntoIter<OwnedFd>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) id: u64,
    /// Descriptors that go with the answer.
    handed: Vec<OwnedFd>,
}

impl Serving {
    pub(super) fn new(sender: Sender, host: Arc<dyn Host>, options: WorkerOptions) -> Self {
        let host: Arc<dyn Host> =
            if options.foreign { Arc::new(RefusingHost::for_strangers(host)) } else { host };
        Self {
            outbox: Arc::new(Outbox(Mutex::new(sender))),
            pipeline: Pipeline::new(Arc::clone(&host)).spelling(options.spelling),
            host,
            held: Held::new(options.keep),
            live: LiveTables::default(),
            options,
            analyzing: Mutex::default(),
            running: Mutex::default(),
        }
    }

    /// Takes a request; `None` where there is nothing more to be done for it.
    pub(super) fn accept(&self, request: Request, files: Vec<OwnedFd>) -> Option<Job> {
        let Request { id, task } = request;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Task::Cancel(other) = task {
            if let Some(cancelled) = running.get(&other) {
                cancelled.store(true, Ordering::Relaxed);
            }
            return None;
        }
        let cancelled = Arc::<AtomicBool>::default();
        running.insert(id, Arc::clone(&cancelled));
        Some(Job { id, task, files: files.into_iter(), cancelled })
    }

    /// Does a job and answers it.
    pub(super) fn serve(&self, job: Job) {
        let Job { id, task, files, cancelled } = job;
        let watch = Watch::new(id, Arc::clone(&self.outbox), cancelled);
        let mut bench =
            Bench { serving: self, files, observer: Arc::new(watch), id, handed: Vec::new() };
        let event = match bench.work(task) {
            Ok(answer) => Event::Done(answer),
            Err(problem) => Event::Failed(problem),
        };
        let handed = std::mem::take(&mut bench.handed);
        drop(bench);
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.outbox.send_with(id, event, &handed);
    }
}

/// An answer as JSON.
pub(super) type Answer = Box<serde_json::value::RawValue>;

/// A value as an answer.
pub(super) fn answer(value: &impl Serialize) -> Result<Answer, Problem> {
    to_raw_value(value).map_err(|error| Problem::new(Kind::Internal).detail(error.to_string()))
}

impl Bench<'_> {
    fn work(&mut self, task: Task) -> Result<Answer, Problem> {
        match task {
            Task::Describe(recording) => {
                let (pipeline, source) = self.opened(&recording)?;
                answer(&about::header(&pipeline.head(source)?))
            }
            Task::Analyze { recording, options } => {
                // It is asked for where there is no result, or one that is not true any more.
                self.serving.held.forget(&recording.key);
                let analysis = self.analysis(&recording, options)?;
                tables::write(&analysis, options, self.output()?, self.host())
            }
            Task::Export(task) => export::write(self, &task),
            Task::Query { recording, options, query } => {
                let analysis = self.analysis(&recording, options)?;
                let index = analysis.index(options.inlines);
                let rows = questions::rows(&analysis.profile, index, &query);
                self.serving.held.weigh(&recording.key, &analysis);
                answer(&rows?)
            }
            Task::Diff(task) => diff::write(self, &task),
            Task::Place(task) => place::show(self, &task),
            Task::Source { recording, options, file } => {
                let analysis = self.analysis(&recording, options)?;
                let files = &self.serving.options.options.files;
                answer(&source::text(&analysis.profile, &file, files, self.host())?)
            }
            Task::SourceAt(task) => answer(&symbols::source(self, &task)?),
            Task::Code(task) => answer(&symbols::code(self, &task)?),
            Task::File(task) => {
                let (handed, file) = symbols::file(self, &task)?;
                self.handed.push(file);
                answer(&handed)
            }
            Task::Symbolize(task) => answer(&symbols::names(self, &task)?),
            Task::Live(task) => live::watch(self, &task),
            Task::LiveColumns => live::write(&self.serving.live, self.output()?),
            Task::Cancel(_) => answer(&()),
        }
    }

    /// The profile of a recording, which is kept for the next question.
    pub(super) fn analysis(
        &mut self,
        recording: &Given,
        options: RunOptions,
    ) -> Result<Arc<HeldProfile>, Problem> {
        self.analysis_of(recording, options, &SampleFilter::default())
    }

    /// The same of some samples.
    pub(super) fn analysis_of(
        &mut self,
        recording: &Given,
        options: RunOptions,
        samples: &SampleFilter,
    ) -> Result<Arc<HeldProfile>, Problem> {
        let opened = self.opened(recording)?;
        let options = self.options(options, samples);
        let key = if *samples == SampleFilter::default() {
            recording.key.clone()
        } else {
            format!("{} {samples:?}", recording.key)
        };
        self.serving.held.get(&key, || {
            let (pipeline, source) = opened;
            // All processors work at one.
            let _turn = self.serving.analyzing.lock().unwrap_or_else(PoisonError::into_inner);
            let analysis = pipeline.analyze(source, &options, &self.observer)?;
            Ok(analysis)
        })
    }

    /// The files of this machine by build-id, for a question about no recording.
    pub(super) fn identified(
        &self,
        inlines: bool,
        demangle: Demangle,
    ) -> Result<IdentifiedFiles, Problem> {
        let mut options = self.serving.options.options.clone();
        (options.names.inlines, options.names.demangle) = (inlines, demangle);
        Ok(self.serving.pipeline.identified_files(&options, &self.observer)?)
    }

    /// Writes the stream for hotspot into the output.
    pub(super) fn stream(
        &mut self,
        recording: &Given,
        options: RunOptions,
        samples: &SampleFilter,
    ) -> Result<(), Problem> {
        let (pipeline, source) = self.opened(recording)?;
        let out = Box::new(self.output()?);
        let options = self.options(options, samples);
        let hotspot = self.serving.options.hotspot;
        let _turn = self.serving.analyzing.lock().unwrap_or_else(PoisonError::into_inner);
        let observer = Arc::clone(&self.observer);
        hotspot(&pipeline, source, &options, observer, out).map_err(|error| match error {
            pipeline::Error::Output(error) => not_written(&error),
            error => error.into(),
        })
    }

    /// What a request chooses, on top of what the operator did.
    fn options(&self, options: RunOptions, samples: &SampleFilter) -> pipeline::Options {
        let options = options.apply(&self.serving.options.options);
        pipeline::Options { samples: samples.clone(), ..options }
    }

    /// A pipeline that has the recording, and what to call it.
    pub(super) fn opened(&mut self, recording: &Given) -> Result<(Pipeline, Source), Problem> {
        let path = PathBuf::from(&recording.path);
        let source = Source::Path(path.clone());
        if recording.is_folder {
            return Ok((self.serving.pipeline.clone(), source));
        }
        let file = File::from(self.file()?);
        let host = HandedHost::new(Arc::clone(&self.serving.host), &path, file)
            .map_err(pipeline::Error::from)?;
        Ok((self.serving.pipeline.on(Arc::new(host)), source))
    }

    /// Where the result is to be written.
    pub(super) fn output(&mut self) -> Result<File, Problem> {
        Ok(File::from(self.file()?))
    }

    /// The text of a source file that debug information names.
    pub(super) fn source_text(&self, file: &str) -> Result<source::Text, Problem> {
        source::text_of(file, &self.serving.options.options.files, self.host())
    }

    pub(super) fn host(&self) -> &dyn Host {
        &*self.serving.host
    }

    /// The next of the files that came with the request.
    pub(super) fn file(&mut self) -> Result<OwnedFd, Problem> {
        let missing = || Problem::new(Kind::Internal).detail("a request without its files");
        self.files.next().ok_or_else(missing)
    }
}

/// What a failed writing means.
pub(super) fn not_written(error: &std::io::Error) -> Problem {
    let kind = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Kind::NoSpace,
        std::io::ErrorKind::BrokenPipe => Kind::Cancelled,
        _ => Kind::Internal,
    };
    Problem::new(kind).detail(error.to_string())
}
