//! Rules that outlive a run: those that are taken from a store, and those that are made now and may be left there.
//!
//! A rule outlives its run where it follows from the bytes of the file alone and its making does nothing else: the fast
//! path gives such rules. What was looked for in a debug file, is counted against a limit, or may have a finding is made
//! in each run.

mod plain;
mod table;

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use address::Svma;
use budget::{Held, Memory, MemoryUse};
use image_store::{Image, LoadedImage};

use crate::rule::Rule;

pub use plain::RuleBytes;
pub use table::RuleTable;

use table::is_in_code;

/// The version of the rules that the fast path makes. It is raised where it gives another rule for some address, or one
/// for an address that it gave none for.
pub const RULES: u32 = 1;

/// Where rules are kept from run to run, by what files have in them.
pub trait RuleStore: Debug + Send + Sync {
    /// The rules that are kept of a file, an empty table where there are none as yet; `None` where none may be kept. It is
    /// asked once a file and run.
    fn rules(&self, image: &Image) -> Option<RuleTable>;
}

/// So many rules of a file are made before the store is asked for others: most files of a build have a few frames, and
/// asking costs as much as making forty.
const FEW: usize = 16;

/// Rules of a file that a run leaves for the next one, at most.
const MOST_NEW: usize = 1 << 20;

/// The rules of a store, as one run sees them, and those that it makes.
#[derive(Debug)]
pub struct KeptRules {
    store: Box<dyn RuleStore>,
    memory: Arc<Memory>,
    /// By the serial of the file.
    files: RwLock<Vec<Option<Arc<FileRules>>>>,
}

/// The rules of a file that a run made, by address.
#[derive(Debug)]
pub struct NewRules {
    /// The file.
    pub file: Arc<LoadedImage>,
    /// Addresses as the file states them, ascending, each with its rule.
    pub rules: Vec<(Svma, RuleBytes)>,
}

impl KeptRules {
    /// The rules of a store for one run, whose memory is counted there.
    #[must_use]
    pub fn new(store: Box<dyn RuleStore>, memory: &Arc<Memory>) -> Self {
        Self { store, memory: Arc::clone(memory), files: RwLock::default() }
    }

    /// The rules of a file.
    pub(crate) fn of_file(&self, file: &Arc<LoadedImage>) -> Arc<FileRules> {
        let index = file.serial as usize;
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(known)) = files.get(index) {
            return Arc::clone(known);
        }
        drop(files);
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        if files.len() <= index {
            files.resize(index + 1, None);
        }
        let new = || Arc::new(FileRules::new(Arc::clone(file), &self.memory));
        files.get_mut(index).map_or_else(new, |slot| Arc::clone(slot.get_or_insert_with(new)))
    }

    /// The rule of an address of a file, where the store has it.
    pub(crate) fn find(&self, file: &FileRules, svma: Svma) -> Option<Rule> {
        file.table(&*self.store)?.find(svma)
    }

    /// What was made since this was asked last, by file; of files of which few rules were made, nothing.
    #[must_use]
    pub fn take_new(&self) -> Vec<NewRules> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        files.iter().flatten().filter_map(|file| file.take_new()).collect()
    }
}

/// The rules of a file in one run.
#[derive(Debug)]
pub(crate) struct FileRules {
    file: Arc<LoadedImage>,
    /// What the store has; `None` where nothing of the file may be kept.
    table: OnceLock<Option<RuleTable>>,
    made: Mutex<Made>,
}

#[derive(Debug)]
struct Made {
    rules: Vec<(Svma, Rule)>,
    held: Held,
}

impl FileRules {
    fn new(file: Arc<LoadedImage>, memory: &Arc<Memory>) -> Self {
        let held = Held::new(memory, MemoryUse::Symbols);
        Self { file, table: OnceLock::new(), made: Mutex::new(Made { rules: Vec::new(), held }) }
    }

    /// What the store has, once some rules were made.
    fn table(&self, store: &dyn RuleStore) -> Option<&RuleTable> {
        if let Some(known) = self.table.get() {
            return known.as_ref();
        }
        if self.made().rules.len() < FEW {
            return None;
        }
        let ask = || {
            let table = store.rules(self.file.image());
            self.made().held.add(table.as_ref().map_or(0, RuleTable::heap_bytes));
            table
        };
        self.table.get_or_init(ask).as_ref()
    }

    /// Notes a rule that the fast path made.
    pub(crate) fn note(&self, svma: Svma, rule: Rule) {
        if matches!(self.table.get(), Some(None)) {
            return;
        }
        let mut made = self.made();
        let Made { rules, held } = &mut *made;
        if rules.len() < MOST_NEW {
            if rules.len() == rules.capacity() {
                rules.reserve(rules.len().max(FEW));
                held.add(((rules.capacity() - rules.len()) * size_of::<(Svma, Rule)>()) as u64);
            }
            rules.push((svma, rule));
        }
    }

    fn take_new(&self) -> Option<NewRules> {
        // Nobody asked the store, or it takes nothing.
        let Some(Some(known)) = self.table.get() else { return None };
        let mut made = std::mem::take(&mut self.made().rules);
        made.sort_unstable_by_key(|&(svma, _)| svma);
        // Two threads may have made one.
        made.dedup_by_key(|&mut (svma, _)| svma);
        let image = self.file.image();
        let new = made.into_iter().filter(|&(svma, _)| {
            // The first ones were made before the store was asked.
            is_in_code(image, svma) && known.find(svma).is_none()
        });
        let bytes = |(svma, rule)| Some((svma, RuleBytes::of(rule)?));
        let rules: Vec<(Svma, RuleBytes)> = new.filter_map(bytes).collect();
        (!rules.is_empty()).then(|| NewRules { file: Arc::clone(&self.file), rules })
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        // A panic of another thread leaves a whole value.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
