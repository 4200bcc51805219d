//! The queue of jobs. A job that is asked for again while it waits or runs is the same one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::job::{Job, JobState};
use crate::problem::{Kind, Problem};
use crate::protocol::RunOptions;
use crate::recordings::PlaceId;

/// Jobs that are remembered when they are over.
const REMEMBERED: usize = 1000;

/// The jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    all: Mutex<VecDeque<Arc<Job>>>,
    /// One runs at a time, on all processors.
    turn: Semaphore,
    most_waiting: usize,
    numbers: AtomicU64,
    refused: AtomicU64,
}

/// How many jobs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JobCounts {
    pub(crate) queued: u64,
    pub(crate) running: u64,
    /// Since the start of the service.
    pub(crate) begun: u64,
    /// For want of a place in the queue.
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

    /// The job for a key, and whether it is new and has to be run.
    ///
    /// # Errors
    /// Where too many wait.
    pub(crate) fn submit(
        &self,
        key: &str,
        recording: &PlaceId,
        options: RunOptions,
        foreign: bool,
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
            return Err(Problem::new(Kind::Busy).detail(text).hint("try again in a few seconds"));
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let job = Job::new(number, key.to_owned(), recording.clone(), options, foreign);
        let job = Arc::new(job);
        all.push_back(Arc::clone(&job));
        let over = |job: &Arc<Job>| job.state().is_over();
        while all.len() > REMEMBERED && all.front().is_some_and(over) {
            all.pop_front();
        }
        Ok((job, true))
    }

    /// The job of that id.
    ///
    /// # Errors
    /// Where there is none, any more.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<Job>, Problem> {
        let missing = || Problem::new(Kind::NotFound).detail("there is no job of that id");
        self.lock().iter().find(|job| job.id == id).cloned().ok_or_else(missing)
    }

    /// The job that is open for a recording.
    pub(crate) fn of(&self, recording: &PlaceId) -> Option<Arc<Job>> {
        let all = self.lock();
        let open = |job: &&Arc<Job>| job.recording == *recording && !job.state().is_over();
        all.iter().find(open).cloned()
    }

    /// Waits until it is a job's turn.
    ///
    /// # Errors
    /// Where the service stops.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, Problem> {
        self.turn.acquire().await.map_err(|_| Problem::new(Kind::Stopping))
    }

    /// Lets no more jobs begin, and cancels those that did.
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
        let place = PlaceId::new("/srv", "a.data");
        let submit = |key: &str| jobs.submit(key, &place, RunOptions::default(), false);
        let (first, is_new) = submit("a").unwrap();
        assert!(is_new);
        let (again, is_new) = submit("a").unwrap();
        assert!(!is_new && Arc::ptr_eq(&first, &again));
        let (second, _) = submit("b").unwrap();
        assert!(submit("c").unwrap_err().is(Kind::Busy));
        assert_ne!(first.id, second.id);
        first.set(JobState::Done { seconds: 0.5 });
        // What is over does not change any more, and the next is another job.
        first.set(JobState::Queued);
        assert_eq!(first.state(), JobState::Done { seconds: 0.5 });
        let (third, is_new) = submit("a").unwrap();
        assert!(is_new && third.id != first.id);
        let counts = JobCounts { queued: 2, running: 0, begun: 3, refused: 1 };
        assert_eq!(jobs.counts(), counts);
        assert_eq!(jobs.get(&first.id).unwrap().id, first.id);
        assert!(jobs.get("0").unwrap_err().is(Kind::NotFound));
    }
}
