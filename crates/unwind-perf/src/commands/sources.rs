//! Source files for people: those of the functions that cost most, as far as they are at hand.

use formats::PageSource;
use host::Host;
use options::GroupBy;
use pipeline::{Analysis, FileSearch, SourceFiles};
use profile::query::engine::{Index, RowKey, Selection, TableShape, table};
use profile::{Profile, StringId};

use crate::terminal::shown;

/// Bytes of all files that are taken at most; a page is to stay one that can be sent.
const MOST: usize = 16 << 20;

/// The source files of an analysed recording. `local` is this machine, for a recording in a bundle.
pub(super) fn source_files<'a>(
    analysis: &'a Analysis,
    files: &'a FileSearch,
    local: &'a dyn Host,
) -> SourceFiles<'a> {
    let host = &**analysis.host();
    if analysis.is_of_bundle {
        SourceFiles::of_bundle(files, host, local)
    } else {
        SourceFiles::new(files, host)
    }
}

/// The name of a source file for messages.
pub(super) fn plain_name(name: &[u8]) -> String {
    shown(&String::from_utf8_lossy(&SourceFiles::plain_name(name)))
}

/// The message about a source file that is not at hand.
pub(super) fn not_found(name: &str) -> String {
    format!("{name} was not found; name its folder with --source-dir DIR")
}

/// The texts for a page, and the name of the file of most samples that was not found.
pub(super) struct Sources {
    pub(super) found: Vec<PageSource>,
    pub(super) missing: Option<String>,
}

/// The texts of the source files of functions that were sampled, those of most samples first; then of files that only have
/// lines of functions, such as an included body.
pub(super) fn sources(profile: &Profile, files: &SourceFiles<'_>) -> Sources {
    let mut seen: Vec<StringId> = Vec::new();
    let mut sources = Sources { found: Vec::new(), missing: None };
    let mut left = MOST;
    let index = Index::new(profile, true);
    let selection = Selection::everything(profile, &index);
    let (rows, _) = table(&selection, TableShape::all(GroupBy::Function));
    let of_functions = rows.iter().filter_map(|row| match row.key {
        RowKey::Function(function) => selection.function(function).file,
        _ => None,
    });
    for id in of_functions.chain(profile.inlines.iter().filter_map(|row| row.file)) {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let name = profile.strings.get(id);
        match files.text_to_show(name) {
            Some(text) if text.len() <= left => {
                left -= text.len();
                sources.found.push(PageSource { file: name.to_vec(), text });
            }
            Some(_) => {}
            None => sources.missing = sources.missing.or_else(|| Some(plain_name(name))),
        }
    }
    sources
}
