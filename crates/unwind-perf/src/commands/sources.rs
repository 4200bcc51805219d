//! Source files for a page: those of the functions that cost most, as far as they are at hand.

use formats::PageSource;
use pipeline::SourceFiles;
use profile::query::function_costs;
use profile::{Profile, StringId};

/// Bytes of all files that are taken at most; a page is to stay one that can be sent.
const MOST: usize = 16 << 20;

/// The texts of the source files of functions that were sampled, those of most samples first.
pub(super) fn sources(profile: &Profile, files: &SourceFiles<'_>) -> Vec<PageSource> {
    let mut seen: Vec<StringId> = Vec::new();
    let mut found: Vec<PageSource> = Vec::new();
    let mut left = MOST;
    for cost in function_costs(profile, true) {
        let Some(id) = cost.function.file.filter(|id| !seen.contains(id)) else { continue };
        seen.push(id);
        let name = profile.strings.get(id);
        if let Some(text) = files.text_to_show(name).filter(|text| text.len() <= left) {
            left -= text.len();
            found.push(PageSource { file: name.to_vec(), text });
        }
    }
    found
}
