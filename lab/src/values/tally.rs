//! Counts of a program: values of gdb and of ours.

use std::collections::BTreeMap;

/// Counts of a program.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Also names the values in `reasons`.
    pub(super) verbose: bool,
    /// Stops.
    pub(super) stops: u64,
    /// Frames of the program's own functions, inlined ones too.
    pub(super) frames: u64,
    /// Of these, frames that ours lacks or names differently.
    pub(super) frames_alone: u64,
    /// Of these, outer frames of a recursive function, which one request does not read.
    pub(super) outer: u64,
    /// Variables and fields that gdb names.
    pub(super) variables: u64,
    /// Values of both that are equal.
    pub(super) equal: u64,
    /// Values of gdb alone.
    pub(super) theirs_alone: u64,
    /// Values of ours alone.
    pub(super) ours_alone: u64,
    /// Values of both that differ.
    pub(super) differ: u64,
    /// Our reasons for values of gdb alone.
    pub(super) reasons: BTreeMap<String, u64>,
    /// Values that differ or are ours alone.
    pub(super) notes: BTreeMap<String, u64>,
}

/// Result for a value that both may state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Equal,
    Differ,
    /// Ours is an address of memory that is not there.
    Unread,
}

impl Tally {
    /// Values of gdb.
    pub(super) const fn theirs(&self) -> u64 {
        self.equal + self.theirs_alone + self.differ
    }

    /// Values of ours.
    pub(super) const fn ours(&self) -> u64 {
        self.equal + self.ours_alone + self.differ
    }

    /// Adds the counts of another.
    pub(super) fn add(&mut self, other: &Self) {
        for (reason, count) in &other.reasons {
            *self.reasons.entry(reason.clone()).or_default() += count;
        }
        self.stops += other.stops;
        self.frames += other.frames;
        self.frames_alone += other.frames_alone;
        self.outer += other.outer;
        self.variables += other.variables;
        self.equal += other.equal;
        self.theirs_alone += other.theirs_alone;
        self.ours_alone += other.ours_alone;
        self.differ += other.differ;
    }

    /// Counts a variable: gdb's kind and text of the value, and our text with its verdict or our reason for none.
    pub(super) fn count(
        &mut self,
        name: &str,
        (kind, theirs): (&str, &str),
        ours: Result<(String, Verdict), String>,
    ) {
        self.variables += 1;
        let is_theirs = !matches!(kind, "optimized" | "unreadable");
        match (is_theirs, ours) {
            // Neither reads the memory behind the pointer.
            (false, Err(_) | Ok((_, Verdict::Unread))) => {}
            (false, Ok((value, _))) => {
                self.ours_alone += 1;
                self.note(format!("ours alone: {name} = {value}; gdb: {kind} {theirs}"));
            }
            (true, Err(reason)) => {
                self.theirs_alone += 1;
                let reason =
                    if self.verbose { format!("{reason}: {name} = {theirs}") } else { reason };
                *self.reasons.entry(reason).or_default() += 1;
            }
            (true, Ok((_, Verdict::Equal))) => self.equal += 1,
            (true, Ok((_, Verdict::Unread))) => {
                self.theirs_alone += 1;
                *self.reasons.entry("memory behind a pointer".to_owned()).or_default() += 1;
            }
            (true, Ok((value, Verdict::Differ))) => {
                self.differ += 1;
                self.note(format!("differs: {name} = {value}; gdb: {kind} {theirs}"));
            }
        }
    }

    /// Counts a line about a value or a frame.
    pub(super) fn note(&mut self, line: String) {
        *self.notes.entry(line).or_default() += 1;
    }
}
