//! Background analysis of this host's recordings, newest first, so that the list has their samples and completeness
//! without a request. It runs in its own worker of low priority, and only while no other job waits or runs.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashbrown::HashSet;
use tokio::sync::Notify;

use super::service::Service;
use crate::jobs::{Job, JobState};
use crate::problem::ProblemKind;
use crate::protocol::RunOptions;
use crate::recordings::{Recording, RecordingId};
use crate::workers::WorkerSlot;

/// Maximum number of recordings that are analysed without a request.
pub(crate) const BACKGROUND: usize = 50;

/// Interval of checks for the end of other jobs.
const PAUSE: Duration = Duration::from_millis(200);

/// Time without a change after which a recording counts as complete.
const SETTLED: Duration = Duration::from_secs(5);

/// State of the background analysis.
#[derive(Debug)]
pub(crate) struct Background {
    pub(crate) enabled: bool,
    pub(crate) worker: WorkerSlot,
    current: Mutex<Option<Current>>,
    /// Notified when clients list recordings, since new ones may exist.
    listed: Notify,
    analyzed: AtomicUsize,
    waiting: AtomicUsize,
}

/// The running job.
#[derive(Debug)]
struct Current {
    job: Arc<Job>,
    /// True if a user requested its result, too.
    is_wanted: bool,
    /// True if it was cancelled for another job and must be repeated.
    gave_way: bool,
}

impl Background {
    pub(crate) fn new(enabled: bool, worker: WorkerSlot) -> Self {
        Self {
            enabled,
            worker,
            current: Mutex::default(),
            listed: Notify::new(),
            analyzed: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Returns the numbers of analysed and of waiting recordings.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [&self.analyzed, &self.waiting].map(|count| count.load(Ordering::Relaxed))
    }

    /// Looks for new recordings.
    pub(crate) fn look(&self) {
        self.listed.notify_one();
    }

    /// Gives way to a user's request for the result of that key: cancels another job, which is repeated later.
    pub(super) fn give_way(&self, key: &str) {
        let mut current = self.current();
        let Some(current) = current.as_mut() else { return };
        if current.job.key == key {
            current.is_wanted = true;
        } else if !current.is_wanted {
            current.gave_way = true;
            current.job.cancel();
        }
    }

    fn current(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Analyses the newest recordings until the service stops.
pub(crate) async fn analyze_in_background(service: Arc<Service>) {
    let background = &service.background;
    let mut tried: HashSet<String> = HashSet::new();
    loop {
        let Newest { mut queue, keys, is_growing } = newest(&service, &tried).await;
        tried.retain(|key| keys.contains(key));
        while has_room(&service) {
            background.waiting.store(queue.len(), Ordering::Relaxed);
            let Some(id) = queue.front() else { break };
            idle(&service).await;
            if *service.stopping.borrow() {
                return;
            }
            if let Some(key) = analyze(&service, id).await {
                tried.insert(key);
                queue.pop_front();
            }
        }
        background.waiting.store(0, Ordering::Relaxed);
        // Its memory is returned.
        background.worker.end();
        let listed = background.listed.notified();
        if is_growing {
            let _ = tokio::time::timeout(SETTLED, listed).await;
        } else {
            listed.await;
        }
    }
}

/// The newest recordings of this host.
#[derive(Debug, Default)]
struct Newest {
    /// Those without a result that was not tried yet, newest first.
    queue: VecDeque<RecordingId>,
    /// The keys of all of them.
    keys: HashSet<String>,
    /// True if one of them is still being written.
    is_growing: bool,
}

/// Lists the newest recordings, without those in `tried` in the queue.
async fn newest(service: &Arc<Service>, tried: &HashSet<String>) -> Newest {
    let (service, tried) = (Arc::clone(service), tried.clone());
    let listed = tokio::task::spawn_blocking(move || {
        let mut own = service.roots.list();
        own.retain(|it| !it.foreign);
        own.sort_by_key(|it| Reverse(it.stamp.modified));
        own.truncate(BACKGROUND);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // A time in the future is that of another machine.
        let is_settled = |it: &Recording| {
            let age = now.as_nanos() as i128 - it.stamp.modified;
            age < 0 || age >= SETTLED.as_nanos() as i128
        };
        let mut newest = Newest::default();
        for it in own {
            let key = it.key(&RunOptions::default());
            let is_new =
                !tried.contains(&key) && service.store.look_up(&key, &*service.host).is_none();
            if is_new && is_settled(&it) {
                newest.queue.push_back(it.id);
            } else if is_new {
                newest.is_growing = true;
            }
            newest.keys.insert(key);
        }
        newest
    });
    listed.await.unwrap_or_default()
}

/// Returns true while half of the store is free for results that users request.
fn has_room(service: &Service) -> bool {
    service.store.size().bytes <= service.store.most() / 2
}

/// Waits until no job runs or waits.
async fn idle(service: &Service) {
    loop {
        let counts = service.jobs.counts();
        if counts.queued + counts.running == 0 || *service.stopping.borrow() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Analyses a recording, and returns its key; `None` if the job gave way and must be repeated.
async fn analyze(service: &Arc<Service>, id: &RecordingId) -> Option<String> {
    // A removed recording needs no analysis.
    let Ok(opened) = service.roots.by_id(id.as_str()) else { return Some(id.as_str().to_owned()) };
    let key = opened.recording.key(&RunOptions::default());
    if service.store.look_up(&key, &*service.host).is_some() {
        return Some(key);
    }
    let Ok(job) = service.submit_in_background(&opened) else { return Some(key) };
    drop(opened);
    let current = Current { job: Arc::clone(&job), is_wanted: false, gave_way: false };
    *service.background.current() = Some(current);
    let mut states = job.watch();
    let state = states.wait_for(|state| state.is_over()).await.map(|state| state.clone());
    let gave_way = service.background.current().take().is_some_and(|current| current.gave_way);
    match state {
        Ok(JobState::Done { .. }) => {
            service.background.analyzed.fetch_add(1, Ordering::Relaxed);
            Some(key)
        }
        Ok(JobState::Failed { problem }) if gave_way && problem.is(ProblemKind::Cancelled) => None,
        _ => Some(key),
    }
}
