//! What is kept between runs: opened images and the unwind rules that were made of them.

use std::sync::{Arc, Mutex, PoisonError};

use budget::Budget;
use image_store::{ImageLimits, SharedImages};
use unwinder::Engine;

/// Images and rules that belong together: rules are kept by the serials of the images.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    pub(crate) images: Arc<SharedImages>,
    pub(crate) engine: Arc<Engine>,
    /// What files and recordings may cost.
    pub(crate) budget: Budget,
}

impl Generation {
    fn new(limits: ImageLimits, budget: Budget) -> Self {
        let engine = Arc::new(Engine::with_budget(budget));
        Self { images: Arc::new(SharedImages::new(limits)), engine, budget }
    }

    /// Whether hardly any serials are left, or rules found no place.
    fn is_used_up(&self) -> bool {
        self.images.is_used_up() || self.engine.is_full()
    }
}

/// The current generation. One that is used up is given up as a whole; runs that are under way keep theirs, which goes
/// when the last of them ends.
#[derive(Debug)]
pub(crate) struct Kept {
    limits: ImageLimits,
    budget: Budget,
    current: Mutex<Generation>,
}

impl Kept {
    pub(crate) fn new(limits: ImageLimits, budget: Budget) -> Self {
        Self { limits, budget, current: Mutex::new(Generation::new(limits, budget)) }
    }

    /// What a run that begins now uses.
    pub(crate) fn generation(&self) -> Generation {
        // A panic of another thread leaves a whole value.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_used_up() {
            *current = Generation::new(self.limits, self.budget);
        }
        current.clone()
    }

    /// Gives up what is kept.
    pub(crate) fn clear(&self) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Generation::new(self.limits, self.budget);
    }
}
