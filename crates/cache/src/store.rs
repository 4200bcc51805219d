//! The cache during one run: its files that were read, and the writes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use budget::{HeldMemory, MemoryBudget, MemoryUse};
use hashbrown::HashMap;
use host::PrivateFolder;

use crate::answers::Answers;
use crate::folder::{CacheLocation, TAG, trim};
use crate::key::{CacheFileKind, CacheKey};
use crate::layout::RULE;
use crate::profiles::{self, StoredProfile};
use crate::rules::RuleRows;

/// Each file has at most one of this many parts of the total limit.
const PART: u64 = 4;

/// Answers of earlier runs, as seen by one run: a file is read on first use, once.
#[derive(Debug)]
pub struct Cache {
    folder: PrivateFolder,
    most: u64,
    is_default: bool,
    run: Mutex<CacheRun>,
}

#[derive(Debug)]
struct CacheRun {
    read: HashMap<CacheKey, Option<Arc<Answers>>>,
    /// Memory accounted for the files that were read.
    held: HeldMemory,
    has_written: bool,
    problem: Option<String>,
}

impl Cache {
    /// Opens the cache of a place; its memory is accounted in `memory`.
    #[must_use]
    pub fn new(place: &CacheLocation, memory: &Arc<MemoryBudget>) -> Self {
        let held = HeldMemory::new(memory, MemoryUse::Symbols);
        let run = CacheRun { read: HashMap::new(), held, has_written: false, problem: None };
        Self {
            folder: PrivateFolder::at(place.folder.clone()),
            most: place.most,
            is_default: place.is_default,
            run: Mutex::new(run),
        }
    }

    /// Returns true if there are answers under a key. Reads them.
    #[must_use]
    pub fn has(&self, key: &CacheKey) -> bool {
        self.answers(key).is_some()
    }

    /// Returns the answers under a key. Damaged ones are ignored.
    pub(crate) fn answers(&self, key: &CacheKey) -> Option<Arc<Answers>> {
        if let Some(known) = self.run().read.get(key) {
            return known.clone();
        }
        // Read outside the lock: another thread may read the same file with the same result.
        let bytes = self.folder.read(&key.name(CacheFileKind::Answers));
        let answers = bytes.and_then(|bytes| Answers::read(bytes, key)).map(Arc::new);
        let mut run = self.run();
        if let Some(answers) = &answers {
            run.held.add(answers.size() as u64);
        }
        run.read.entry(*key).or_insert(answers).clone()
    }

    /// Maximum size of a file, in bytes.
    pub(crate) fn most_of_file(&self) -> u64 {
        PrivateFolder::LARGEST_FILE.min(self.most / PART)
    }

    /// Stores the answers under a key, replacing earlier ones.
    pub(crate) fn write(&self, key: &CacheKey, bytes: &[u8]) {
        self.write_file(key, CacheFileKind::Answers, bytes);
        // The new file is read again on demand.
        self.run().read.remove(key);
    }

    /// Stores a file under a key, replacing an earlier one.
    pub(crate) fn write_file(&self, key: &CacheKey, kind: CacheFileKind, bytes: &[u8]) {
        let written = self.folder.write(&key.name(kind), &[bytes]);
        let mut run = self.run();
        run.has_written |= written.is_ok();
        run.note(written);
    }

    /// Returns the bytes of a file, which may be damaged.
    pub(crate) fn read_file(&self, key: &CacheKey, kind: CacheFileKind) -> Option<Vec<u8>> {
        self.folder.read(&key.name(kind))
    }

    /// Returns the rules stored under a key. Damaged ones are ignored.
    #[must_use]
    pub fn rules(&self, key: &CacheKey) -> Option<RuleRows> {
        RuleRows::read(&self.folder.read(&key.name(CacheFileKind::Rules))?, key)
    }

    /// Stores rules for ascending addresses in addition to those under a key, if `fits` accepts the old ones.
    pub fn store_rules(
        &self,
        key: &CacheKey,
        new: &[(u64, [u8; RULE])],
        fits: impl FnOnce(&RuleRows) -> bool,
    ) {
        let name = key.name(CacheFileKind::Rules);
        // Rules that another process has written meanwhile are included.
        let old = self.folder.peek(&name).and_then(|bytes| RuleRows::read(&bytes, key));
        let rows = old.filter(fits).unwrap_or_default().with(new);
        let Some(bytes) = rows.write(key).filter(|it| it.len() as u64 <= self.most_of_file())
        else {
            return;
        };
        let written = self.folder.write(&name, &[&bytes]);
        let mut run = self.run();
        run.has_written |= written.is_ok();
        run.note(written);
    }

    /// Returns the finished profile under a key, as its writer stored it. A damaged one is ignored.
    #[must_use]
    pub fn profile(&self, key: &CacheKey) -> Option<StoredProfile> {
        StoredProfile::read(self.folder.content(&key.name(CacheFileKind::Profile))?, key)
    }

    /// Stores a finished profile. `content` writes it, and returns false if it has no stored form.
    pub fn store_profile(
        &self,
        key: &CacheKey,
        content: impl FnOnce(&mut dyn Write) -> io::Result<bool>,
    ) {
        let write = |out: &mut dyn Write| profiles::write(out, key, self.most_of_file(), content);
        let written = self.folder.write_if(&key.name(CacheFileKind::Profile), write);
        let mut run = self.run();
        run.has_written |= written.as_ref().is_ok_and(|&is_there| is_there);
        run.note(written.map(drop));
    }

    /// Ends a run or one step of it: removes the least recently used files if there is too much.
    /// Returns the first error of storing answers in a folder that the user named, once.
    pub fn finish(&self) -> Option<String> {
        if std::mem::take(&mut self.run().has_written) {
            let (name, text) = TAG;
            let tagged = match self.folder.peek(name) {
                Some(_) => Ok(()),
                None => self.folder.write(name, &[text]),
            };
            let trimmed = tagged.and_then(|()| trim(&self.folder, self.most));
            self.run().note(trimmed);
        }
        let problem = self.run().problem.take().filter(|_| !self.is_default)?;
        Some(format!(
            "{}: {problem}; names and unwind rules are not cached for the next run",
            self.folder.path().display()
        ))
    }

    fn run(&self) -> MutexGuard<'_, CacheRun> {
        // A panic of another thread cannot leave it inconsistent.
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheRun {
    /// Records the first error.
    fn note(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.problem.get_or_insert_with(|| error.to_string());
        }
    }
}
