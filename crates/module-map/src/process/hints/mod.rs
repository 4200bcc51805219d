//! Hints, the user's statements about memory: the layers in force in a process, and their effect on the timeline.

mod active_hints;
mod reported;

pub(super) use active_hints::{ActiveHints, InForce, Layer};
