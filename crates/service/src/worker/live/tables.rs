//! Tables of the live recording.

use std::sync::{Mutex, MutexGuard, PoisonError};

use formats::LivePage;

/// Tables of the live recording, and the number of the tick that they show.
#[derive(Debug, Default)]
pub(in crate::worker) struct LiveTables(Mutex<(LivePage, u64)>);

impl LiveTables {
    pub(super) fn lock(&self) -> MutexGuard<'_, (LivePage, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
