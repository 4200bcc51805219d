//! Messages of the inspecting commands about damage of a recording.

use perf_data::{Findings, Severity};
use pipeline::Analysis;

use super::color;
use super::shown::shown;
use super::status::Status;

/// Prints findings on standard error.
pub(crate) fn print_findings(findings: &Findings) {
    for group in findings.iter() {
        if let Some(first) = group.examples.first() {
            let times =
                if group.count > 1 { format!(" ({} times)", group.count) } else { String::new() };
            eprintln!("{}{times}", shown(&first.to_string()));
        }
    }
}

/// Prints one line about lost data on standard error, for runs without a summary.
pub(crate) fn print_damage(analysis: &Analysis) {
    let is_damage = |finding: &&perf_data::Finding| finding.severity() == Severity::Damage;
    let mut firsts = analysis.findings.iter().filter_map(|group| group.examples.first());
    let message = match firsts.find(is_damage) {
        Some(finding) => format!("the recording is damaged: {}", shown(&finding.to_string())),
        None => "names or lines are missing; run without --quiet for details".to_owned(),
    };
    print_error(&message);
}

/// Prints one line on standard error if names were not cached for the next run, with the reason.
pub(crate) fn print_not_kept(analysis: &Analysis) {
    if let Some(problem) = &analysis.not_kept {
        eprintln!("--cache {}", shown(problem));
    }
}

/// Prints an error of a run that continues, or whose output is already written.
pub(crate) fn print_error(message: &str) {
    eprintln!("{} {message}", color::error("unwind-perf"));
}

/// Prints a note of a run without errors.
pub(crate) fn print_note(message: &str) {
    eprintln!("{message}");
}

/// Returns the status that the worst finding implies.
pub(crate) fn status_of(findings: &Findings) -> Status {
    if findings.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete }
}
