//! The format that the ending of an output file asks for.

use std::path::Path;

use anyhow::bail;
use host::{FileKind, Origin};

use crate::args::host;

/// The format of the ending of `path`, of those in `known`; `None` for a name without an ending, and for a file that is
/// there and is no regular one, such as `/dev/stdout`.
///
/// # Errors
/// If the name has an ending that stands for no format: the file would not be what its name says.
pub(super) fn by_ending<T: Copy>(path: &Path, known: &[(&str, T)]) -> anyhow::Result<Option<T>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let found =
        known.iter().find(|(ending, _)| name.len() > ending.len() && name.ends_with(ending));
    if let Some((_, format)) = found {
        return Ok(Some(*format));
    }
    let Some(ending) = path.extension() else { return Ok(None) };
    if host().stat(path, Origin::User).is_ok_and(|found| found.kind != FileKind::Regular) {
        return Ok(None);
    }
    let endings: Vec<&str> = known.iter().map(|(ending, _)| *ending).collect();
    bail!(
        "{}: no format has the ending .{}; use one of {}, or choose with --format",
        path.display(),
        ending.display(),
        endings.join(", ")
    )
}
