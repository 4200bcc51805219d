//! What the commands that look into a recording say of its damage.

use perf_data::{Findings, Severity};

use super::shown::shown;
use super::status::Status;

/// Findings for people, on standard error.
pub(crate) fn print_findings(findings: &Findings) {
    for group in findings.iter() {
        if let Some(first) = group.examples.first() {
            let times =
                if group.count > 1 { format!(" ({} times)", group.count) } else { String::new() };
            eprintln!("{}{times}", shown(&first.to_string()));
        }
    }
}

/// Whether something is missing.
pub(crate) fn status_of(findings: &Findings) -> Status {
    if findings.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete }
}
