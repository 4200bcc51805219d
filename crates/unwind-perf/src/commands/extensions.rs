//! Output format by the ending of the file's name.

use std::path::Path;

use anyhow::bail;
use host::{FileKind, Origin};

use crate::args::host;

/// Returns the format that the ending of `path` selects among those in `known`.
/// Returns `None` for a name without an ending, and for an existing file that is not a regular one, such as
/// `/dev/stdout`.
///
/// # Errors
/// If the name has an ending of no known format: the name would be wrong.
pub(super) fn by_ending<T: Copy>(path: &Path, known: &[(&str, T)]) -> anyhow::Result<Option<T>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let found =
        known.iter().find(|(ending, _)| name.len() > ending.len() && name.ends_with(ending));
    if let Some((_, format)) = found {
        return Ok(Some(*format));
    }
    let endings: Vec<&str> = known.iter().map(|(ending, _)| *ending).collect();
    refuse_unknown(path, &endings)?;
    Ok(None)
}

/// Refuses a file name with an ending of no known format, unless the file exists and is not a regular one.
///
/// # Errors
/// If the name is refused; the message lists the endings of the formats.
pub(super) fn refuse_unknown(path: &Path, endings: &[&str]) -> anyhow::Result<()> {
    let Some(ending) = path.extension() else { return Ok(()) };
    if host().stat(path, Origin::User).is_ok_and(|found| found.kind != FileKind::Regular) {
        return Ok(());
    }
    bail!(
        "{}: no format has the ending .{}; use one of {}, or choose with --format",
        path.display(),
        ending.display(),
        endings.join(", ")
    )
}
