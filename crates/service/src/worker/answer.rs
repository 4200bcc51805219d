//! Answers of tasks.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::problem::{Problem, ProblemKind};

/// An answer as JSON.
pub(super) type Answer = Box<RawValue>;

/// Serializes an answer.
pub(super) fn answer(value: &impl Serialize) -> Result<Answer, Problem> {
    to_raw_value(value)
        .map_err(|error| Problem::new(ProblemKind::Internal).detail(error.to_string()))
}

/// Returns the problem for an output that could not be written.
pub(super) fn not_written(error: &std::io::Error) -> Problem {
    let kind = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => ProblemKind::NoSpace,
        std::io::ErrorKind::BrokenPipe => ProblemKind::Cancelled,
        _ => ProblemKind::Internal,
    };
    Problem::new(kind).detail(error.to_string())
}
