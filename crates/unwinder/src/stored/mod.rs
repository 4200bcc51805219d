//! Rules that outlive a run: those from a store, and newly made ones for the store.
//!
//! A rule can outlive its run if it depends only on the bytes of the file and making it has no side effects: the fast
//! path makes such rules. Rules are made again in each run if they need a debug file, count against a limit, or may
//! cause a finding.

mod rule_bytes;
mod rule_table;

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use address::Svma;
use budget::{HeldMemory, MemoryBudget, MemoryUse};
use image_store::{Image, LoadedImage};

use crate::rule::Rule;

pub use rule_bytes::RuleBytes;
pub use rule_table::RuleTable;

use rule_table::is_in_code;

/// Version of the fast path's rules. It is raised when the fast path gives another rule for some address, or a rule for
/// an address that had none.
pub const RULES_VERSION: u32 = 1;

/// Storage of rules across runs, keyed by the contents of files.
pub trait RuleStore: Debug + Send + Sync {
    /// Returns the stored rules of a file, an empty table if there are none yet; `None` if none may be stored. Called
    /// once per file and run.
    fn rules(&self, image: &Image) -> Option<RuleTable>;
}

/// Number of rules of a file that are made before the store is queried. Most files of a build have few frames, and a
/// query costs as much as making forty rules.
const FEW: usize = 16;

/// Maximum number of rules of a file that a run stores for the next one.
const MOST_NEW: usize = 1 << 20;

/// The rules of a store as one run reads them, and the rules that the run makes.
#[derive(Debug)]
pub struct StoredRules {
    store: Box<dyn RuleStore>,
    memory: Arc<MemoryBudget>,
    /// Indexed by the serial of the file.
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

impl StoredRules {
    /// Creates the rules of a store for one run. Their memory is counted in `memory`.
    #[must_use]
    pub fn new(store: Box<dyn RuleStore>, memory: &Arc<MemoryBudget>) -> Self {
        Self { store, memory: Arc::clone(memory), files: RwLock::default() }
    }

    /// Returns the rules of a file.
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

    /// Returns the stored rule of an address of a file, if there is one.
    pub(crate) fn find(&self, file: &FileRules, svma: Svma) -> Option<Rule> {
        file.table(&*self.store)?.find(svma)
    }

    /// Returns the rules that were made since the last call, by file. Files with few new rules are omitted.
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
    /// The stored rules; `None` if no rules of the file may be stored.
    table: OnceLock<Option<RuleTable>>,
    made: Mutex<PendingRules>,
}

#[derive(Debug)]
struct PendingRules {
    rules: Vec<(Svma, Rule)>,
    held: HeldMemory,
}

impl FileRules {
    fn new(file: Arc<LoadedImage>, memory: &Arc<MemoryBudget>) -> Self {
        let held = HeldMemory::new(memory, MemoryUse::Symbols);
        Self {
            file,
            table: OnceLock::new(),
            made: Mutex::new(PendingRules { rules: Vec::new(), held }),
        }
    }

    /// Returns the stored rules, once some rules were made.
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

    /// Records a rule that the fast path made.
    pub(crate) fn note(&self, svma: Svma, rule: Rule) {
        if matches!(self.table.get(), Some(None)) {
            return;
        }
        let mut made = self.made();
        let PendingRules { rules, held } = &mut *made;
        if rules.len() < MOST_NEW {
            if rules.len() == rules.capacity() {
                rules.reserve(rules.len().max(FEW));
                held.add(((rules.capacity() - rules.len()) * size_of::<(Svma, Rule)>()) as u64);
            }
            rules.push((svma, rule));
        }
    }

    fn take_new(&self) -> Option<NewRules> {
        // The store was not queried, or accepts nothing.
        let Some(Some(known)) = self.table.get() else { return None };
        let mut made = std::mem::take(&mut self.made().rules);
        made.sort_unstable_by_key(|&(svma, _)| svma);
        // Two threads may have made the same rule.
        made.dedup_by_key(|&mut (svma, _)| svma);
        let image = self.file.image();
        let new = made.into_iter().filter(|&(svma, _)| {
            // The first ones were made before the store was queried.
            is_in_code(image, svma) && known.find(svma).is_none()
        });
        let bytes = |(svma, rule)| Some((svma, RuleBytes::of(rule)?));
        let rules: Vec<(Svma, RuleBytes)> = new.filter_map(bytes).collect();
        (!rules.is_empty()).then(|| NewRules { file: Arc::clone(&self.file), rules })
    }

    fn made(&self) -> MutexGuard<'_, PendingRules> {
        // A panic of another thread leaves a consistent value.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
