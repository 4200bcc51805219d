//! Source files of the functions that cost most, if they are available.

use formats::PageSource;
use options::GroupBy;
use pipeline::SourceFiles;
use profile::query::engine::{Index, RowKey, Selection, TableShape, table};
use profile::{Profile, StringId};

use crate::terminal::shown;

/// Maximum size of all files in bytes, so that a page stays small enough to be sent.
const MOST: usize = 16 << 20;

/// Returns the name of a source file for messages.
pub(super) fn plain_name(name: &[u8]) -> String {
    shown(&String::from_utf8_lossy(&SourceFiles::plain_name(name)))
}

/// Returns the message about an unavailable source file.
pub(super) fn not_found(name: &str) -> String {
    format!("{name} was not found; name its folder with --source-dir DIR")
}

/// Texts for a page, and the name of the missing file with the most samples.
pub(super) struct Sources {
    pub(super) found: Vec<PageSource>,
    pub(super) missing: Option<String>,
}

/// Returns the source files of sampled functions, most samples first.
/// Then follow files that only have lines of functions, such as an included body.
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
