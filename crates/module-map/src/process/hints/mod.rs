//! Hints, the user's word on memory: the layers that are in force in a process, and their place on the timeline.

mod laid_hints;
mod reported;

pub(super) use laid_hints::{InForce, LaidHints, Layer};
