//! The cache of one run: what was read of its folder, and what is written there.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use budget::{Held, Memory, MemoryUse};
use hashbrown::HashMap;
use host::OwnFolder;

use crate::answers::Answers;
use crate::key::{Key, Kind};
use crate::layout::RULE;
use crate::place::{CachePlace, TAG, trim};
use crate::rules::RuleRows;

/// One file has no more than this part of what all of them may have.
const PART: u64 = 4;

/// Answers of earlier runs, as one run sees them: a file is read when it is first asked for, and not again.
#[derive(Debug)]
pub struct Cache {
    folder: OwnFolder,
    most: u64,
    run: Mutex<Run>,
}

#[derive(Debug)]
struct Run {
    read: HashMap<Key, Option<Arc<Answers>>>,
    /// What was read takes.
    held: Held,
    has_written: bool,
    problem: Option<String>,
}

impl Cache {
    /// The cache of a place, for a run whose memory is counted there.
    #[must_use]
    pub fn new(place: &CachePlace, memory: &Arc<Memory>) -> Self {
        let held = Held::new(memory, MemoryUse::Symbols);
        let run = Run { read: HashMap::new(), held, has_written: false, problem: None };
        Self { folder: OwnFolder::at(place.folder.clone()), most: place.most, run: Mutex::new(run) }
    }

    /// Whether there are answers under a key. They are read for that.
    #[must_use]
    pub fn has(&self, key: &Key) -> bool {
        self.answers(key).is_some()
    }

    /// The answers under a key. What is damaged is not there.
    pub(crate) fn answers(&self, key: &Key) -> Option<Arc<Answers>> {
        if let Some(known) = self.run().read.get(key) {
            return known.clone();
        }
        // Read outside the lock: another thread may do the same, and finds the same.
        let bytes = self.folder.read(&key.name(Kind::Answers));
        let answers = bytes.and_then(|bytes| Answers::read(bytes, key)).map(Arc::new);
        let mut run = self.run();
        if let Some(answers) = &answers {
            run.held.add(answers.size() as u64);
        }
        run.read.entry(*key).or_insert(answers).clone()
    }

    /// Bytes of a file at most.
    pub(crate) const fn most_of_file(&self) -> u64 {
        self.most / PART
    }

    /// Keeps the answers under a key, in the place of those of before.
    pub(crate) fn write(&self, key: &Key, bytes: &[u8]) {
        let written = self.folder.write(&key.name(Kind::Answers), &[bytes]);
        let mut run = self.run();
        // What was written is read again where it is asked for.
        run.read.remove(key);
        run.has_written |= written.is_ok();
        run.note(written);
    }

    /// The rules that are kept under a key. What is damaged is not there.
    #[must_use]
    pub fn rules(&self, key: &Key) -> Option<RuleRows> {
        RuleRows::read(&self.folder.read(&key.name(Kind::Rules))?, key)
    }

    /// Keeps rules of addresses, which ascend, beside those that are kept under a key, where these fit what they are of.
    pub fn keep_rules(
        &self,
        key: &Key,
        new: &[(u64, [u8; RULE])],
        fits: impl FnOnce(&RuleRows) -> bool,
    ) {
        let name = key.name(Kind::Rules);
        // What another process has written meanwhile stays.
        let old = self.folder.look(&name).and_then(|bytes| RuleRows::read(&bytes, key));
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

    /// At the end of a run, or of a step of it: what was used longest ago goes, where there is too much. Gives why answers
    /// could not be kept, once.
    pub fn finish(&self) -> Option<String> {
        if std::mem::take(&mut self.run().has_written) {
            let (name, text) = TAG;
            let tagged = match self.folder.look(name) {
                Some(_) => Ok(()),
                None => self.folder.write(name, &[text]),
            };
            let trimmed = tagged.and_then(|()| trim(&self.folder, self.most));
            self.run().note(trimmed);
        }
        let problem = self.run().problem.take()?;
        Some(format!(
            "{}: {problem}; names and unwind rules are not kept for the next run",
            self.folder.path().display()
        ))
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        // A panic of another thread cannot leave it half-changed.
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    /// Notes the first thing that went wrong.
    fn note(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.problem.get_or_insert_with(|| error.to_string());
        }
    }
}
