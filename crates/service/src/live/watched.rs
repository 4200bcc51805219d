//! How the watching of a recording goes, as it is told by HTTP.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use host::NewFile;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::recent::Recent;
use crate::problem::{Kind, Problem};
use crate::protocol::{LiveChange, LiveNumbers, LiveTick};
use crate::recordings::PlaceId;

/// What a service is to watch.
#[derive(Debug)]
pub struct LiveInput {
    /// Where it comes from.
    pub stream: LiveStream,
    /// What it is called in messages.
    pub name: String,
    /// Samples that are older are forgotten; `None` for none.
    pub keep: Option<Duration>,
    /// Where the stream is kept; a file that is there is replaced at the end.
    pub copy: Option<PathBuf>,
    /// Tells the operator something, in a line.
    pub tell: fn(&str),
}

/// Where a recording comes from while it is made.
#[derive(Debug)]
pub enum LiveStream {
    /// What is open already.
    Open(OwnedFd),
    /// A FIFO, which is opened when somebody writes into it.
    Path(PathBuf),
}

/// How far the watching is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    /// Nothing has come yet.
    #[default]
    Waiting,
    /// Samples come.
    Running,
    /// The stream is at its end.
    Ended,
    /// It broke off.
    Failed,
}

/// How it goes.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct View {
    pub(crate) state: Phase,
    name: String,
    pub(crate) tick: u64,
    /// Seconds that samples are kept for.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep: Option<f64>,
    #[serde(flatten)]
    pub(crate) numbers: LiveNumbers,
    /// Processes of this service, which a recording of all processes has, too.
    processes: Vec<u32>,
    /// Where the recording is when it is kept and complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recording: Option<PlaceId>,
    /// The account of the run, at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) about: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Problem>,
}

impl View {
    /// Whether nothing more comes.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, Phase::Ended | Phase::Failed)
    }
}

/// A recording that is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    view: watch::Sender<View>,
    recent: Mutex<Recent>,
    /// The tables as they were at the end.
    last: Mutex<Option<NewFile>>,
    /// Whether the stream is kept.
    pub(crate) is_kept: bool,
}

impl Watched {
    pub(crate) fn new(input: &LiveInput) -> Self {
        let view = View {
            name: input.name.clone(),
            keep: input.keep.map(|keep| keep.as_secs_f64()),
            processes: vec![std::process::id()],
            ..View::default()
        };
        Self {
            view: watch::Sender::new(view),
            recent: Mutex::default(),
            last: Mutex::default(),
            is_kept: input.copy.is_some(),
        }
    }

    pub(crate) fn view(&self) -> View {
        self.view.borrow().clone()
    }

    /// Whether more can come.
    pub(crate) fn is_open(&self) -> bool {
        !self.view.borrow().is_over()
    }

    /// Follows it from now on.
    pub(crate) fn follow(&self) -> watch::Receiver<View> {
        self.view.subscribe()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut View)) {
        self.view.send_modify(change);
    }

    /// The worker that watches.
    pub(crate) fn add_process(&self, process: u32) {
        self.change(|view| view.processes.push(process));
    }

    /// Takes in what the worker told.
    pub(crate) fn add(&self, tick: LiveTick) {
        let LiveTick { tick, numbers, change } = tick;
        match change {
            LiveChange::None => {}
            LiveChange::Rows(rows) => self.recent().add(tick, Some(rows)),
            LiveChange::Anew => self.recent().add(tick, None),
        }
        self.change(|view| {
            view.state = Phase::Running;
            view.tick = tick;
            view.numbers = numbers;
        });
    }

    pub(crate) fn recent(&self) -> std::sync::MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file with the tables as they were at the end.
    pub(crate) fn last(&self) -> std::sync::MutexGuard<'_, Option<NewFile>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is said to those who ask for the recording before there is one.
    pub(crate) fn no_recording(&self) -> Problem {
        let problem = Problem::new(Kind::Gone);
        if self.is_kept {
            let problem = problem.detail("the recording is still being made");
            return problem.hint("GET /api/v1/live names it when it is complete");
        }
        problem
            .detail("what was watched is not kept; its tables are at /api/v1/live/columns")
            .hint("unwind-perf live -o KEEP.perf keeps it: formats, questions and differences are then answered as for every recording")
    }
}
