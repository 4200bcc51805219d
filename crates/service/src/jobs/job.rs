//! A job: what it is about, and how far it is.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::{Notify, watch};

use crate::problem::Problem;
use crate::protocol::RunOptions;
use crate::recordings::PlaceId;

/// What is known of a job.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    /// What its result is kept under.
    pub(crate) key: String,
    pub(crate) recording: PlaceId,
    pub(crate) options: RunOptions,
    pub(crate) foreign: bool,
    state: watch::Sender<JobState>,
    cancelled: Arc<Notify>,
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub(crate) enum JobState {
    /// Others are before it.
    Queued,
    /// The worker is at it.
    Running(Progress),
    /// The result is there.
    Done {
        /// For how long it ran, in seconds.
        seconds: f64,
    },
    /// There is no result.
    Failed {
        /// Why.
        problem: Problem,
    },
}

/// How far the worker is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Progress {
    /// What it does: `reading`, `unwinding` or `symbolizing`.
    pub(crate) stage: String,
    /// Samples that are unwound.
    pub(crate) samples: u64,
    /// Samples that there will be.
    pub(crate) expected: u64,
}

impl JobState {
    /// Whether it will not change any more.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::Failed { .. })
    }
}

/// A job as it is told by HTTP.
#[derive(Debug, Serialize)]
pub(crate) struct JobView {
    id: String,
    recording: PlaceId,
    #[serde(flatten)]
    state: JobState,
}

impl Job {
    pub(super) fn new(
        number: u64,
        key: String,
        recording: PlaceId,
        options: RunOptions,
        foreign: bool,
    ) -> Self {
        // Ids of an earlier start of the service are not ids of this one.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis());
        Self {
            id: format!("{since:x}-{number}"),
            key,
            recording,
            options,
            foreign,
            state: watch::Sender::new(JobState::Queued),
            cancelled: Arc::new(Notify::new()),
        }
    }

    pub(crate) fn state(&self) -> JobState {
        self.state.borrow().clone()
    }

    /// Follows the state from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<JobState> {
        self.state.subscribe()
    }

    pub(crate) fn view(&self) -> JobView {
        self.view_of(self.state())
    }

    pub(crate) fn view_of(&self, state: JobState) -> JobView {
        JobView { id: self.id.clone(), recording: self.recording.clone(), state }
    }

    /// Nobody wants it any more.
    pub(crate) fn cancel(&self) {
        self.cancelled.notify_one();
    }

    /// Waits until nobody wants it any more.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }

    /// Sets the state, unless it is over.
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
