//! Hints, the user's statements about memory: the layers in force in a process, and their effect on the timeline.

mod laid_hints;
mod reported;

pub(super) use laid_hints::{InForce, LaidHints, Layer};
