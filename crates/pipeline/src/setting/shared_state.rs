//! State shared by successive runs: opened images and the unwind rules made of them.

use std::sync::{Arc, Mutex, PoisonError};

use budget::Budget;
use image_store::{ImageLimits, SharedImages};
use unwinder::Engine;

/// Images and their unwind rules, which are cached by the serials of the images.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    pub(crate) images: Arc<SharedImages>,
    pub(crate) engine: Arc<Engine>,
    /// Limits on the cost of files and recordings.
    pub(crate) budget: Budget,
}

impl Generation {
    fn new(limits: ImageLimits, budget: Budget) -> Self {
        let engine = Arc::new(Engine::with_budget(budget));
        Self { images: Arc::new(SharedImages::new(limits)), engine, budget }
    }

    /// Returns an empty generation with the same limits.
    pub(crate) fn renewed(&self) -> Self {
        Self::new(self.images.limits(), self.budget)
    }

    /// Returns true if serials are nearly exhausted, or if the cache of rules is full.
    fn is_used_up(&self) -> bool {
        self.images.is_used_up() || self.engine.is_full()
    }
}

/// The current generation. It is replaced as a whole once it is used up; runs in progress keep theirs until the last of
/// them ends.
#[derive(Debug)]
pub(crate) struct SharedState {
    limits: ImageLimits,
    budget: Budget,
    current: Mutex<Generation>,
}

impl SharedState {
    pub(crate) fn new(limits: ImageLimits, budget: Budget) -> Self {
        Self { limits, budget, current: Mutex::new(Generation::new(limits, budget)) }
    }

    /// Returns the generation for a run that begins now.
    pub(crate) fn generation(&self) -> Generation {
        // A panic in another thread leaves a valid value.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_used_up() {
            *current = Generation::new(self.limits, self.budget);
        }
        current.clone()
    }

    /// Drops the cached state.
    pub(crate) fn clear(&self) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Generation::new(self.limits, self.budget);
    }
}
