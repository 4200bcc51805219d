//! Options on values, labels and spans: checks against the recording, and findings.

mod fields;
mod history;
mod spans;

pub(super) use fields::{Weighing, check_selection, check_values, weighed_events, weights};
pub(super) use history::history_findings;
pub(super) use spans::check_spans;
