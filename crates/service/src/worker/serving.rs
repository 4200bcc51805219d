//! Dispatch of requests: each runs on its own thread and gets one answer.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::IntoIter;

use hashbrown::HashMap;
use host::Host;

use super::answer::{Answer, answer};
use super::task_context::{TaskContext, WorkerState};
use super::watch::RunObserver;
use super::{
    WorkerOptions, about, diff, export, instructions, live, queries, source, symbols, tables,
};
use crate::problem::Problem;
use crate::protocol::{QueryView, Sender, Task, WorkerEvent, WorkerRequest};

/// State of a running worker and its unfinished requests.
#[derive(Debug)]
pub(super) struct Serving {
    state: WorkerState,
    /// Cancellation flags of the unfinished requests, by request number.
    running: Mutex<HashMap<u64, Arc<AtomicBool>>>,
}

/// Accepted request.
#[derive(Debug)]
pub(super) struct Job {
    id: u64,
    task: Task,
    files: IntoIter<OwnedFd>,
    cancelled: Arc<AtomicBool>,
}

impl Job {
    /// Returns true if the job runs on the pool. Requests for live tables do not: the live run occupies a thread of the
    /// pool, possibly its only one.
    pub(super) const fn is_on_pool(&self) -> bool {
        !matches!(self.task, Task::LiveColumns)
    }
}

impl Serving {
    pub(super) fn new(sender: Sender, host: Arc<dyn Host>, options: WorkerOptions) -> Self {
        Self { state: WorkerState::new(sender, host, options), running: Mutex::default() }
    }

    /// Accepts a request; `None` if it needs no further work.
    pub(super) fn accept(&self, request: WorkerRequest, files: Vec<OwnedFd>) -> Option<Job> {
        let WorkerRequest { id, task } = request;
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

    /// Runs a job and sends its answer.
    pub(super) fn serve(&self, job: Job) {
        let Job { id, task, files, cancelled } = job;
        let outbox = &self.state.outbox;
        let observer = Arc::new(RunObserver::new(id, Arc::clone(outbox), cancelled));
        let mut context =
            TaskContext { worker: &self.state, files, observer, id, handed: Vec::new() };
        let event = match run(&mut context, task) {
            Ok(answer) => WorkerEvent::Done(answer),
            Err(problem) => WorkerEvent::Failed(problem),
        };
        let handed = std::mem::take(&mut context.handed);
        drop(context);
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        outbox.send_with(id, event, &handed);
    }
}

/// Runs a task and returns its answer.
fn run(context: &mut TaskContext<'_>, task: Task) -> Result<Answer, Problem> {
    match task {
        Task::Describe(recording) => {
            let (pipeline, source) = context.opened(&recording)?;
            answer(&about::header(&pipeline.head(source)?))
        }
        Task::Modules(recording) => answer(&symbols::modules(context, &recording)?),
        Task::Analyze { recording, options } => {
            // The front requests an analysis only if there is no result or it is outdated, so the cached profile may be
            // outdated, too.
            context.worker.profiles.forget(&recording.key);
            let analysis = context.analysis(&recording, &options)?;
            tables::write(&analysis, &options, context.output()?, context.host())
        }
        Task::Export(task) => export::write(context, &task),
        Task::Query { recording, options, query } => {
            let analysis = context.analysis(&recording, &options)?;
            if query.view == QueryView::Spans {
                return answer(&queries::spans(&analysis.profile, &query));
            }
            let index = analysis.query_index(options.usual.inlines);
            let rows = queries::rows(&analysis.profile, index, &query);
            context.worker.profiles.weigh(&recording.key, &analysis);
            answer(&rows?)
        }
        Task::Diff(task) => diff::write(context, &task),
        Task::Instructions(task) => instructions::show(context, &task),
        Task::Source { recording, options, file } => {
            let analysis = context.analysis(&recording, &options)?;
            let files = &context.worker.options.options.files;
            answer(&source::text(&analysis.profile, &file, files, context.host())?)
        }
        Task::SourceAt(task) => answer(&symbols::source(context, &task)?),
        Task::Code(task) => answer(&symbols::code(context, &task)?),
        Task::File(task) => {
            let (handed, file) = symbols::file(context, &task)?;
            context.handed.push(file);
            answer(&handed)
        }
        Task::Symbolize(task) => answer(&symbols::names(context, &task)?),
        Task::Live(task) => live::watch(context, &task),
        Task::LiveColumns => live::write(&context.worker.live, context.output()?),
        Task::Cancel(_) => answer(&()),
    }
}
