//! Signals that should end this process while probes exist. Until perf gets them, they are only noted: probes would
//! remain otherwise.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Noted signals.
pub(super) struct HeldSignals {
    came: Arc<AtomicBool>,
    actions: Vec<SigId>,
}

impl HeldSignals {
    /// From now on signals do not end this process.
    pub(super) fn hold() -> io::Result<Self> {
        let mut held = Self { came: Arc::default(), actions: Vec::new() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            held.actions.push(signal_hook::flag::register(signal, Arc::clone(&held.came))?);
        }
        Ok(held)
    }

    /// Returns true if a signal came.
    pub(super) fn came(&self) -> bool {
        self.came.load(Ordering::SeqCst)
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        for action in self.actions.drain(..) {
            signal_hook::low_level::unregister(action);
        }
    }
}
