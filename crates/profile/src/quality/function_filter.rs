//! Account of a filter of functions that was applied to a profile.

use address::ById as _;

use crate::encoding::encoding;
use crate::id::EventId;

/// A filter that removed samples or functions, and facts of the profile before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFilter {
    /// The filters in words, such as `focus main`.
    pub filters: Vec<String>,
    /// Number of samples that it removed; filtered samples include them.
    pub removed: u64,
    /// By event: its samples before.
    spans: Vec<EventSpan>,
}

encoding! { AppliedFilter { filters: Vec<String>, removed: u64, spans: Vec<EventSpan>, } }

/// The times of an event's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventSpan {
    /// The first and the last time, in nanoseconds on the recording's clock; `None` if no sample has a time.
    pub times: Option<(u64, u64)>,
    /// Number of samples.
    pub samples: u64,
}

encoding! { EventSpan { times: Option<(u64, u64)>, samples: u64, } }

impl EventSpan {
    /// Adds a sample.
    pub fn add(&mut self, time: Option<u64>) {
        let own = Self { times: time.map(|time| (time, time)), samples: 1 };
        *self = self.and(own);
    }

    /// Returns the span of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let times = match (self.times, other.times) {
            (Some((first, last)), Some((other_first, other_last))) => {
                Some((first.min(other_first), last.max(other_last)))
            }
            (own, other) => own.or(other),
        };
        Self { times, samples: self.samples.saturating_add(other.samples) }
    }
}

impl AppliedFilter {
    /// Returns the account of filters that removed no sample yet; `spans` are those of each event.
    pub(crate) const fn new(filters: Vec<String>, spans: Vec<EventSpan>) -> Self {
        Self { filters, removed: 0, spans }
    }

    /// Returns true if it has the times of that many events.
    pub(crate) const fn covers(&self, events: usize) -> bool {
        self.spans.len() >= events
    }

    /// Returns the times of an event's samples before the filter.
    #[must_use]
    pub fn span(&self, event: EventId) -> EventSpan {
        self.spans.by_id(event).copied().unwrap_or_default()
    }
}
