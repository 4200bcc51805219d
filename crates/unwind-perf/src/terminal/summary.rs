//! The summary on standard error.

use std::io::{self, Write as _};

use formats::write_styled_summary;
use profile::Profile;

use super::color::summary_styles;

/// Prints the summary of a run.
///
/// # Errors
/// Where it cannot be made; a closed standard error is no reason to fail.
pub(crate) fn print_summary(profile: &Profile) -> io::Result<()> {
    let mut text = Vec::new();
    write_styled_summary(profile, &summary_styles(), &mut text)?;
    let _ = io::stderr().write_all(&text);
    Ok(())
}
