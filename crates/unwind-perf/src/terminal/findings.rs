//! What the commands that look into a recording say of its damage.

use perf_data::{Findings, Severity};
use pipeline::Analysis;

use super::color;
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

/// In a line on standard error, that something is lost: for those who want no summary, but look at the status.
pub(crate) fn print_damage(analysis: &Analysis) {
    let is_damage = |finding: &&perf_data::Finding| finding.severity() == Severity::Damage;
    let mut firsts = analysis.findings.iter().filter_map(|group| group.examples.first());
    let message = match firsts.find(is_damage) {
        Some(finding) => format!("the recording is damaged: {}", shown(&finding.to_string())),
        None => "names or lines are missing; run without --quiet for details".to_owned(),
    };
    print_error(&message);
}

/// In a line on standard error, why names were not kept for the next run.
pub(crate) fn print_not_kept(analysis: &Analysis) {
    if let Some(problem) = &analysis.not_kept {
        eprintln!("--cache {}", shown(problem));
    }
}

/// An error of a run that goes on, or whose output is written.
pub(crate) fn print_error(message: &str) {
    eprintln!("{} {message}", color::error("unwind-perf"));
}

/// What there is to know of a run that went well.
pub(crate) fn print_note(message: &str) {
    eprintln!("{message}");
}

/// Whether something is missing.
pub(crate) fn status_of(findings: &Findings) -> Status {
    if findings.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete }
}
