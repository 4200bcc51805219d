//! The front as one value: recordings, results, jobs and workers.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{Host, NewFile};
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::{Answers, Background, Metrics, ModuleIndex, RequestLog, Secrets, Uploads};
use crate::jobs::{Job, JobState, Jobs, Progress};
use crate::live::LiveRecording;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{RecordingRef, RunOptions, Task, WorkerEvent};
use crate::recordings::{Opened, Recording, RecordingId, Roots};
use crate::store::{Account, Artefact, Artefacts, HeaderCache};
use crate::workers::{Incoming, WorkerSlot};

/// Maximum number of concurrent queries to the workers.
pub(crate) const QUESTIONS: usize = 16;

/// Maximum number of waiting jobs.
pub(crate) const QUEUE: usize = 16;

/// Maximum number of concurrent listeners for events.
pub(crate) const LISTENERS: usize = 32;

/// Maximum time that a query waits for a worker.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// State of the front.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) roots: Roots,
    pub(crate) store: Artefacts,
    /// Cached answers to queries about recordings.
    pub(crate) answers: Answers,
    pub(crate) jobs: Jobs,
    pub(crate) local: WorkerSlot,
    pub(crate) foreign: WorkerSlot,
    /// Worker of the live recording; it is separate, so that a crash affects no other request.
    pub(crate) watcher: WorkerSlot,
    pub(crate) background: Background,
    /// Live recording, if there is one.
    pub(crate) live: Option<Arc<LiveRecording>>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) secrets: Secrets,
    pub(crate) metrics: Metrics,
    pub(crate) uploads: Option<Uploads>,
    /// Files of recordings without a result.
    pub(crate) modules: ModuleIndex,
    /// Cached headers of recordings.
    pub(crate) headers: HeaderCache,
    pub(crate) logs: RequestLog,
    /// Maximum duration of a job.
    pub(crate) deadline: Duration,
    pub(crate) questions: Semaphore,
    /// Permits for listeners of events.
    pub(crate) listeners: Arc<Semaphore>,
    /// Start time of the service.
    pub(crate) began: Instant,
    pub(crate) stopping: tokio::sync::watch::Sender<bool>,
}

/// Outcome of one attempt at a job.
enum Attempt {
    /// The worker wrote the tables; holds the account of the run.
    Done(Box<RawValue>),
    /// The worker ended; `began` is true if it had started the job.
    Ended { how: String, began: bool },
}

impl Service {
    /// Returns the semaphore that bounds concurrent queries.
    pub(crate) const fn questions() -> Semaphore {
        Semaphore::const_new(QUESTIONS)
    }

    /// Prevents new work from starting and cancels running jobs.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
        self.jobs.stop();
        self.questions.close();
    }

    /// Terminates the workers.
    pub(crate) fn end_workers(&self) {
        let workers = [&self.local, &self.foreign, &self.watcher, &self.background.worker];
        workers.into_iter().for_each(WorkerSlot::end);
    }

    /// Returns the worker for trusted or untrusted recordings.
    fn slot(&self, foreign: bool) -> &WorkerSlot {
        if foreign { &self.foreign } else { &self.local }
    }

    /// Returns the stored result for a recording in its current state.
    pub(crate) fn artefact(&self, opened: &Opened, options: &RunOptions) -> Option<Artefact> {
        let found = self.store.get(&opened.recording.key(options), &*self.host);
        self.metrics.cache(found.is_some());
        found
    }

    /// Returns the job that produces the result for a recording, and starts it if necessary.
    pub(crate) fn submit(
        self: &Arc<Self>,
        opened: &Opened,
        options: RunOptions,
    ) -> Result<Arc<Job>, Problem> {
        self.background.give_way(&opened.recording.key(&options));
        self.submit_job(opened, options, false)
    }

    /// Like `submit`, for the background analysis.
    pub(super) fn submit_in_background(
        self: &Arc<Self>,
        opened: &Opened,
    ) -> Result<Arc<Job>, Problem> {
        self.submit_job(opened, RunOptions::default(), true)
    }

    fn submit_job(
        self: &Arc<Self>,
        opened: &Opened,
        options: RunOptions,
        background: bool,
    ) -> Result<Arc<Job>, Problem> {
        let Recording { id, foreign, .. } = &opened.recording;
        let key = opened.recording.key(&options);
        let (job, is_new) = self.jobs.submit(&key, id, options, *foreign, background)?;
        if is_new {
            let (service, job) = (Arc::clone(self), Arc::clone(&job));
            tokio::spawn(async move { service.run(&job).await });
        }
        Ok(job)
    }

    async fn run(&self, job: &Job) {
        let began = Instant::now();
        let outcome = tokio::select! {
            outcome = self.analyze(job) => outcome,
            () = job.cancelled() => Err(Problem::new(ProblemKind::Cancelled)),
        };
        let seconds = began.elapsed().as_secs_f64();
        // A background job that gives way is repeated.
        let gives_way = outcome.as_ref().is_err_and(|it| it.is(ProblemKind::Cancelled));
        if !(job.background && gives_way) {
            self.metrics.job(outcome.is_ok(), seconds);
        }
        let is_refused = outcome.as_ref().is_err_and(|it| it.is(ProblemKind::NotARecording));
        if is_refused && job.foreign {
            self.remove_upload(&job.recording);
        }
        job.set(match outcome {
            Ok(()) => JobState::Done { seconds },
            Err(problem) => JobState::Failed { problem },
        });
    }

    /// Removes an upload that cannot be read.
    fn remove_upload(&self, id: &RecordingId) {
        if let (Some(uploads), Ok(opened)) = (&self.uploads, self.roots.by_id(id.as_str())) {
            uploads.remove(&opened.recording.name);
        }
    }

    /// Produces the result of a job.
    async fn analyze(&self, job: &Job) -> Result<(), Problem> {
        let _turn = self.jobs.turn().await?;
        job.set(JobState::Running(Progress::default()));
        let tables = self.store.begin(&job.key).map_err(|error| no_space(&error))?;
        let end = tokio::time::Instant::now() + self.deadline;
        let account = match self.attempt(job, &tables, end).await? {
            Attempt::Done(account) => account,
            // The worker ended before it started this job, so another attempt may succeed.
            Attempt::Ended { began: false, .. } => match self.attempt(job, &tables, end).await? {
                Attempt::Done(account) => account,
                Attempt::Ended { how, .. } => return Err(self.ended(&how)),
            },
            Attempt::Ended { how, .. } => return Err(self.ended(&how)),
        };
        let account: Account = serde_json::from_str(account.get())
            .map_err(|error| Problem::new(ProblemKind::Internal).detail(error.to_string()))?;
        let account = Account { foreign: job.foreign, ..account };
        let complete = self.store.complete(&job.key, tables, &account);
        complete.map_err(|error| no_space(&error))
    }

    /// Runs a job in a worker.
    async fn attempt(
        &self,
        job: &Job,
        tables: &NewFile,
        end: tokio::time::Instant,
    ) -> Result<Attempt, Problem> {
        let opened = self.roots.by_id(job.recording.as_str())?;
        let recording = opened.recording_ref(&job.options);
        if recording.key != job.key {
            let text = "it changed while the job waited; repeat the request";
            return Err(Problem::new(ProblemKind::Changed).detail(text));
        }
        let copy = tables.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?;
        let files = files(opened, Some(copy));
        let task = Task::Analyze { recording, options: job.options.clone() };
        let slot = if job.background { &self.background.worker } else { self.slot(job.foreign) };
        let mut call = slot.call(task, files)?;
        let mut progress = Progress::default();
        let mut began = false;
        loop {
            let Ok(incoming) = tokio::time::timeout_at(end, call.next()).await else {
                call.kill();
                let text = format!("more than {} s", self.deadline.as_secs());
                return Err(Problem::new(ProblemKind::Deadline).detail(text));
            };
            match incoming {
                Incoming::Event(WorkerEvent::Done(account), _) => {
                    return Ok(Attempt::Done(account));
                }
                Incoming::Event(WorkerEvent::Failed(problem), _) => {
                    return Err(self.roots.named(problem));
                }
                Incoming::Event(WorkerEvent::Stage(stage), _) => progress.stage = stage,
                Incoming::Event(WorkerEvent::Progress { done, expected }, _) => {
                    (progress.samples, progress.expected) = (done, expected);
                }
                Incoming::Event(WorkerEvent::Live(_), _) => {}
                Incoming::Ended(how) => return Ok(Attempt::Ended { how, began }),
            }
            began = true;
            job.set(JobState::Running(progress.clone()));
        }
    }

    /// Sends a query to the worker. Retries once if the worker ended meanwhile, since another job may have crashed it.
    pub(crate) async fn request(
        &self,
        foreign: bool,
        task: impl Fn() -> Result<(Task, Vec<OwnedFd>), Problem>,
    ) -> Result<Box<RawValue>, Problem> {
        Ok(self.request_files(foreign, task).await?.0)
    }

    /// Like `ask`, and returns the descriptors that come with the answer.
    pub(crate) async fn request_files(
        &self,
        foreign: bool,
        task: impl Fn() -> Result<(Task, Vec<OwnedFd>), Problem>,
    ) -> Result<(Box<RawValue>, Vec<OwnedFd>), Problem> {
        let turn = tokio::time::timeout(PATIENCE, self.questions.acquire()).await;
        let _turn = match turn {
            Ok(Ok(turn)) => turn,
            Ok(Err(_)) => return Err(Problem::new(ProblemKind::Stopping)),
            Err(_) => return Err(Problem::new(ProblemKind::Busy).detail("too many questions")),
        };
        let mut outcome = self.request_once(foreign, &task).await;
        if outcome.as_ref().is_err_and(|problem| problem.is(ProblemKind::WorkerEnded)) {
            outcome = self.request_once(foreign, &task).await;
        }
        outcome
    }

    async fn request_once(
        &self,
        foreign: bool,
        task: &impl Fn() -> Result<(Task, Vec<OwnedFd>), Problem>,
    ) -> Result<(Box<RawValue>, Vec<OwnedFd>), Problem> {
        let (task, files) = task()?;
        let mut call = self.slot(foreign).call(task, files)?;
        match tokio::time::timeout(self.deadline, call.answer()).await {
            Ok(answer) => answer.map_err(|problem| self.roots.named(problem)),
            Err(_) => {
                call.kill();
                Err(Problem::new(ProblemKind::Deadline))
            }
        }
    }

    fn ended(&self, how: &str) -> Problem {
        self.metrics.worker_ended();
        Problem::new(ProblemKind::WorkerEnded)
            .detail(how)
            .hint("the recording may be crafted to break readers; the service continues")
    }
}

/// Returns the descriptors of a task: the recording, unless it is a folder, and the output.
pub(crate) fn files(opened: Opened, output: Option<OwnedFd>) -> Vec<OwnedFd> {
    let recording = (!opened.recording.is_folder).then_some(opened.file);
    recording.into_iter().chain(output).collect()
}

/// Returns the worker's descriptions of recordings, and their descriptors.
pub(crate) fn recording_refs(
    all: Vec<Opened>,
    options: &RunOptions,
) -> (Vec<RecordingRef>, Vec<OwnedFd>) {
    let told = all.iter().map(|opened| opened.recording_ref(options)).collect();
    let files = all.into_iter().flat_map(|opened| files(opened, None)).collect();
    (told, files)
}

/// Returns the problem for a result that cannot be written.
pub(crate) fn no_space(error: &io::Error) -> Problem {
    Problem::new(ProblemKind::NoSpace).detail(error.to_string())
}
