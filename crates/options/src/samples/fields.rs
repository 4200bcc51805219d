//! Selection of the recorded fields that become columns of the profile.

use serde::{Deserialize, Serialize};

use crate::{fits_event, json, matches_pattern};

/// Fields of samples, by patterns `EVENT/FIELD`. None are selected by default, since values can be private.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldSelection {
    /// Patterns, or `all`; `*` matches any characters.
    #[serde(deserialize_with = "json::texts")]
    pub patterns: Vec<String>,
}

impl FieldSelection {
    /// The pattern for all fields of all events.
    pub const ALL: &'static str = "all";

    /// Returns true if no field is selected.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns true if a field of an event is selected.
    #[must_use]
    pub fn selects(&self, event: &str, field: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| Self::fits(pattern, event, field))
    }

    /// Returns true if a pattern selects a field of an event. The event of a pattern may lack modifiers such as `:u`. A
    /// pattern without an event selects the field of each event.
    #[must_use]
    pub fn fits(pattern: &str, event: &str, field: &[u8]) -> bool {
        if pattern == Self::ALL {
            return true;
        }
        let (of_event, name) = pattern.rsplit_once('/').unwrap_or(("*", pattern));
        matches_pattern(name.as_bytes(), field) && fits_event(of_event, event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_select_fields_of_events() {
        let fits = |pattern, event| FieldSelection::fits(pattern, event, b"size");
        for pattern in ["all", "size", "s*", "*/size", "probe_libc:malloc/size", "probe_*/*"] {
            assert!(fits(pattern, "probe_libc:malloc"), "{pattern}");
        }
        assert!(fits("probe_libc:malloc/size", "probe_libc:malloc:u"));
        for pattern in
            ["sizes", "probe_libc/size", "malloc/size", "probe_libc:malloc/sized", "/size"]
        {
            assert!(!fits(pattern, "probe_libc:malloc"), "{pattern}");
        }
    }
}
