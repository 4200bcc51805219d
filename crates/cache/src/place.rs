//! The folder of a cache: what is in it, and how it stays within its size.

use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use host::{OwnFile, OwnFolder, distrust_of};

use crate::answers::Answers;
use crate::key::{Key, Kind};
use crate::rules::RuleRows;

/// Where answers and rules are kept, and how much of them.
pub use options::CachePlace;

/// Makes the folder of a cache now, for a process that may make none later.
///
/// # Errors
/// If it cannot be made or written, or other users have a part in it.
pub fn make_folder(place: &CachePlace) -> io::Result<()> {
    if let Some(distrust) = distrust_of(&place.folder) {
        return Err(io::Error::other(distrust));
    }
    let (name, text) = TAG;
    OwnFolder::at(place.folder.clone()).write(name, &[text])
}

/// What a writer that was killed left behind goes after so long.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// What folders of caches have in them, so that programs that make backups leave them out.
///
/// Source: <https://bford.info/cachedir/>.
pub(crate) const TAG: (&str, &[u8]) = (
    "CACHEDIR.TAG",
    b"Signature: 8a477f597d28d172789f06886806bc55\n# Answers that unwind-perf keeps from run to run.\n",
);

/// The files of a folder that are of a cache; others that lie there are no concern of it.
fn own_files(folder: &OwnFolder) -> io::Result<Vec<OwnFile>> {
    let is_own = |file: &OwnFile| file.half_done || kind_of(file).is_some();
    Ok(folder.files()?.into_iter().filter(is_own).collect())
}

/// What a file has, by its name.
fn kind_of(file: &OwnFile) -> Option<Kind> {
    Key::kind_of(file.name.to_str()?)
}

/// Removes what was used longest ago, until the folder has no more than `most` bytes. What others remove meanwhile is no
/// error.
pub(crate) fn trim(folder: &OwnFolder, most: u64) -> io::Result<()> {
    let mut files = own_files(folder)?;
    files.sort_by(|a, b| (a.used, &a.name).cmp(&(b.used, &b.name)));
    let mut bytes: u64 = files.iter().map(|file| file.size).sum();
    let now = SystemTime::now();
    for file in &files {
        let age = now.duration_since(file.used).unwrap_or_default();
        let goes = if file.half_done { age > ABANDONED } else { bytes > most };
        if goes {
            folder.remove(file)?;
            bytes -= file.size;
        }
    }
    Ok(())
}

/// What is in the folder of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheContents {
    /// Files with answers that can be used.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Addresses that have an answer.
    pub addresses: u64,
    /// Files with unwind rules that can be used.
    pub rule_files: u64,
    /// Bytes of them.
    pub rule_bytes: u64,
    /// Addresses that have a rule.
    pub rule_addresses: u64,
    /// Files that are damaged, or of another version of this program.
    pub unusable: u64,
    /// Bytes of them.
    pub unusable_bytes: u64,
    /// Files that are being written, or whose writer was killed.
    pub half_done: u64,
    /// Bytes of them.
    pub half_done_bytes: u64,
}

impl CacheContents {
    /// Looks through a folder. Nothing of it counts as used by that.
    ///
    /// # Errors
    /// Where it is not there or cannot be listed.
    pub fn of(folder: &OwnFolder) -> io::Result<Self> {
        if !folder.is_there() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut found = Self::default();
        for file in own_files(folder)? {
            if file.half_done {
                found.half_done += 1;
                found.half_done_bytes += file.size;
                continue;
            }
            match addresses_of(folder, &file) {
                Some((Kind::Answers, addresses)) => {
                    found.files += 1;
                    found.bytes += file.size;
                    found.addresses += addresses as u64;
                }
                Some((Kind::Rules, addresses)) => {
                    found.rule_files += 1;
                    found.rule_bytes += file.size;
                    found.rule_addresses += addresses as u64;
                }
                None => {
                    found.unusable += 1;
                    found.unusable_bytes += file.size;
                }
            }
        }
        Ok(found)
    }

    /// Removes all files of a cache from a folder; gives how many, and their bytes. Others that are there stay.
    ///
    /// # Errors
    /// Where the folder is not there or a file cannot be removed.
    pub fn clear(folder: &OwnFolder) -> io::Result<(u64, u64)> {
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

/// How many addresses a file has something for; `None` where it cannot be used.
fn addresses_of(folder: &OwnFolder, file: &OwnFile) -> Option<(Kind, usize)> {
    let kind = kind_of(file)?;
    let bytes = folder.look(file.name.to_str()?)?;
    let addresses = match kind {
        Kind::Answers => Answers::read_any(bytes)?.len(),
        Kind::Rules => RuleRows::read_any(&bytes)?.offsets.len(),
    };
    Some((kind, addresses))
}

/// A line for each kind of file that there is.
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
        for (what, files, bytes) in [
            ("damaged or of another version", self.unusable, self.unusable_bytes),
            ("not completed", self.half_done, self.half_done_bytes),
        ] {
            if files > 0 {
                write!(f, "\n{what}: {files}, bytes: {bytes}")?;
            }
        }
        Ok(())
    }
}
