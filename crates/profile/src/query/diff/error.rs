//! Why two recordings cannot be compared.

use std::fmt;

/// Why two sides cannot be compared. Names are those of the recordings, as they were given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A side has no recording.
    #[error("one side has no recording to compare")]
    NoRecording,
    /// A recording has no samples, or filters left none.
    #[error("{name} has no samples; nothing to compare")]
    NoSamples {
        /// The recording.
        name: String,
    },
    /// No event has samples in all recordings.
    #[error(
        "the events differ: {first} has {}, {second} has {}",
        Names(first_events),
        Names(second_events)
    )]
    DifferentEvents {
        /// A recording.
        first: String,
        /// The events that have samples in it.
        first_events: Vec<String>,
        /// The first recording that has none of the events that all before it have.
        second: String,
        /// The events that have samples in it.
        second_events: Vec<String>,
    },
    /// One recording says what a sample of the event stands for, another does not, or in something else.
    #[error(
        "the units of {event} differ: {first_unit} in {first}, {second_unit} in {second}; compare numbers of samples instead"
    )]
    DifferentUnits {
        /// The event.
        event: String,
        /// A recording.
        first: String,
        /// The unit of its periods, or `samples`.
        first_unit: String,
        /// Another recording.
        second: String,
        /// The unit of its periods, or `samples`.
        second_unit: String,
    },
    /// A pair names a module that no recording of its side maps.
    #[error("no module {side} is called {name}; {}", Candidates(candidates))]
    NoSuchModule {
        /// The name.
        name: String,
        /// Its side: `before` or `after`.
        side: &'static str,
        /// The modules of that side that have samples.
        candidates: Vec<String>,
    },
    /// A normalization by time was asked for, and the samples of a recording have no times, or all the same.
    #[error("{name} has no duration: its samples have no times, or equal ones")]
    NoTimes {
        /// The recording.
        name: String,
    },
    /// An amount of work that costs cannot be divided by.
    #[error("the amount of work must be above 0, not {amount}")]
    NoWork {
        /// The amount.
        amount: f64,
    },
}

/// Names that a user can choose from.
struct Candidates<'a>(&'a [String]);

impl fmt::Display for Candidates<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More are not listed.
        const LISTED: usize = 20;
        let shown: Vec<&str> = self.0.iter().take(LISTED).map(String::as_str).collect();
        write!(f, "modules with samples are {}", shown.join(", "))?;
        match self.0.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

/// Names in a sentence.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" and "))
    }
}
