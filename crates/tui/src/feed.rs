//! The input of the view: profiles, and access to source and machine code.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use address::ModuleId;
use profile::Profile;

/// An instruction of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address, in the address space of the module's kind.
    pub address: u64,
    /// Its length in bytes.
    pub len: u8,
    /// Its text.
    pub text: String,
}

/// Access to the source files and the machine code of a profile.
pub trait Code: Send {
    /// Returns the text of a source file, by its name in debug information; `None` if it is not found.
    fn source(&self, file: &[u8]) -> Option<Vec<u8>>;

    /// Returns the instructions of the function that starts at an address of a module.
    ///
    /// # Errors
    /// Returns the reason if they cannot be had.
    fn instructions(&self, module: ModuleId, start: u64) -> Result<Vec<Instruction>, String>;
}

impl fmt::Debug for dyn Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

/// An update of the view.
#[derive(Debug)]
pub enum Update {
    /// A line on the progress of the run; empty if it ended.
    Progress(String),
    /// A profile that replaces the previous one.
    Profile(Box<Profile>),
    /// Access to source and machine code.
    Code(Box<dyn Code>),
    /// The run ended; nothing more follows.
    Ended,
}

/// The sending end of a view's input, for the thread that reads the recording.
#[derive(Clone, Debug)]
pub struct Feed {
    updates: Sender<Update>,
    state: Arc<FeedState>,
}

/// The receiving end of a [`Feed`].
#[derive(Debug)]
pub struct Input {
    pub(crate) updates: Receiver<Update>,
    pub(crate) state: Arc<FeedState>,
}

#[derive(Debug, Default)]
pub(crate) struct FeedState {
    /// Whether a profile is being prepared, or the pause after that lasts.
    is_busy: AtomicBool,
    is_closed: AtomicBool,
}

impl Feed {
    /// Returns the two ends of an input.
    #[must_use]
    pub fn new() -> (Self, Input) {
        let (sender, updates) = channel();
        let state = Arc::new(FeedState::default());
        (Self { updates: sender, state: Arc::clone(&state) }, Input { updates, state })
    }

    /// Sends an update; nothing happens if the view was closed.
    pub fn send(&self, update: Update) {
        if matches!(update, Update::Profile(_)) {
            self.state.is_busy.store(true, Ordering::Relaxed);
        }
        let _ = self.updates.send(update);
    }

    /// Returns true if the view takes another profile of a growing recording. It prepares one at a time.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.state.is_busy.load(Ordering::Relaxed)
    }

    /// Returns true once the user closed the view.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.is_closed.load(Ordering::Relaxed)
    }
}

impl FeedState {
    /// The last profile is prepared, and the pause after that is over.
    pub(crate) fn ready(&self) {
        self.is_busy.store(false, Ordering::Relaxed);
    }

    /// The user closed the view.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }
}
