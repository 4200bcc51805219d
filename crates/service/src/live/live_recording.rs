//! State of a live recording, as served over HTTP.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use host::NewFile;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::recent_changes::RecentChanges;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{LiveChange, LiveNumbers, LiveTick};
use crate::recordings::RecordingId;

/// Live recording to follow.
#[derive(Debug)]
pub struct LiveInput {
    /// Source of the recording.
    pub stream: LiveStream,
    /// Name in messages.
    pub name: String,
    /// Age after which samples are discarded; `None` to retain all.
    pub max_age: Option<Duration>,
    /// Path of a copy of the stream; an existing file is replaced at the end.
    pub copy: Option<PathBuf>,
    /// Prints a one-line message for the operator.
    pub report: fn(&str),
}

/// Source of a live recording.
#[derive(Debug)]
pub enum LiveStream {
    /// Descriptor that is already open.
    Open(OwnedFd),
    /// FIFO; opening it waits for a writer.
    Path(PathBuf),
}

/// Phase of a live recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    /// No data have arrived.
    #[default]
    Waiting,
    /// Samples are arriving.
    Running,
    /// The stream has ended.
    Ended,
    /// The run failed.
    Failed,
}

/// Published state.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct LiveView {
    pub(crate) state: Phase,
    name: String,
    pub(crate) tick: u64,
    /// Age limit of retained samples, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep: Option<f64>,
    #[serde(flatten)]
    pub(crate) numbers: LiveNumbers,
    /// Process ids of this service; a system-wide recording contains them, too.
    processes: Vec<u32>,
    /// Id of the copied recording, once it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recording: Option<RecordingId>,
    /// Account of the run, at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Problem>,
}

impl LiveView {
    /// Returns true if there will be no further changes.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, Phase::Ended | Phase::Failed)
    }
}

/// Time within which a signal reaches all processes of a terminal: the producer may end its stream first.
const SHARED_SIGNAL: Duration = Duration::from_secs(1);

/// Live recording.
#[derive(Debug)]
pub(crate) struct LiveRecording {
    view: watch::Sender<LiveView>,
    recent: Mutex<RecentChanges>,
    /// Final tables.
    last: Mutex<Option<NewFile>>,
    /// Time of the last change.
    over: OnceLock<Instant>,
    /// True if the stream is copied to a file.
    pub(crate) is_kept: bool,
}

impl LiveRecording {
    pub(crate) fn new(input: &LiveInput) -> Self {
        let view = LiveView {
            name: input.name.clone(),
            keep: input.max_age.map(|age| age.as_secs_f64()),
            processes: vec![std::process::id()],
            ..LiveView::default()
        };
        Self {
            view: watch::Sender::new(view),
            recent: Mutex::default(),
            last: Mutex::default(),
            over: OnceLock::new(),
            is_kept: input.copy.is_some(),
        }
    }

    pub(crate) fn view(&self) -> LiveView {
        self.view.borrow().clone()
    }

    /// Returns true if a signal may be meant for the producer: the recording is open, or has just ended.
    pub(crate) fn shares_signals(&self) -> bool {
        self.over.get().is_none_or(|over| over.elapsed() < SHARED_SIGNAL)
    }

    /// Returns a receiver of state changes.
    pub(crate) fn follow(&self) -> watch::Receiver<LiveView> {
        self.view.subscribe()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut LiveView)) {
        self.view.send_modify(change);
        if self.view.borrow().is_over() {
            self.over.get_or_init(Instant::now);
        }
    }

    /// Adds the process id of the worker.
    pub(crate) fn add_process(&self, process: u32) {
        self.change(|view| view.processes.push(process));
    }

    /// Applies an update of the worker.
    pub(crate) fn add(&self, tick: LiveTick) {
        let LiveTick { tick, numbers, change } = tick;
        match change {
            LiveChange::None => {}
            LiveChange::Rows(rows) => self.recent().add(tick, Some(rows)),
            LiveChange::FromScratch => self.recent().add(tick, None),
        }
        self.change(|view| {
            view.state = Phase::Running;
            view.tick = tick;
            view.numbers = numbers;
        });
    }

    pub(crate) fn recent(&self) -> std::sync::MutexGuard<'_, RecentChanges> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// File with the final tables.
    pub(crate) fn last(&self) -> std::sync::MutexGuard<'_, Option<NewFile>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the problem for requests of the recording while it is incomplete or not stored.
    pub(crate) fn no_recording(&self) -> Problem {
        let problem = Problem::new(ProblemKind::Gone);
        if self.is_kept {
            let problem = problem.detail("the recording is still being made");
            return problem.hint("GET /api/v1/live names it when it is complete");
        }
        problem
            .detail("the watched samples are not kept; their tables are at /api/v1/live/columns")
            .hint("unwind-perf live -o KEEP.perf keeps it: then it has formats, queries and differences as every recording")
    }
}
