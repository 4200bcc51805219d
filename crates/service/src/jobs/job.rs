//! Job: the recording that it analyses, and its progress.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::{Notify, watch};

use crate::problem::Problem;
use crate::protocol::RunOptions;
use crate::recordings::RecordingId;

/// Job of analysing one recording.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    /// Key of the stored result.
    pub(crate) key: String,
    pub(crate) recording: RecordingId,
    pub(crate) options: RunOptions,
    pub(crate) foreign: bool,
    /// True if no user requested it.
    pub(crate) background: bool,
    state: watch::Sender<JobState>,
    cancelled: Arc<Notify>,
}

/// State of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub(crate) enum JobState {
    /// Other jobs are before it in the queue.
    Queued,
    /// The worker is running it.
    Running(Progress),
    /// The result is stored.
    Done {
        /// Run time in seconds.
        seconds: f64,
    },
    /// The job failed.
    Failed {
        /// Cause of the failure.
        problem: Problem,
    },
}

/// Progress of a running job.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Progress {
    /// Current stage: `reading`, `unwinding` or `symbolizing`.
    pub(crate) stage: String,
    /// Number of unwound samples.
    pub(crate) samples: u64,
    /// Expected total number of samples.
    pub(crate) expected: u64,
}

impl JobState {
    /// Returns true if the state is final.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::Failed { .. })
    }
}

/// JSON form of a job.
#[derive(Debug, Serialize)]
pub(crate) struct JobView {
    id: String,
    recording: RecordingId,
    #[serde(flatten)]
    state: JobState,
}

impl Job {
    pub(super) fn new(
        number: u64,
        key: String,
        recording: RecordingId,
        options: RunOptions,
        foreign: bool,
        background: bool,
    ) -> Self {
        // The start time makes ids differ from those of earlier starts of the service.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis());
        Self {
            id: format!("{since:x}-{number}"),
            key,
            recording,
            options,
            foreign,
            background,
            state: watch::Sender::new(JobState::Queued),
            cancelled: Arc::new(Notify::new()),
        }
    }

    pub(crate) fn state(&self) -> JobState {
        self.state.borrow().clone()
    }

    /// Returns a receiver of state changes.
    pub(crate) fn watch(&self) -> watch::Receiver<JobState> {
        self.state.subscribe()
    }

    pub(crate) fn view(&self) -> JobView {
        self.view_of(self.state())
    }

    pub(crate) fn view_of(&self, state: JobState) -> JobView {
        JobView { id: self.id.clone(), recording: self.recording.clone(), state }
    }

    /// Requests the cancellation of the job.
    pub(crate) fn cancel(&self) {
        self.cancelled.notify_one();
    }

    /// Waits for a request to cancel the job.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }

    /// Sets the state, unless the current one is final.
    pub(crate) fn set(&self, state: JobState) {
        self.state.send_if_modified(|current| {
            if current.is_over() {
                return false;
            }
            *current = state;
            true
        });
    }
}
