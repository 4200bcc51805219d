//! The part that a program works at, for the line that it prints if it has no more memory.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The parts of a run, each as it stands after "while".
const PARTS: [&str; 7] = [
    "it was started",
    "the bundle was read",
    "the recording was read",
    "stacks were unwound",
    "names were looked up",
    "the output was written",
    "it was recorded",
];

/// A part of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum MemoryPart {
    /// Arguments are read.
    Start,
    /// A bundle is read.
    Bundle,
    /// A recording is opened and read.
    Recording,
    /// Stacks are unwound.
    Stacks,
    /// Addresses get their names.
    Names,
    /// Output is made.
    Output,
    /// A program is recorded.
    Recorder,
}

static PART: AtomicUsize = AtomicUsize::new(0);

/// From now on the memory of this process is for that part of a run.
pub fn memory_is_for(part: MemoryPart) {
    PART.store(part as usize, Ordering::Relaxed);
}

/// The part in words: `the recording was read`.
pub(super) fn current_part() -> &'static str {
    PARTS.get(PART.load(Ordering::Relaxed)).copied().unwrap_or("it ran")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_named() {
        memory_is_for(MemoryPart::Names);
        assert_eq!(current_part(), "names were looked up");
        memory_is_for(MemoryPart::Start);
        assert_eq!(current_part(), PARTS[0]);
    }
}
