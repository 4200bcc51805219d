//! Bounded queue between the source of paths and the workers.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Error;

/// Paths that wait for a worker. The source waits if there are too many.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    paths: VecDeque<PathBuf>,
    /// True if no further path comes.
    is_closed: bool,
    error: Option<Error>,
}

impl Queue {
    /// Returns an empty queue of at most `most` paths.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most: most.max(1) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a path as soon as there is space. Returns false if the queue is closed.
    pub fn add(&self, path: PathBuf) -> bool {
        let is_full = |state: &mut State| !state.is_closed && state.paths.len() >= self.most;
        let state = self.changed.wait_while(self.state(), is_full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return false;
        }
        state.paths.push_back(path);
        self.changed.notify_all();
        true
    }

    /// Ends the queue after the paths in it, with the error of the source if there was one.
    pub fn close(&self, result: Result<(), Error>) {
        let mut state = self.state();
        state.is_closed = true;
        state.error = state.error.take().or(result.err());
        self.changed.notify_all();
    }

    /// Ends the queue now. Paths in it are omitted.
    pub fn stop(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.paths.clear();
        self.changed.notify_all();
    }

    /// Waits for the next path. Returns `None` at the end.
    pub(crate) fn next(&self) -> Option<PathBuf> {
        let is_empty = |state: &mut State| !state.is_closed && state.paths.is_empty();
        let state = self.changed.wait_while(self.state(), is_empty);
        let path = state.unwrap_or_else(PoisonError::into_inner).paths.pop_front();
        self.changed.notify_all();
        path
    }

    /// Returns the error of the source, once.
    pub(crate) fn ended(&self) -> Result<(), Error> {
        self.state().error.take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn paths_come_in_order_and_a_full_queue_waits() {
        let queue = Arc::new(Queue::new(2));
        let source = Arc::clone(&queue);
        let source = std::thread::spawn(move || {
            let added = (0..100).filter(|number| source.add(format!("{number}").into())).count();
            source.close(Ok(()));
            added
        });
        let mut taken = 0;
        while let Some(path) = queue.next() {
            assert_eq!(path, PathBuf::from(format!("{taken}")));
            assert!(queue.state().paths.len() <= 2);
            taken += 1;
        }
        assert_eq!((taken, source.join().expect("no panic")), (100, 100));
        assert!(queue.ended().is_ok());
    }

    #[test]
    fn a_stopped_queue_is_empty() {
        let queue = Queue::new(9);
        assert!(queue.add("a".into()));
        queue.stop();
        assert!(!queue.add("b".into()));
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn an_error_of_the_source_comes_after_its_paths() {
        let queue = Queue::new(9);
        queue.add("a".into());
        queue.close(Err(Error::Paths(std::io::ErrorKind::Other.into())));
        assert_eq!(queue.next(), Some("a".into()));
        assert_eq!(queue.next(), None);
        assert!(queue.ended().is_err());
        assert!(queue.ended().is_ok());
    }
}
