//! The format that the ending of an output file asks for.

use std::path::Path;

use anyhow::bail;
use host::{FileKind, Origin};

use crate::args::host;

/// The format of the ending of `path`, of those in `known`; `None` for a name without an ending, and for a file that is
/// there and is no regular one, such as `/dev/stdout`.
///
/// # Errors
/// If the name has an ending that stands for no format: the name would be wrong.
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

/// Refuses the name of a file whose ending stands for no format, unless the file is there and is no regular one.
///
/// # Errors
/// If it is refused; the message names the endings of formats.
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
