//! Observer of a run for a request: reports progress to the front, and checks for cancellation.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pipeline::{Observer, Stage};

use super::outbox::ReplySender;
use crate::protocol::WorkerEvent;

/// Number of samples between progress reports; gives several reports per second.
const STEP: u64 = 16_384;

/// Observer of a request's run.
pub(super) struct RunObserver {
    id: u64,
    outbox: Arc<ReplySender>,
    cancelled: Arc<AtomicBool>,
    expected: AtomicU64,
    told: AtomicU64,
}

impl fmt::Debug for RunObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("id", &self.id).finish_non_exhaustive()
    }
}

impl RunObserver {
    pub(super) fn new(id: u64, outbox: Arc<ReplySender>, cancelled: Arc<AtomicBool>) -> Self {
        let (expected, told) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { id, outbox, cancelled, expected, told }
    }
}

impl Observer for RunObserver {
    fn stage(&self, stage: Stage) {
        let name = match stage {
            Stage::Reading => "reading",
            Stage::Unwinding => "unwinding",
            Stage::Symbolizing => "symbolizing",
        };
        self.outbox.send(self.id, WorkerEvent::Stage(name.to_owned()));
    }

    fn expected(&self, samples: u64) {
        self.expected.store(samples, Ordering::Relaxed);
    }

    fn done(&self, samples: u64) {
        let told = self.told.load(Ordering::Relaxed);
        if samples < told || samples - told >= STEP {
            self.told.store(samples, Ordering::Relaxed);
            let expected = self.expected.load(Ordering::Relaxed).max(samples);
            self.outbox.send(self.id, WorkerEvent::Progress { done: samples, expected });
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
