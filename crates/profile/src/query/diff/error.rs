//! Errors of comparing recordings.

use std::fmt;

/// Reason that recordings cannot be compared. Recordings are named as in the input.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// There is no recording before or after.
    #[error("there is no recording to compare on one side")]
    NoRecording,
    /// A recording has no samples, or filters rejected all of them.
    #[error("{name} has no samples to compare")]
    NoSamples {
        /// Name of the recording.
        name: String,
    },
    /// No event has samples in all recordings.
    #[error(
        "different events cannot be compared: {first} has {}, {second} has {}",
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
        "different units cannot be compared: {event} is counted in {first_unit} in {first} and in {second_unit} in \
         {second}; numbers of samples can be compared"
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
    /// Normalization by time was requested, but the samples of a recording have no times, or all the same.
    #[error("{name} has no duration to divide by: its samples have no times, or all the same")]
    NoTimes {
        /// Name of the recording.
        name: String,
    },
    /// The amount of work is not a valid divisor.
    #[error("an amount of work is a number above 0, not {amount}")]
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
        write!(f, "those with samples are {}", shown.join(", "))?;
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
