//! Workers that convert the recordings of a queue.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::converter::{Converted, Converter};
use crate::error::Error;
use crate::manifest::Status;
use crate::paths::Queue;

/// Number of recordings by outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    counts: [u64; Status::ALL.len()],
    earlier: u64,
}

impl Tally {
    /// Returns the number of recordings with an outcome.
    #[must_use]
    pub fn of(&self, status: Status) -> u64 {
        self.counts.get(status as usize).copied().unwrap_or(0)
    }

    /// Returns the number of all recordings.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the number of recordings that an earlier call converted.
    #[must_use]
    pub const fn earlier(&self) -> u64 {
        self.earlier
    }

    fn add(&mut self, converted: &Converted) {
        if let Some(count) = self.counts.get_mut(converted.manifest.status as usize) {
            *count += 1;
        }
        self.earlier += u64::from(!converted.is_new);
    }
}

/// Converts the recordings of a queue with `at_once` workers, and passes each to `report`, one at a time.
///
/// # Errors
/// The first error of a worker, of `report`, or of the source of the paths. The other workers then finish theirs.
pub fn convert_all(
    converter: &Converter,
    at_once: usize,
    queue: &Queue,
    report: impl FnMut(&Converted) -> io::Result<()> + Send,
) -> Result<Tally, Error> {
    let shared = Mutex::new((Tally::default(), report));
    let work = || -> Result<(), Error> {
        while let Some(path) = queue.next() {
            let converted = converter.convert(&path)?;
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.0.add(&converted);
            (shared.1)(&converted).map_err(Error::Report)?;
        }
        Ok(())
    };
    let ended = std::thread::scope(|scope| {
        let start = || scope.spawn(|| work().inspect_err(|_| queue.stop()));
        let workers: Vec<_> = (0..at_once.max(1)).map(|_| start()).collect();
        let results = workers.into_iter().filter_map(|worker| worker.join().ok());
        results.collect::<Vec<_>>().into_iter().collect::<Result<(), _>>()
    });
    ended?;
    queue.ended()?;
    Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).0)
}
