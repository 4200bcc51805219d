//! Samples through the whole replay.
