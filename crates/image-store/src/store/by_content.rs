//! Files below folders that the user named, found by the build-ids in them: builds leave `prog.debug` beside an artifact, or
//! a library under another name. Each file is opened once in a run, and only if a build-id is wanted that no cheaper place
//! has.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use address::BuildId;
use hashbrown::HashMap;
use host::Origin;

use super::images::ImageStore;
use crate::elf::build_id_of;
use crate::search::{ExtraFiles, FileCandidate, FileFindingKind, FileOptions};

/// Files that are opened for their build-ids in a run.
const MOST: usize = 1 << 17;

/// Bytes of an ELF header of 32 bits.
const SMALLEST: u64 = 52;

/// The files of the folders by their build-ids; none before the first is wanted.
#[derive(Debug, Default)]
pub(crate) struct FilesByContent(OnceLock<HashMap<[u8; BuildId::MAX_LEN], Vec<PathBuf>>>);

impl ImageStore {
    /// The files of that build-id below the folders that the user named, whatever they are called.
    pub(super) fn files_with_id(&self, id: BuildId) -> impl Iterator<Item = FileCandidate> + '_ {
        let find = move || {
            let index = self.contents.0.get_or_init(|| self.index());
            index.get(&padded(id)).into_iter().flatten().cloned().map(FileCandidate::of_user)
        };
        std::iter::once_with(find).flatten()
    }

    fn index(&self) -> HashMap<[u8; BuildId::MAX_LEN], Vec<PathBuf>> {
        let FileOptions { host, named_debug_dirs, extra, .. } = self.options();
        let mut found = HashMap::<_, Vec<PathBuf>>::new();
        if named_debug_dirs.is_empty() && extra.is_empty() {
            return found;
        }
        let debug = ExtraFiles::below(&**host, named_debug_dirs);
        let paths = debug.all().chain(extra.all()).filter(|path| !is_named_by_id(path));
        for (number, path) in paths.enumerate() {
            if number == MOST {
                let message = format!(
                    "the named folders have more than {MOST} files; {} and later ones were not searched for \
                     build-ids",
                    path.display()
                );
                self.note(FileFindingKind::LeftOut, message);
                break;
            }
            // Files that the kernel makes up have no size, and reading some of them blocks.
            let opened = host.open_unless(path, Origin::User, &mut |stamp| stamp.size < SMALLEST);
            if let Some(id) = opened.ok().flatten().and_then(|file| build_id_of(&file.content)) {
                found.entry(padded(id)).or_default().push(path.clone());
            }
        }
        found
    }
}

/// Old recorders pad short ids with zeros.
fn padded(id: BuildId) -> [u8; BuildId::MAX_LEN] {
    let mut bytes = [0; BuildId::MAX_LEN];
    for (byte, known) in bytes.iter_mut().zip(id.as_bytes()) {
        *byte = *known;
    }
    bytes
}

/// Whether a file is found by its build-id without being opened.
fn is_named_by_id(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".build-id")
}
