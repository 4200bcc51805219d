//! Results on the disk: for each key the packed tables of the page, and the account of the run beside them. They appear
//! when they are complete; the one that was used longest ago goes first when there are too many bytes.
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

use super::known::KnownFiles;
use super::used::UsedFile;

/// The endings of the two files of a result.
const TABLES: &str = "tables.gz";
const ACCOUNT: &str = "account.json";

/// How files begin that are being written. A service that was killed leaves some behind; others may be at work in the same
/// folder, so that only those of yesterday and before are removed.
const HALF_DONE: &[u8] = b".unwind-perf-";
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// What is known of a result beside its tables.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The account of the run.
    pub(crate) about: Box<RawValue>,
    /// The files that were opened for modules.
    pub(crate) used: Vec<UsedFile>,
    /// Whether the recording is a stranger's.
    #[serde(default)]
    pub(crate) foreign: bool,
}

/// A result.
#[derive(Debug)]
pub(crate) struct Artefact {
    pub(crate) account: Account,
    /// The packed tables.
    pub(crate) tables: File,
    pub(crate) size: u64,
}

/// The results.
#[derive(Debug)]
pub(crate) struct Artefacts {
    folder: PathBuf,
    most: u64,
    rows: Mutex<HashMap<String, Row>>,
    /// Counts the uses.
    uses: AtomicU64,
    known: KnownFiles,
}

#[derive(Debug)]
struct Row {
    bytes: u64,
    /// When it was used last, by a count of uses: the machine's clock may be set.
    used: u64,
    /// When it was made, by the same count.
    made: u64,
    /// The files that were opened for modules, once somebody asked for them.
    files: Option<Arc<[UsedFile]>>,
}

/// How full the store is, and what it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreSize {
    pub(crate) results: usize,
    pub(crate) bytes: u64,
}

impl Artefacts {
    /// The store in a folder, which is made where it is not there. What a run left half done is not taken in.
    ///
    /// # Errors
    /// Where the folder cannot be made or read.
    pub(crate) fn open(folder: &Path, most: u64) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut found = Vec::new();
        let known = KnownFiles::default();
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
                    known.add(&account);
                }
                found.push((used, key, account + tables));
            }
        }
        found.sort();
        let rows = (0..)
            .zip(found)
            .map(|(used, (_, key, bytes))| (key, Row { bytes, used, made: used, files: None }));
        let rows: HashMap<String, Row> = rows.collect();
        let uses = AtomicU64::new(rows.len() as u64);
        let store = Self { folder: folder.to_owned(), most, rows: Mutex::new(rows), uses, known };
        store.make_room();
        Ok(store)
    }

    /// A result, unless a file that it was made with has changed.
    pub(crate) fn get(&self, key: &str, host: &dyn Host) -> Option<Artefact> {
        self.rows().get_mut(key)?.used = self.next_use();
        let account = self.path(key, ACCOUNT);
        let found = || -> io::Result<Artefact> {
            let account = read_account(&account)?;
            let tables = File::open(self.path(key, TABLES))?;
            let size = tables.metadata()?.size();
            Ok(Artefact { account, tables, size })
        };
        // Kept for the next start.
        let touched = File::open(&account).and_then(|file| file.set_modified(SystemTime::now()));
        let current = |it: &Artefact| it.account.used.iter().all(|used| is_current(used, host));
        let artefact = found().ok().filter(current);
        if artefact.is_none() || touched.is_err() {
            self.remove(key);
        }
        artefact
    }

    /// Which result of a key there is, unless a file that it was made with has changed: a number that no other result of
    /// this run has.
    pub(crate) fn current(&self, key: &str, host: &dyn Host) -> Option<u64> {
        let (made, files) = {
            let mut rows = self.rows();
            let row = rows.get_mut(key)?;
            row.used = self.next_use();
            (row.made, row.files.clone())
        };
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

    /// A file for the tables of a new result.
    ///
    /// # Errors
    /// Where there is no space.
    pub(crate) fn begin(&self, key: &str) -> io::Result<NewFile> {
        NewFile::beside(&self.path(key, TABLES))
    }

    /// Takes a result in, whose tables were written.
    ///
    /// # Errors
    /// Where there is no space.
    pub(crate) fn complete(&self, key: &str, tables: NewFile, account: &Account) -> io::Result<()> {
        let account_text = serde_json::to_vec(account)?;
        let mut text = NewFile::beside(&self.path(key, ACCOUNT))?;
        text.write_all(&account_text)?;
        tables.complete()?;
        text.complete()?;
        let bytes = size(&self.path(key, TABLES)).unwrap_or(0) + account_text.len() as u64;
        self.known.add(account);
        let made = self.next_use();
        let files = Some(account.used.as_slice().into());
        self.rows().insert(key.to_owned(), Row { bytes, used: made, made, files });
        self.make_room();
        Ok(())
    }

    /// Drops a result.
    pub(crate) fn remove(&self, key: &str) {
        self.rows().remove(key);
        for ending in [ACCOUNT, TABLES] {
            // It may be gone already.
            let _ = fs::remove_file(self.path(key, ending));
        }
    }

    /// Where files of build-ids are.
    pub(crate) const fn known(&self) -> &KnownFiles {
        &self.known
    }

    /// Bytes that are kept at most.
    pub(crate) const fn most(&self) -> u64 {
        self.most
    }

    pub(crate) fn size(&self) -> StoreSize {
        let rows = self.rows();
        StoreSize { results: rows.len(), bytes: rows.values().map(|row| row.bytes).sum() }
    }

    /// Drops what was used longest ago, but the newest result stays.
    fn make_room(&self) {
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

    fn rows(&self) -> std::sync::MutexGuard<'_, HashMap<String, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove_old(entry: &fs::DirEntry) {
    let written = entry.metadata().and_then(|it| it.modified());
    if written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OLD)) {
        // It may be gone already.
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
        // What is not complete is not there after a restart; what is old of it goes.
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
        // A smaller bound.
        assert_eq!(Artefacts::open(dir.path(), 1).unwrap().size().results, 1);
    }

    /// Clocks are set forth and back: what is used now is used last, whatever the time is.
    #[test]
    fn a_clock_that_jumps_keeps_nothing_for_ever() {
        let dir = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let store = Artefacts::open(dir.path(), 1000).unwrap();
        put(&store, "a", &[]);
        put(&store, "b", &[]);
        let later = SystemTime::now() + Duration::from_secs(365 * 24 * 60 * 60);
        let account = File::open(dir.path().join("a.account.json")).unwrap();
        account.set_modified(later).unwrap();
        // Of what was there at the start, its time tells; then only the order of uses does.
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
        assert_eq!(again.known().places("ab01"), [program.as_path()]);
        assert!(again.known().places("ab02").is_empty());
        assert!(again.current("a", &RealHost).is_some());
        fs::write(&program, b"newer").unwrap();
        assert_eq!(store.current("a", &RealHost), None);
        assert_eq!(again.current("a", &RealHost), None);
        assert!(store.get("a", &RealHost).is_none());
        assert_eq!(store.size().results, 0);
    }
}
