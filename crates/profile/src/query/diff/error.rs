//! Errors of comparing recordings.

use std::fmt;

/// Reason that recordings cannot be compared. Recordings are named as in the input.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A side has no recording.
    #[error("one side has no recording to compare")]
    NoRecording,
    /// A recording has no samples, or filters left none.
    #[error("{name} has no samples; nothing to compare")]
    NoSamples {
        /// Name of the recording.
        name: String,
    },
    /// No event has samples in all recordings.
    #[error(
        "the events differ: {first} has {}, {second} has {}",
        Names(first_events),
        Names(second_events)
    )]
    DifferentEvents {
        /// Name of the first recording.
        first: String,
        /// Events with samples in it.
        first_events: Vec<String>,
        /// Name of the first recording without any event common to all previous ones.
        second: String,
        /// Events with samples in it.
        second_events: Vec<String>,
    },
    /// The recordings count the event in different units, or only one of them has a unit.
    #[error(
        "the units of {event} differ: {first_unit} in {first}, {second_unit} in {second}; compare numbers of samples instead"
    )]
    DifferentUnits {
        /// Name of the event.
        event: String,
        /// Name of a recording.
        first: String,
        /// Unit of its periods, or `samples`.
        first_unit: String,
        /// Name of another recording.
        second: String,
        /// Unit of its periods, or `samples`.
        second_unit: String,
    },
    /// A pair names a module that no recording before, or after, maps.
    #[error("no module {side} is called {name}; {}", Candidates(candidates))]
    NoSuchModule {
        /// Name of the module.
        name: String,
        /// `before` or `after`.
        side: &'static str,
        /// Modules with samples, before or after.
        candidates: Vec<String>,
    },
    /// A normalization by time was asked for, and the samples of a recording have no times, or all the same.
    #[error("{name} has no duration: its samples have no times, or equal ones")]
    NoTimes {
        /// Name of the recording.
        name: String,
    },
    /// An amount of work that costs cannot be divided by.
    #[error("the amount of work must be above 0, not {amount}")]
    NoWork {
        /// The amount.
        amount: f64,
    },
}

/// List of names that a user can choose from.
struct Candidates<'a>(&'a [String]);

impl fmt::Display for Candidates<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Maximum number of listed names.
        const LISTED: usize = 20;
        let shown: Vec<&str> = self.0.iter().take(LISTED).map(String::as_str).collect();
        write!(f, "modules with samples are {}", shown.join(", "))?;
        match self.0.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

/// List of names in a sentence.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" and "))
    }
}
