//! Where files of build-ids are, as the runs of this machine's recordings found them. What a file has is looked at anew
//! by whoever opens it.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;

use super::artefacts::Account;

/// Build-ids that are known at most.
const MOST: usize = 1 << 16;

/// Places of one at most.
const MOST_PLACES: usize = 8;

/// Files by build-id, as hexadecimal digits.
#[derive(Debug, Default)]
pub(crate) struct KnownFiles(Mutex<HashMap<String, Vec<PathBuf>>>);

impl KnownFiles {
    /// Takes in what an account names; nothing of recordings of strangers, who could name anything.
    pub(super) fn add(&self, account: &Account) {
        if account.foreign {
            return;
        }
        let mut known = self.lock();
        for used in &account.used {
            let Some(id) = &used.build_id else { continue };
            if known.len() >= MOST && !known.contains_key(id) {
                continue;
            }
            let places = known.entry_ref(id).or_default();
            let place = PathBuf::from(&used.path);
            if places.len() < MOST_PLACES && !places.contains(&place) {
                places.push(place);
            }
        }
    }

    /// Where the file of a build-id was.
    pub(crate) fn places(&self, id: &str) -> Vec<PathBuf> {
        self.lock().get(id).cloned().unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<PathBuf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
