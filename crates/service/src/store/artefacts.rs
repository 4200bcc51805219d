//! Results on disk: for each key, the compressed tables of the page and the account of the run. Incomplete results are
//! invisible; the least recently used results are deleted when the store is full.
#![allow(
    clippy::disallowed_methods,
    reason = "results are kept here, in a folder of the service's own"
)]

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hashbrown::HashMap;
use host::{Host, NewFile, Origin};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::file_paths::FilePaths;
use super::used::UsedFile;

/// File extensions of the two files of a result.
const TABLES: &str = "tables.gz";
const ACCOUNT: &str = "account.json";

/// Name prefix of partial files, which a killed service leaves behind. Other services may be writing to the same
/// folder, so only files older than a day are deleted.
const HALF_DONE: &[u8] = b".unwind-perf-";
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Metadata of a result.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    /// Account of the run.
    pub(crate) about: Box<RawValue>,
    /// Files that were opened for modules.
    pub(crate) used: Vec<UsedFile>,
    /// True if the recording is untrusted.
    #[serde(default)]
    pub(crate) foreign: bool,
}

/// Stored result.
#[derive(Debug)]
pub(crate) struct Artefact {
    pub(crate) account: Account,
    /// Compressed tables.
    pub(crate) tables: File,
    pub(crate) size: u64,
}

/// Store of results.
#[derive(Debug)]
pub(crate) struct Artefacts {
    folder: PathBuf,
    most: u64,
    rows: Mutex<HashMap<String, ArtefactRow>>,
    /// Counter of uses.
    uses: AtomicU64,
    file_paths: FilePaths,
}

#[derive(Debug)]
struct ArtefactRow {
    bytes: u64,
    /// Last use, by the counter of uses, since the system clock can jump.
    used: u64,
    /// Time of creation, by the same counter.
    made: u64,
    /// Files that were opened for modules; `None` until first needed.
    files: Option<Arc<[UsedFile]>>,
}

/// Number and size of the stored results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreSize {
    pub(crate) results: usize,
    pub(crate) bytes: u64,
}

impl Artefacts {
    /// Opens the store in a folder, and creates the folder if necessary. Partial results of earlier runs are ignored.
    ///
    /// # Errors
    /// If the folder cannot be created or read.
    pub(crate) fn open(folder: &Path, most: u64) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut found = Vec::new();
        let file_paths = FilePaths::default();
        for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(HALF_DONE) {
                remove_old(&entry);
                continue;
            }
            let Some(key) = name.to_str().and_then(|name| name.strip_suffix(ACCOUNT)) else {
                continue;
            };
            let key = key.trim_end_matches('.').to_owned();
            let sizes = [ACCOUNT, TABLES].map(|ending| size(&path(folder, &key, ending)));
            if let [Some(account), Some(tables)] = sizes {
                let used = entry.metadata().and_then(|it| it.modified());
                let used = used.unwrap_or(SystemTime::UNIX_EPOCH);
                if let Ok(account) = read_account(&entry.path()) {
                    file_paths.add(&account);
                }
                found.push((used, key, account + tables));
            }
        }
        found.sort();
        let rows = (0..).zip(found).map(|(used, (_, key, bytes))| {
            (key, ArtefactRow { bytes, used, made: used, files: None })
        });
        let rows: HashMap<String, ArtefactRow> = rows.collect();
        let uses = AtomicU64::new(rows.len() as u64);
        let store =
            Self { folder: folder.to_owned(), most, rows: Mutex::new(rows), uses, file_paths };
        store.evict();
        Ok(store)
    }

    /// Returns a result, unless a file that it depends on has changed.
    pub(crate) fn get(&self, key: &str, host: &dyn Host) -> Option<Artefact> {
        self.rows().get_mut(key)?.used = self.next_use();
        let account = self.path(key, ACCOUNT);
        let found = || -> io::Result<Artefact> {
            let account = read_account(&account)?;
            let tables = File::open(self.path(key, TABLES))?;
            let size = tables.metadata()?.size();
            Ok(Artefact { account, tables, size })
        };
        // Updates the order of use for the next start.
        let touched = File::open(&account).and_then(|file| file.set_modified(SystemTime::now()));
        let current = |it: &Artefact| it.account.used.iter().all(|used| is_current(used, host));
        let artefact = found().ok().filter(current);
        if artefact.is_none() || touched.is_err() {
            self.remove(key);
        }
        artefact
    }

    /// Returns the number of the result for a key, unless a file that it depends on has changed. The number is unique
    /// within this run.
    pub(crate) fn current(&self, key: &str, host: &dyn Host) -> Option<u64> {
        if let Some(row) = self.rows().get_mut(key) {
            row.used = self.next_use();
        }
        self.look_up(key, host)
    }

    /// Does the same, but does not count as a use of the result, so that the least recently used one stays the same.
    pub(crate) fn look_up(&self, key: &str, host: &dyn Host) -> Option<u64> {
        let (made, files) = self.rows().get(key).map(|row| (row.made, row.files.clone()))?;
        let files = match files {
            Some(files) => files,
            None => {
                let account = read_account(&self.path(key, ACCOUNT)).ok()?;
                let files: Arc<[UsedFile]> = account.used.into();
                if let Some(row) = self.rows().get_mut(key).filter(|row| row.made == made) {
                    row.files = Some(Arc::clone(&files));
                }
                files
            }
        };
        files.iter().all(|used| is_current(used, host)).then_some(made)
    }

    /// Creates a file for the tables of a new result.
    ///
    /// # Errors
    /// If it cannot be created, for lack of space.
    pub(crate) fn begin(&self, key: &str) -> io::Result<NewFile> {
        NewFile::create(&self.path(key, TABLES))
    }

    /// Stores a result after its tables are written.
    ///
    /// # Errors
    /// If it cannot be written, for lack of space.
    pub(crate) fn complete(&self, key: &str, tables: NewFile, account: &Account) -> io::Result<()> {
        let account_text = serde_json::to_vec(account)?;
        let mut text = NewFile::create(&self.path(key, ACCOUNT))?;
        text.write_all(&account_text)?;
        tables.complete()?;
        text.complete()?;
        let bytes = size(&self.path(key, TABLES)).unwrap_or(0) + account_text.len() as u64;
        self.file_paths.add(account);
        let made = self.next_use();
        let files = Some(account.used.as_slice().into());
        self.rows().insert(key.to_owned(), ArtefactRow { bytes, used: made, made, files });
        self.evict();
        Ok(())
    }

    /// Deletes a result.
    pub(crate) fn remove(&self, key: &str) {
        self.rows().remove(key);
        for ending in [ACCOUNT, TABLES] {
            // The file may be deleted already.
            let _ = fs::remove_file(self.path(key, ending));
        }
    }

    /// Known locations of files by build-id.
    pub(crate) const fn file_paths(&self) -> &FilePaths {
        &self.file_paths
    }

    /// Maximum bytes of the store.
    pub(crate) const fn most(&self) -> u64 {
        self.most
    }

    pub(crate) fn size(&self) -> StoreSize {
        let rows = self.rows();
        StoreSize { results: rows.len(), bytes: rows.values().map(|row| row.bytes).sum() }
    }

    /// Deletes the least recently used results until the store is within its limit, except the newest one.
    fn evict(&self) {
        loop {
            let oldest = {
                let rows = self.rows();
                let sum: u64 = rows.values().map(|row| row.bytes).sum();
                if sum <= self.most || rows.len() < 2 {
                    return;
                }
                rows.iter().min_by_key(|(_, row)| row.used).map(|(key, _)| key.clone())
            };
            let Some(oldest) = oldest else { return };
            self.remove(&oldest);
        }
    }

    fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    fn path(&self, key: &str, ending: &str) -> PathBuf {
        path(&self.folder, key, ending)
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, HashMap<String, ArtefactRow>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove_old(entry: &fs::DirEntry) {
    let written = entry.metadata().and_then(|it| it.modified());
    if written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD)) {
        // The file may be deleted already.
        let _ = fs::remove_file(entry.path());
    }
}

fn path(folder: &Path, key: &str, ending: &str) -> PathBuf {
    folder.join(format!("{key}.{ending}"))
}

fn size(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.size())
}

fn read_account(path: &Path) -> io::Result<Account> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

fn is_current(used: &UsedFile, host: &dyn Host) -> bool {
    let origin = Origin::Stored { root: Path::new("/") };
    host.stat(Path::new(&used.path), origin).is_ok_and(|stat| used.is(&stat.stamp))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use host::{RealHost, ScratchDir};

    use super::*;

    fn put(store: &Artefacts, key: &str, used: &[UsedFile]) {
        let mut tables = store.begin(key).unwrap();
        tables.write_all(&[7; 100]).unwrap();
        let about = RawValue::from_string(format!(r#"{{"key":"{key}"}}"#)).unwrap();
        let account = Account { about, used: used.to_vec(), foreign: false };
        store.complete(key, tables, &account).unwrap();
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let dir = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let store = Artefacts::open(dir.path(), 300).unwrap();
        put(&store, "a", &[]);
        put(&store, "b", &[]);
        assert_eq!(store.size(), StoreSize { results: 2, bytes: 2 * (100 + 47) });
        assert_eq!(store.get("a", &RealHost).unwrap().account.about.get(), r#"{"key":"a"}"#);
        put(&store, "c", &[]);
        assert!(store.get("b", &RealHost).is_none());
        let mut bytes = Vec::new();
        store.get("a", &RealHost).unwrap().tables.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, [7; 100]);
        // Incomplete results are ignored after a restart, and old partial files are deleted.
        for (name, age) in [(".unwind-perf-new", 0), (".unwind-perf-old", 2 * 24 * 60 * 60)] {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        fs::write(dir.path().join("d.account.json"), b"{}").unwrap();
        let again = Artefacts::open(dir.path(), 300).unwrap();
        assert_eq!(again.size(), StoreSize { results: 2, bytes: 294 });
        assert!(dir.path().join(".unwind-perf-new").exists());
        assert!(!dir.path().join(".unwind-perf-old").exists());
        assert!(again.get("c", &RealHost).is_some() && again.get("d", &RealHost).is_none());
        // A lower limit.
        assert_eq!(Artefacts::open(dir.path(), 1).unwrap().size().results, 1);
    }

    /// Clocks can jump: the latest use counts as last, independently of the system time.
    #[test]
    fn a_clock_that_jumps_keeps_nothing_for_ever() {
        let dir = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let store = Artefacts::open(dir.path(), 1000).unwrap();
        put(&store, "a", &[]);
        put(&store, "b", &[]);
        let later = SystemTime::now() + Duration::from_secs(365 * 24 * 60 * 60);
        let account = File::open(dir.path().join("a.account.json")).unwrap();
        account.set_modified(later).unwrap();
        // After a start, files are ordered by their modification time; from then on, only the order of uses counts.
        let again = Artefacts::open(dir.path(), 350).unwrap();
        assert!(again.get("b", &RealHost).is_some());
        put(&again, "c", &[]);
        assert!(again.get("a", &RealHost).is_none());
        assert!(again.get("b", &RealHost).is_some() && again.get("c", &RealHost).is_some());
        let half_done = File::create(dir.path().join(".unwind-perf-later")).unwrap();
        half_done.set_modified(later).unwrap();
        assert_eq!(Artefacts::open(dir.path(), 350).unwrap().size().results, 2);
    }

    #[test]
    fn a_result_goes_with_the_files_that_it_was_made_with() {
        let dir = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let store = Artefacts::open(&dir.path().join("store"), 1 << 20).unwrap();
        let program = dir.path().join("program");
        fs::write(&program, b"old").unwrap();
        let stat = RealHost.stat(&program, Origin::User).unwrap();
        let used = UsedFile::new(program.to_str().unwrap(), &stat.stamp, Some("ab01".to_owned()));
        put(&store, "a", std::slice::from_ref(&used));
        assert!(store.get("a", &RealHost).is_some());
        let first = store.current("a", &RealHost).unwrap();
        assert_eq!(store.current("a", &RealHost), Some(first));
        put(&store, "a", &[used]);
        let second = store.current("a", &RealHost).unwrap();
        assert!(second > first);
        assert_eq!(store.current("b", &RealHost), None);
        let again = Artefacts::open(&dir.path().join("store"), 1 << 20).unwrap();
        assert_eq!(again.file_paths().paths("ab01"), [program.as_path()]);
        assert!(again.file_paths().paths("ab02").is_empty());
        assert!(again.current("a", &RealHost).is_some());
        fs::write(&program, b"newer").unwrap();
        assert_eq!(store.current("a", &RealHost), None);
        assert_eq!(again.current("a", &RealHost), None);
        assert!(store.get("a", &RealHost).is_none());
        assert_eq!(store.size().results, 0);
    }
}
