//! The summary on standard error.

use std::io::{self, Write as _};

use formats::{StackWeight, write_styled_summary};
use profile::Profile;
use profile::query::{Weights, event_name};

use super::color::summary_styles;
use super::shown::shown;

/// Prints the summary of a run.
///
/// # Errors
/// If it cannot be made. A closed standard error is not an error.
pub(crate) fn print_summary(profile: &Profile) -> io::Result<()> {
    let mut text = Vec::new();
    write_styled_summary(profile, &summary_styles(), &mut text)?;
    let _ = io::stderr().write_all(&text);
    Ok(())
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
            "the samples of {} are counted; --event shows the others: {}",
            name(event),
            others.join(", ")
        );
    }
}
