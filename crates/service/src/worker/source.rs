//! Text of a source file that contains functions of a recording.

use host::Host;
use pipeline::{FileSearch, SourceFiles};
use profile::Profile;
use serde::Serialize;

use crate::problem::{Problem, ProblemKind};

/// Source file.
#[derive(Debug, Serialize)]
pub(super) struct SourceText {
    file: String,
    text: String,
}

/// Returns the text of a file that contains a sampled function of the recording. For an untrusted recording the search
/// fails, since its host opens no file that a recording names.
pub(super) fn text(
    profile: &Profile,
    file: &str,
    files: &FileSearch,
    host: &dyn Host,
) -> Result<SourceText, Problem> {
    let is_wanted = |id| profile.strings.get(id) == file.as_bytes();
    if !profile
        .inlines
        .iter()
        .flat_map(|row| [row.file, row.declared_file])
        .flatten()
        .any(is_wanted)
    {
        return Err(
            Problem::new(ProblemKind::DoesNotFit).detail("none of its functions is in that file")
        );
    }
    text_of(file, files, host)
}

/// Returns the text of a file that debug information names.
pub(super) fn text_of(
    file: &str,
    files: &FileSearch,
    host: &dyn Host,
) -> Result<SourceText, Problem> {
    let missing = || {
        Problem::new(ProblemKind::NoCode).detail("the file is not available, or is not source text; the operator of the service can add its folder with --source-dir")
    };
    let bytes = SourceFiles::new(files, host).text_to_show(file.as_bytes()).ok_or_else(missing)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(SourceText { file: file.to_owned(), text })
}
