//! The summary on standard error.

use std::io::{self, Write as _};

use formats::{ShortSummary, StackWeight, write_short_summary, write_styled_summary};
use pipeline::Analysis;
use profile::Profile;
use profile::query::{Weights, event_name};

use super::color::{stderr_width, summary_styles};
use super::packages::installs;
use super::shown::shown;

/// Returns the summary of a run; with all details if `verbose`.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn summary_text(analysis: &Analysis, verbose: bool) -> io::Result<Vec<u8>> {
    let profile = &analysis.profile;
    let machine = analysis.is_of_this_machine().then(|| &**analysis.host());
    let mut text = Vec::new();
    let styles = summary_styles();
    if verbose {
        write_styled_summary(profile, &styles, &mut text)?;
    } else {
        let packages =
            |paths: &[&[u8]]| machine.map_or_else(Vec::new, |host| installs(paths, host));
        let look = ShortSummary { styles, width: stderr_width(), packages: &packages };
        write_short_summary(profile, &look, &mut text)?;
    }
    Ok(text)
}

/// Prints a summary. A closed standard error is no reason to fail.
pub(crate) fn print_summary(text: &[u8]) {
    let _ = io::stderr().write_all(text);
}

/// Prints which event is counted if the recording has several, and how to choose another one.
pub(crate) fn print_other_events(profile: &Profile, weight: StackWeight) {
    if weight == StackWeight::OffCpu {
        return;
    }
    let weights = Weights::new(profile, weight);
    let name = |event| shown(&String::from_utf8_lossy(event_name(profile, event)));
    let others: Vec<String> = weights
        .uncounted_events()
        .map(|(event, samples)| format!("{} ({samples})", name(event)))
        .collect();
    if let (Some(event), false) = (weights.event(), others.is_empty()) {
        eprintln!(
            "Counted event: {}. Add --event for the others: {}.",
            name(event),
            others.join(", ")
        );
    }
}
