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
    /// Number of usable files with answers.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Number of addresses with an answer.
    pub addresses: u64,
    /// Number of usable files with unwind rules.
    pub rule_files: u64,
    /// Their size in bytes.
    pub rule_bytes: u64,
    /// Number of addresses with a rule.
    pub rule_addresses: u64,
    /// Number of usable indexes of kernel symbols.
    pub kernel_files: u64,
    /// Their size in bytes.
    pub kernel_bytes: u64,
    /// Number of their symbols.
    pub kernel_symbols: u64,
    /// Number of usable finished profiles.
    pub profiles: u64,
    /// Their size in bytes.
    pub profile_bytes: u64,
    /// Number of files that are damaged, or of another version of this program.
    pub unusable: u64,
    /// Their size in bytes.
    pub unusable_bytes: u64,
    /// Number of partial files: being written, or left by a killed writer.
    pub partial_files: u64,
    /// Their size in bytes.
    pub partial_bytes: u64,
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
            if file.is_partial {
                found.partial_files += 1;
                found.partial_bytes += file.size;
                continue;
            }
            match addresses_of(folder, &file) {
                Some((CacheFileKind::Answers, addresses)) => {
                    found.files += 1;
                    found.bytes += file.size;
                    found.addresses += addresses as u64;
                }
                Some((CacheFileKind::Rules, addresses)) => {
                    found.rule_files += 1;
                    found.rule_bytes += file.size;
                    found.rule_addresses += addresses as u64;
                }
                Some((CacheFileKind::KernelIndex, symbols)) => {
                    found.kernel_files += 1;
                    found.kernel_bytes += file.size;
                    found.kernel_symbols += symbols as u64;
                }
                Some((CacheFileKind::Profile, _)) => {
                    found.profiles += 1;
                    found.profile_bytes += file.size;
                }
                None => {
                    found.unusable += 1;
                    found.unusable_bytes += file.size;
                }
            }
        }
        Ok(found)
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

/// Returns the kind and the number of addresses of a file; `None` if it is unusable.
fn addresses_of(folder: &PrivateFolder, file: &PrivateFile) -> Option<(CacheFileKind, usize)> {
    let kind = kind_of(file)?;
    let bytes = folder.peek(file.name.to_str()?)?;
    let addresses = match kind {
        CacheFileKind::Answers => Answers::read_any(bytes)?.len(),
        CacheFileKind::Rules => RuleRows::read_any(&bytes)?.offsets.len(),
        CacheFileKind::KernelIndex => KernelIndex::read_any(bytes)?.len(),
        CacheFileKind::Profile => profiles::content(&bytes, None)?.len(),
    };
    Some((kind, addresses))
}

/// One line for each kind of file present.
impl fmt::Display for CacheContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, bytes, addresses, .. } = self;
        write!(f, "files: {files}, bytes: {bytes}, addresses with an answer: {addresses}")?;
        if self.rule_files > 0 {
            let Self { rule_files, rule_bytes, rule_addresses, .. } = self;
            write!(
                f,
                "\nfiles of unwind rules: {rule_files}, bytes: {rule_bytes}, addresses with a rule: {rule_addresses}"
            )?;
        }
        if self.kernel_files > 0 {
            let Self { kernel_files, kernel_bytes, kernel_symbols, .. } = self;
            write!(
                f,
                "\nindexes of kernel symbols: {kernel_files}, bytes: {kernel_bytes}, symbols: {kernel_symbols}"
            )?;
        }
        if self.profiles > 0 {
            write!(f, "\nfinished profiles: {}, bytes: {}", self.profiles, self.profile_bytes)?;
        }
        for (what, files, bytes) in [
            ("damaged or of another version", self.unusable, self.unusable_bytes),
            ("not completed", self.partial_files, self.partial_bytes),
        ] {
            if files > 0 {
                write!(f, "\n{what}: {files}, bytes: {bytes}")?;
            }
        }
        Ok(())
    }
}
