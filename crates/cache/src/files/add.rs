//! Adding of files to a store: within its size limit, files not used by recordings for the longest time are removed.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use hashbrown::HashSet;
use host::{Content, Host, Origin, PrivateEntry};
use image_store::Image;

use super::{FileStore, LimitedStore, MARK, StoreEntry, StoredFile};

/// Age at which partial files of killed writers are removed.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// A file to store.
#[derive(Debug)]
pub struct FilePart<'i> {
    /// Entry of the file.
    pub entry: StoreEntry,
    /// Name in the entry.
    pub name: String,
    /// Content.
    pub image: &'i Image,
    /// Path in the recording.
    pub recorded: &'i [u8],
}

/// Result of adding files to a store.
#[derive(Debug, Default)]
pub struct StoreResult {
    /// Number of the files that are now in the store.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Number of files that did not fit within the limit.
    pub over_limit: u64,
    /// Limit of the store, in bytes.
    pub limit: u64,
    /// Error of a file that could not be stored.
    pub problem: Option<io::Error>,
}

impl LimitedStore {
    /// Stores files in the given order, up to the limit.
    /// Files of the store that no recording used for the longest time are removed for them.
    ///
    /// # Errors
    /// If the store cannot be listed, or its file system does not state its free space.
    /// The error of a single file is in [`StoreResult::problem`].
    pub fn add_files(&self, host: &dyn Host, parts: &[FilePart<'_>]) -> io::Result<StoreResult> {
        let stored = self.store.files()?;
        let limit = self.limit(stored.iter().map(|it| it.file.size).sum())?;
        let mut result = StoreResult { limit, ..StoreResult::default() };
        let mut left = limit;
        let mut chosen = Vec::new();
        for part in parts {
            match left.checked_sub(part.size()) {
                Some(rest) => {
                    left = rest;
                    chosen.push(part);
                }
                None => result.over_limit += 1,
            }
        }
        self.free_space(stored, &chosen, left)?;
        for part in chosen {
            match self.store.add(host, part) {
                Ok(()) => {
                    result.files += 1;
                    result.bytes += part.size();
                }
                Err(error) => {
                    let is_full = error.kind() == io::ErrorKind::StorageFull;
                    result.problem.get_or_insert(error);
                    if is_full {
                        break;
                    }
                }
            }
        }
        Ok(result)
    }

    /// Removes the least recently used files, until all except the chosen ones have at most `most` bytes.
    fn free_space(
        &self,
        mut stored: Vec<StoredFile>,
        chosen: &[&FilePart<'_>],
        most: u64,
    ) -> io::Result<()> {
        let chosen: HashSet<_> =
            chosen.iter().map(|it| (&it.entry.0, OsString::from(&it.name))).collect();
        stored.retain(|it| !chosen.contains(&(&it.entry, it.file.name.clone())));
        // Files of one recording have the same time; the entry makes their order deterministic.
        stored.sort_by(|a, b| (a.file.used, &a.entry).cmp(&(b.file.used, &b.entry)));
        let mut bytes: u64 = stored.iter().map(|it| it.file.size).sum();
        let now = SystemTime::now();
        for file in &stored {
            let age = now.duration_since(file.file.used).unwrap_or_default();
            let goes = if file.file.is_partial { age > ABANDONED } else { bytes > most };
            if goes {
                self.store.remove(file)?;
                bytes -= file.file.size;
            }
        }
        Ok(())
    }
}

impl FilePart<'_> {
    /// Size in bytes.
    fn size(&self) -> u64 {
        self.image.bytes().len() as u64
    }

    /// Returns true if a copy has this file's content:
    /// the same build-id and size or, without a build-id, the same bytes.
    fn is_copy(&self, content: Content) -> bool {
        let bytes = self.image.bytes();
        if self.image.was_truncated() || content.len() != bytes.len() {
            return false;
        }
        match self.image.build_id() {
            None => content[..] == *bytes,
            id => {
                Image::from_content(self.image.path(), content).is_ok_and(|it| it.build_id() == id)
            }
        }
    }

    /// Returns the opened file, if its path still leads to it and the image is the whole file.
    fn source(&self, host: &dyn Host) -> Option<File> {
        let stamp = self.image.stamp()?;
        let file = host.descriptor(self.image.path(), self.image.origin()).ok()?;
        let found = file.metadata().ok()?;
        let is_same = (found.dev(), found.ino(), found.size())
            == (stamp.device, stamp.inode, stamp.size)
            && stamp.size == self.size();
        is_same.then_some(file)
    }
}

impl FileStore {
    /// Adds a file, unless the store has it.
    fn add(&self, host: &dyn Host, part: &FilePart<'_>) -> io::Result<()> {
        /// Another process may remove the entry between its creation and the first file in it.
        const ATTEMPTS: u32 = 3;
        let entry = &part.entry.0;
        let place = self.folder().join(entry).join(&part.name);
        // perf's own entries are symlinks, which are followed inside of the folder.
        let known = host.open(&place, Origin::Stored { root: self.folder() });
        if known.is_ok_and(|known| part.is_copy(known.content)) {
            // Other programs' entries and those of a read-only folder remain unchanged.
            let _ = self.0.open(entry).and_then(|folder| folder.touch(&part.name));
            return Ok(());
        }
        let mut attempts = 1;
        loop {
            let added = self.0.create(entry).and_then(|folder| write(&folder, host, part));
            match added {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {
                    attempts += 1;
                }
                added => return added,
            }
        }
    }
}

/// Writes a file into its entry; a new entry gets the mark.
fn write(folder: &PrivateEntry, host: &dyn Host, part: &FilePart<'_>) -> io::Result<()> {
    if folder.files()?.is_empty() {
        folder.write(MARK, part.recorded, None, |_| true)?;
    }
    let source = part.source(host);
    folder.write(&part.name, part.image.bytes(), source.as_ref(), |copy| part.is_copy(copy))
}
