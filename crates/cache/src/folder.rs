//! The folder of a cache: its contents and its size limit.

use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use host::{PrivateFile, PrivateFolder, distrust_of};

use crate::answers::Answers;
use crate::kernel_index::KernelIndex;
use crate::key::{CacheFileKind, CacheKey};
use crate::profiles;
use crate::rules::RuleRows;

/// Folder and size limit of a cache.
pub use options::CacheLocation;

/// Creates the folder of a cache now, for a process that may not create one later.
///
/// # Errors
/// If it cannot be created or written, or if other users can change it.
pub fn make_folder(place: &CacheLocation) -> io::Result<()> {
    if let Some(distrust) = distrust_of(&place.folder) {
        return Err(io::Error::other(distrust));
    }
    let (name, text) = TAG;
    PrivateFolder::at(place.folder.clone()).write(name, &[text])
}

/// Age at which partial files of killed writers are removed.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// Tag file of cache folders, which makes backup programs skip them.
///
/// Source: <https://bford.info/cachedir/>.
pub(crate) const TAG: (&str, &[u8]) = (
    "CACHEDIR.TAG",
    b"Signature: 8a477f597d28d172789f06886806bc55\n# Answers that unwind-perf keeps from run to run.\n",
);

/// Returns the files of a folder that belong to a cache; others are ignored.
fn own_files(folder: &PrivateFolder) -> io::Result<Vec<PrivateFile>> {
    let is_own = |file: &PrivateFile| file.is_partial || kind_of(file).is_some();
    Ok(folder.files()?.into_iter().filter(is_own).collect())
}

/// Kind of a file, by its name.
fn kind_of(file: &PrivateFile) -> Option<CacheFileKind> {
    CacheKey::kind_of(file.name.to_str()?)
}

/// Removes the least recently used files until the folder has at most `most` bytes.
/// Files that others remove meanwhile are not errors.
pub(crate) fn trim(folder: &PrivateFolder, most: u64) -> io::Result<()> {
    let mut files = own_files(folder)?;
    files.sort_by(|a, b| (a.used, &a.name).cmp(&(b.used, &b.name)));
    let mut bytes: u64 = files.iter().map(|file| file.size).sum();
    let now = SystemTime::now();
    for file in &files {
        let age = now.duration_since(file.used).unwrap_or_default();
        let goes = if file.is_partial { age > ABANDONED } else { bytes > most };
        if goes {
            folder.remove(file)?;
            bytes -= file.size;
        }
    }
    Ok(())
}

/// Contents of a cache folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheContents {
    /// Usable files, by the index of their kind.
    kinds: [FileCount; CacheFileKind::ALL.len()],
    /// Files that are damaged, or of another version of this program.
    pub(crate) unusable: FileCount,
    /// Partial files: being written, or left by a killed writer.
    partial: FileCount,
}

/// Number of files, and what they contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FileCount {
    pub(crate) files: u64,
    /// Their size.
    pub(crate) bytes: u64,
    /// Number of addresses or symbols in them.
    pub(crate) entries: u64,
}

impl FileCount {
    const fn add(&mut self, file: &PrivateFile, entries: usize) {
        self.files += 1;
        self.bytes += file.size;
        self.entries += entries as u64;
    }
}

impl CacheContents {
    /// Examines a folder. This does not count as use of its files.
    ///
    /// # Errors
    /// If it does not exist or cannot be listed.
    pub fn of(folder: &PrivateFolder) -> io::Result<Self> {
        if !folder.is_there() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut found = Self::default();
        for file in own_files(folder)? {
            match addresses_of(folder, &file) {
                _ if file.is_partial => found.partial.add(&file, 0),
                Some((kind, entries)) => found.kinds[kind as usize].add(&file, entries),
                None => found.unusable.add(&file, 0),
            }
        }
        Ok(found)
    }

    /// Returns the usable files of a kind.
    pub(crate) const fn of_kind(&self, kind: CacheFileKind) -> FileCount {
        self.kinds[kind as usize]
    }

    /// Removes all cache files from a folder and returns their number and their size in bytes. Other files remain.
    ///
    /// # Errors
    /// If the folder does not exist or a file cannot be removed.
    pub fn clear(folder: &PrivateFolder) -> io::Result<(u64, u64)> {
        if !folder.is_there() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (mut files, mut bytes) = (0, 0);
        for file in own_files(folder)? {
            folder.remove(&file)?;
            files += 1;
            bytes += file.size;
        }
        Ok((files, bytes))
    }
}

/// Returns the kind of a file, and the number of its addresses or symbols; `None` if it is unusable.
fn addresses_of(folder: &PrivateFolder, file: &PrivateFile) -> Option<(CacheFileKind, usize)> {
    let kind = kind_of(file)?;
    let bytes = folder.peek(file.name.to_str()?)?;
    let addresses = match kind {
        CacheFileKind::Answers => Answers::read_any(bytes)?.len(),
        CacheFileKind::Rules => RuleRows::read_any(&bytes)?.offsets.len(),
        CacheFileKind::KernelIndex => KernelIndex::read_any(bytes)?.len(),
        CacheFileKind::Profile => profiles::content(&bytes, None).map(|_| 0)?,
    };
    Some((kind, addresses))
}

/// One line for each kind of file present.
impl fmt::Display for CacheContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileCount { files, bytes, entries } = self.of_kind(CacheFileKind::Answers);
        write!(f, "files: {files}, bytes: {bytes}, addresses with an answer: {entries}")?;
        for (kind, files_of, entries_of) in [
            (CacheFileKind::Rules, "files of unwind rules", Some("addresses with a rule")),
            (CacheFileKind::KernelIndex, "indexes of kernel symbols", Some("symbols")),
            (CacheFileKind::Profile, "finished profiles", None),
        ] {
            let FileCount { files, bytes, entries } = self.of_kind(kind);
            if files > 0 {
                write!(f, "\n{files_of}: {files}, bytes: {bytes}")?;
                entries_of.map_or(Ok(()), |of| write!(f, ", {of}: {entries}"))?;
            }
        }
        for (count, are) in
            [(self.unusable, "damaged or of another version"), (self.partial, "not completed")]
        {
            if count.files > 0 {
                write!(f, "\n{are}: {}, bytes: {}", count.files, count.bytes)?;
            }
        }
        Ok(())
    }
}
