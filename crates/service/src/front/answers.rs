//! Cache of query answers. Concurrent equal queries share one computation; recent answers are retained, bounded by
//! their bytes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::Bytes;
use hashbrown::HashMap;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use crate::problem::Problem;

/// Maximum bytes of retained answers.
const MOST_BYTES: usize = 64 << 20;

/// Overhead of an answer beyond its text, in bytes.
const ROW: usize = 256;

/// Key of an answer: hash of the profile, its current result and the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AnswerKey([u8; 32]);

impl AnswerKey {
    /// Returns the key for a profile, the number of its current result, and a query.
    pub(crate) fn new(profile: &str, result: Option<u64>, query: &str) -> Self {
        Self(Sha256::digest(format!("{profile} {result:?} {query}")).into())
    }
}

/// Answer that one caller computes and others wait for.
type RunningAnswer = OnceCell<Result<Bytes, Problem>>;

/// Cached and running answers.
#[derive(Debug)]
pub(crate) struct Answers {
    most: usize,
    cache: Mutex<AnswerCache>,
    running: Mutex<HashMap<AnswerKey, Weak<RunningAnswer>>>,
    counts: [AtomicU64; 3],
}

#[derive(Debug, Default)]
struct AnswerCache {
    answers: HashMap<AnswerKey, (u64, Bytes)>,
    /// Keys, ordered by last use.
    by_use: BTreeMap<u64, AnswerKey>,
    uses: u64,
    bytes: usize,
}

/// Origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerOrigin {
    Cached,
    Shared,
    Computed,
}

/// Number and size of the cached answers, and counts of queries by origin of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnswerCounts {
    pub(crate) answers: u64,
    pub(crate) bytes: u64,
    pub(crate) cached: u64,
    pub(crate) shared: u64,
    pub(crate) computed: u64,
}

impl Default for Answers {
    fn default() -> Self {
        Self::new(MOST_BYTES)
    }
}

impl Answers {
    fn new(most: usize) -> Self {
        let (cache, running, counts) = Default::default();
        Self { most, cache, running, counts }
    }

    /// Returns the answer for `key`: the cached one, that of a concurrent equal query, or the output of `make`.
    /// An answer that `make` produced is cached if `is_cacheable` is true.
    ///
    /// # Errors
    /// Those of `make`; all callers that wait for it receive them.
    pub(crate) async fn get(
        &self,
        key: AnswerKey,
        is_cacheable: bool,
        make: impl Future<Output = Result<Bytes, Problem>>,
    ) -> Result<Bytes, Problem> {
        if let Some(answer) = self.lock_cache().get(key) {
            self.count(AnswerOrigin::Cached);
            return Ok(answer);
        }
        let running = self.running(key);
        let mut found = AnswerOrigin::Shared;
        // If the caller that computes the answer is dropped, the next waiting caller starts again.
        let answer = running.get_or_init(|| {
            found = AnswerOrigin::Computed;
            make
        });
        let answer = answer.await.clone();
        self.count(found);
        if found == AnswerOrigin::Computed {
            if let Ok(answer) = answer.as_ref()
                && is_cacheable
            {
                self.lock_cache().put(key, answer.clone(), self.most);
            }
            self.lock_running().remove(&key);
        }
        answer
    }

    pub(crate) fn counts(&self) -> AnswerCounts {
        let get = |found: AnswerOrigin| {
            self.counts.get(found as usize).map_or(0, |count| count.load(Ordering::Relaxed))
        };
        let all = self.lock_cache();
        AnswerCounts {
            answers: all.answers.len() as u64,
            bytes: all.bytes as u64,
            cached: get(AnswerOrigin::Cached),
            shared: get(AnswerOrigin::Shared),
            computed: get(AnswerOrigin::Computed),
        }
    }

    fn count(&self, found: AnswerOrigin) {
        if let Some(count) = self.counts.get(found as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn running(&self, key: AnswerKey) -> Arc<RunningAnswer> {
        let mut all = self.lock_running();
        if let Some(running) = all.get(&key).and_then(Weak::upgrade) {
            return running;
        }
        // Computations without waiting callers never finish, so nothing else removes them.
        all.retain(|_, running| running.strong_count() > 0);
        let running = Arc::<RunningAnswer>::default();
        all.insert(key, Arc::downgrade(&running));
        running
    }

    fn lock_running(&self) -> std::sync::MutexGuard<'_, HashMap<AnswerKey, Weak<RunningAnswer>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_cache(&self) -> std::sync::MutexGuard<'_, AnswerCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AnswerCache {
    fn get(&mut self, key: AnswerKey) -> Option<Bytes> {
        let (used, answer) = self.answers.get_mut(&key)?;
        self.uses += 1;
        self.by_use.remove(used);
        self.by_use.insert(self.uses, key);
        *used = self.uses;
        Some(answer.clone())
    }

    /// Caches an answer, and evicts the least recently used ones until the total is within the limit.
    fn put(&mut self, key: AnswerKey, answer: Bytes, most: usize) {
        self.uses += 1;
        self.bytes += answer.len() + ROW;
        if let Some((used, before)) = self.answers.insert(key, (self.uses, answer)) {
            self.bytes -= before.len() + ROW;
            self.by_use.remove(&used);
        }
        self.by_use.insert(self.uses, key);
        while self.bytes > most
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            let gone = self.answers.remove(&oldest);
            self.bytes -= gone.map_or(0, |(_, answer)| answer.len() + ROW);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;

    use super::*;
    use crate::problem::ProblemKind;

    fn key(name: &str) -> AnswerKey {
        AnswerKey::new(name, Some(1), "{}")
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    async fn ready(text: &'static str) -> Result<Bytes, Problem> {
        Ok(Bytes::from_static(text.as_bytes()))
    }

    async fn refused() -> Result<Bytes, Problem> {
        Err(Problem::new(ProblemKind::Busy))
    }

    #[test]
    fn what_was_asked_longest_ago_goes_first() {
        let answers = Answers::new(2 * (ROW + 4));
        run(async {
            for name in ["a", "b", "a", "c"] {
                assert_eq!(answers.get(key(name), true, ready("text")).await.unwrap(), "text");
            }
            assert_eq!(answers.get(key("a"), true, refused()).await.unwrap(), "text");
            assert!(answers.get(key("b"), true, refused()).await.is_err());
            assert_eq!(answers.get(key("c"), true, refused()).await.unwrap(), "text");
            // Keys of another result, or of another query.
            for other in [AnswerKey::new("a", Some(2), "{}"), AnswerKey::new("a", Some(1), "{1}")] {
                assert!(answers.get(other, true, refused()).await.is_err());
            }
            // An answer that must not be cached, and one that is too large.
            assert!(answers.get(key("d"), false, ready("text")).await.is_ok());
            assert!(answers.get(key("d"), true, refused()).await.is_err());
        });
        let bytes = 2 * (ROW as u64 + 4);
        let counts = AnswerCounts { answers: 2, bytes, cached: 3, shared: 0, computed: 8 };
        assert_eq!(answers.counts(), counts);
        assert!(answers.lock_running().is_empty());
        answers.lock_cache().put(key("e"), Bytes::from(vec![0; 1000]), 2 * (ROW + 4));
        assert_eq!((answers.counts().answers, answers.counts().bytes), (0, 0));
    }

    #[test]
    fn those_who_ask_at_once_share_an_answer() {
        let answers = Answers::default();
        let made = Cell::new(0);
        run(async {
            let slow = || async {
                made.set(made.get() + 1);
                tokio::task::yield_now().await;
                ready("text").await
            };
            let (a, b, c) = tokio::join!(
                answers.get(key("a"), true, slow()),
                answers.get(key("a"), true, slow()),
                answers.get(key("b"), true, slow()),
            );
            assert!([a, b, c].into_iter().all(|answer| answer.unwrap() == "text"));
        });
        assert_eq!(made.get(), 2);
        let counts = answers.counts();
        assert_eq!((counts.cached, counts.shared, counts.computed), (0, 1, 2));
        assert!(answers.lock_running().is_empty());
    }

    /// The client that asked first may disconnect while others wait for its answer.
    #[test]
    fn who_waits_takes_over_from_one_who_goes() {
        let answers = Answers::default();
        run(async {
            let waiting = {
                let mut gone = pin!(answers.get(key("a"), true, std::future::pending()));
                assert!(asked_once(gone.as_mut()).await.is_none());
                assert_eq!(answers.lock_running().len(), 1);
                answers.get(key("a"), true, ready("text"))
            };
            assert_eq!(waiting.await.unwrap(), "text");
            let mut gone = Box::pin(answers.get(key("b"), true, std::future::pending()));
            assert!(asked_once(gone.as_mut()).await.is_none());
        });
        // There are no waiting callers left; the next query removes the entry.
        assert_eq!(answers.lock_running().len(), 1);
        run(async { answers.get(key("c"), true, ready("text")).await }).unwrap();
        assert!(answers.lock_running().is_empty());
    }

    /// Returns the value of a future if its first poll is ready.
    async fn asked_once<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let mut future = Some(future);
        std::future::poll_fn(|context| {
            let polled = future.take().map(|it| it.poll(context));
            std::task::Poll::Ready(match polled {
                Some(std::task::Poll::Ready(value)) => Some(value),
                _ => None,
            })
        })
        .await
    }
}
