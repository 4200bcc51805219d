//! Names of entries: perf's build-id paths if the file has a build-id.

use std::path::Path;

use hashbrown::HashSet;
use image_store::Image;

use crate::journal::JournalContent;
use crate::manifest::{Sha256, is_name};

/// Name of the recording.
const RECORDING: &str = "perf.data";

/// Names in use.
#[derive(Default)]
pub(super) struct UsedNames(HashSet<String>);

impl UsedNames {
    /// Returns the name of the recording's entry, or of a file in it.
    pub(super) fn of_recording(&mut self, rest: &Path) -> Option<String> {
        let rest = rest.to_str()?;
        let name =
            if rest.is_empty() { RECORDING.to_owned() } else { format!("{RECORDING}/{rest}") };
        (is_name(&name) && self.0.insert(name.clone())).then_some(name)
    }

    /// Returns a name for a file. Source: `dso__build_id_filename` in `tools/perf/util/build-id.c`:
    /// `.build-id/ab/cdef…/elf` below the cache, `debug` for separate debug files, `vdso`.
    pub(super) fn of_file(&mut self, content: &JournalContent, sha256: Sha256) -> String {
        let by_id = by_build_id(content).filter(|name| self.0.insert(name.clone()));
        by_id.unwrap_or_else(|| self.unlike(&format!("files/{}", String::from(sha256))))
    }

    /// Returns the name, with a number if it is in use.
    fn unlike(&mut self, name: &str) -> String {
        let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let free = names.find(|name| self.0.insert(name.clone()));
        free.unwrap_or_default()
    }
}

fn by_build_id(content: &JournalContent) -> Option<String> {
    let image = Image::from_content(&content.path, content.bytes.clone()).ok()?;
    let id = image.build_id()?.to_string();
    // Shorter build-ids do not occur in practice.
    let (first, rest) = id.split_at_checked(2).filter(|(_, rest)| rest.len() >= 6)?;
    let what = if content.path == Path::new("[vdso]") {
        "vdso"
    } else if image.is_stripped_of_code() {
        "debug"
    } else {
        "elf"
    };
    Some(format!(".build-id/{first}/{rest}/{what}"))
}
