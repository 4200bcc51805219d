//! Job queue. A request that equals a waiting or running job returns that job.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::job::{Job, JobState};
use crate::problem::{Problem, ProblemKind};
use crate::protocol::RunOptions;
use crate::recordings::RecordingId;

/// Maximum number of finished jobs that are retained.
const REMEMBERED: usize = 1000;

/// Waiting, running and finished jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    all: Mutex<VecDeque<Arc<Job>>>,
    /// Permit to run: one job runs at a time, on all processors.
    turn: Semaphore,
    most_waiting: usize,
    numbers: AtomicU64,
    refused: AtomicU64,
}

/// Numbers of jobs by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JobCounts {
    pub(crate) queued: u64,
    pub(crate) running: u64,
    /// Since the start of the service.
    pub(crate) begun: u64,
    /// Refused because the queue was full.
    pub(crate) refused: u64,
}

impl Jobs {
    pub(crate) fn new(most_waiting: usize) -> Self {
        Self {
            all: Mutex::default(),
            turn: Semaphore::new(1),
            most_waiting,
            numbers: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Returns the job for a key, and true if it is new and must be run.
    ///
    /// # Errors
    /// If too many jobs are waiting.
    pub(crate) fn submit(
        &self,
        key: &str,
        recording: &RecordingId,
        options: RunOptions,
        foreign: bool,
        background: bool,
    ) -> Result<(Arc<Job>, bool), Problem> {
        let mut all = self.lock();
        let is_open = |job: &&Arc<Job>| job.key == key && !job.state().is_over();
        if let Some(job) = all.iter().find(is_open) {
            return Ok((Arc::clone(job), false));
        }
        let waiting = all.iter().filter(|job| job.state() == JobState::Queued).count();
        if waiting >= self.most_waiting {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let text = format!("{waiting} jobs are waiting");
            return Err(Problem::new(ProblemKind::Busy)
                .detail(text)
                .hint("try again in a few seconds"));
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let job = Job::new(number, key.to_owned(), recording.clone(), options, foreign, background);
        let job = Arc::new(job);
        all.push_back(Arc::clone(&job));
        let over = |job: &Arc<Job>| job.state().is_over();
        while all.len() > REMEMBERED && all.front().is_some_and(over) {
            all.pop_front();
        }
        Ok((job, true))
    }

    /// Returns the job with that id.
    ///
    /// # Errors
    /// If there is none, or it is no longer retained.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<Job>, Problem> {
        let missing = || Problem::new(ProblemKind::NotFound).detail("there is no job of that id");
        self.lock().iter().find(|job| job.id == id).cloned().ok_or_else(missing)
    }

    /// Returns the unfinished job for a recording.
    pub(crate) fn of(&self, recording: &RecordingId) -> Option<Arc<Job>> {
        let all = self.lock();
        let open = |job: &&Arc<Job>| job.recording == *recording && !job.state().is_over();
        all.iter().find(open).cloned()
    }

    /// Waits until a job may run.
    ///
    /// # Errors
    /// If the service is stopping.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, Problem> {
        self.turn.acquire().await.map_err(|_| Problem::new(ProblemKind::Stopping))
    }

    /// Prevents further jobs from running, and cancels the unfinished ones.
    pub(crate) fn stop(&self) {
        self.turn.close();
        for job in self.lock().iter().filter(|job| !job.state().is_over()) {
            job.cancel();
        }
    }

    pub(crate) fn counts(&self) -> JobCounts {
        let all = self.lock();
        let count = |wanted: fn(&JobState) -> bool| {
            all.iter().filter(|job| wanted(&job.state())).count() as u64
        };
        JobCounts {
            queued: count(|state| matches!(state, JobState::Queued)),
            running: count(|state| matches!(state, JobState::Running(_))),
            begun: self.numbers.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_job_is_done_once_and_the_queue_has_an_end() {
        let jobs = Jobs::new(2);
        let place = RecordingId::new("/srv", "a.data");
        let submit = |key: &str| jobs.submit(key, &place, RunOptions::default(), false, false);
        let (first, is_new) = submit("a").unwrap();
        assert!(is_new);
        let (again, is_new) = submit("a").unwrap();
        assert!(!is_new && Arc::ptr_eq(&first, &again));
        let (second, _) = submit("b").unwrap();
        assert!(submit("c").unwrap_err().is(ProblemKind::Busy));
        assert_ne!(first.id, second.id);
        first.set(JobState::Done { seconds: 0.5 });
        // A final state does not change, and the next request creates another job.
        first.set(JobState::Queued);
        assert_eq!(first.state(), JobState::Done { seconds: 0.5 });
        let (third, is_new) = submit("a").unwrap();
        assert!(is_new && third.id != first.id);
        let counts = JobCounts { queued: 2, running: 0, begun: 3, refused: 1 };
        assert_eq!(jobs.counts(), counts);
        assert_eq!(jobs.get(&first.id).unwrap().id, first.id);
        assert!(jobs.get("0").unwrap_err().is(ProblemKind::NotFound));
    }
}
