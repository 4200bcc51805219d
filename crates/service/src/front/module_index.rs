//! Files by build-id of recordings that were not analysed yet, for debuginfod clients. Their maps are read, not their
//! stacks.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hashbrown::HashSet;

use super::service::{PATIENCE, Service, files};
use crate::protocol::{RunOptions, Task};
use crate::recordings::{Recording, RecordingId};

/// Maximum number of recordings whose maps are read, newest first.
const MOST: usize = 1000;

/// Minimum time between two searches for new recordings.
const PAUSE: Duration = Duration::from_secs(2);

/// The recordings whose files are known.
#[derive(Debug, Default)]
pub(crate) struct ModuleIndex {
    /// Keys of the recordings that were read, or could not be.
    known: Mutex<HashSet<String>>,
    /// Locked by the search in progress; the end of the last one.
    turn: tokio::sync::Mutex<Option<Instant>>,
}

impl ModuleIndex {
    fn is_known(&self, key: &str) -> bool {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    fn add(&self, key: String) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    }
}

/// Learns the files of new recordings of this host. Returns after the usual patience at the latest; the search goes on.
pub(crate) async fn learn_modules(service: &Arc<Service>) {
    let searching = Arc::clone(service);
    let search = tokio::spawn(async move { search(&searching).await });
    let _ = tokio::time::timeout(PATIENCE, search).await;
}

async fn search(service: &Arc<Service>) {
    let mut last = service.modules.turn.lock().await;
    if last.is_some_and(|end| end.elapsed() < PAUSE) {
        return;
    }
    for (id, key) in unknown(service).await {
        if *service.stopping.borrow() {
            return;
        }
        learn(service, &id).await;
        service.modules.add(key);
    }
    *last = Some(Instant::now());
}

/// Returns the newest recordings of this host that are unknown and have no result.
async fn unknown(service: &Arc<Service>) -> Vec<(RecordingId, String)> {
    let service = Arc::clone(service);
    let listed = tokio::task::spawn_blocking(move || {
        let mut own = service.roots.list();
        own.retain(|it| !it.foreign);
        own.sort_by_key(|it| Reverse(it.stamp.modified));
        own.truncate(MOST);
        let keyed = own.into_iter().map(|it| (it.key(&RunOptions::default()), it));
        let is_new = |(key, _): &(String, Recording)| {
            !service.modules.is_known(key) && service.store.look_up(key, &*service.host).is_none()
        };
        keyed.filter(is_new).map(|(key, it)| (it.id, key)).collect()
    });
    listed.await.unwrap_or_default()
}

/// Learns the files of a recording; one that cannot be read has none.
async fn learn(service: &Service, id: &RecordingId) {
    let options = RunOptions::default();
    let task = || {
        let opened = service.roots.by_id(id.as_str())?;
        Ok((Task::Modules(opened.recording_ref(&options)), files(opened, None)))
    };
    let Ok(answer) = service.request(false, task).await else { return };
    let found: Vec<(String, PathBuf)> = serde_json::from_str(answer.get()).unwrap_or_default();
    for (build_id, path) in found {
        service.store.file_paths().learn(&build_id, path);
    }
}
