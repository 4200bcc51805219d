//! The current part of a run, for the line that is printed when memory runs out.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Parts of a run, worded to follow "while".
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
    /// Reading arguments.
    Start,
    /// Reading a bundle.
    Bundle,
    /// Opening and reading a recording.
    Recording,
    /// Unwinding stacks.
    Stacks,
    /// Looking up names of addresses.
    Names,
    /// Writing output.
    Output,
    /// Recording a program.
    Recorder,
}

static PART: AtomicUsize = AtomicUsize::new(0);

/// Sets the current part of the run.
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
