//! Descriptions whose instructions are many: their rows are found once, since each address would have them run again
//! from the first. What that may cost is counted for each file.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use address::Svma;
use budget::{Budget, Exhausted, Resource, SharedAllowance};
use gimli::{BaseAddresses, UnwindSection};
use hashbrown::HashMap;

use crate::arch::Arch;
use crate::cfi::compile::{Compiled, Context, RowKey, RowSource, compile_row};
use crate::cfi::fde::{Bytes, Fde};
use crate::rule::Rule;

/// Descriptions of more bytes, with those that they have in common with others, are long. In large programs one of a
/// thousand is.
pub(crate) const LONG: usize = 1024;

/// Rows that are kept of the long descriptions of a file; the largest description of a compiler has 5,000.
const ROWS: usize = 1 << 18;

/// The rows of a description, where they are kept.
type Rows = Option<Arc<RowTable>>;

/// The rows of a description, in order of address.
#[derive(Debug)]
struct RowTable(Vec<KnownRow>);

#[derive(Debug)]
struct KnownRow {
    start: u64,
    end: u64,
    /// `None` for what is no simple rule.
    rule: Option<Rule>,
}

/// The long descriptions of a file, and what reading its call frame information may cost.
#[derive(Debug)]
pub(crate) struct LongDescriptions {
    /// By their sections and the offsets in those; `None` where the rows are not kept.
    tables: RwLock<HashMap<(usize, usize), Rows>>,
    rows: AtomicUsize,
    /// The rules of rows that are no simple ones.
    full: RwLock<HashMap<RowKey, Rule>>,
    instructions: SharedAllowance,
    row_bytes: SharedAllowance,
    exhausted: OnceLock<Exhausted>,
}

impl LongDescriptions {
    /// Of a file of so many bytes.
    pub(crate) fn new(budget: &Budget, file_bytes: u64) -> Self {
        Self {
            tables: RwLock::default(),
            rows: AtomicUsize::new(0),
            full: RwLock::default(),
            instructions: budget.shared_allowance(Resource::FrameInstructions, file_bytes),
            row_bytes: budget.shared_allowance(Resource::RuleBytes, file_bytes),
            exhausted: OnceLock::new(),
        }
    }

    /// What ran out first, if anything did.
    pub(crate) fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get().copied()
    }

    /// Whether a row of so many bytes may be kept.
    pub(crate) fn may_keep(&self, bytes: u64) -> bool {
        self.allows(&self.row_bytes, bytes)
    }

    fn allows(&self, allowance: &SharedAllowance, amount: u64) -> bool {
        let Err(exhausted) = allowance.take(amount) else { return true };
        // The first one is told.
        let _ = self.exhausted.set(exhausted);
        false
    }

    /// Takes in the rule of a row that is no simple one.
    pub(crate) fn note(&self, key: RowKey, rule: Rule) {
        self.full.write().unwrap_or_else(PoisonError::into_inner).insert(key, rule);
    }

    /// What an address's row of a description became, `run` being what runs its instructions for that one address.
    pub(crate) fn compile<'a, S: UnwindSection<Bytes<'a>>>(
        &self,
        fde: &Fde<'a>,
        (section, bases): (&S, &BaseAddresses),
        (svma, arch): (Svma, Arch),
        context: &mut Context,
        source: &RowSource,
        run: impl FnOnce(&mut Context) -> Option<Compiled>,
    ) -> Option<Compiled> {
        let bytes = fde.entry_len().saturating_add(fde.cie().entry_len());
        if bytes <= LONG {
            return run(context);
        }
        let key = (section.section().slice().as_ptr() as usize, fde.offset());
        let known = self.tables.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let table = match known {
            Some(table) => table,
            None => {
                // No instruction is shorter than a byte.
                if !self.allows(&self.instructions, bytes as u64) {
                    return None;
                }
                let table = self.table(fde, (section, bases), arch, context, source).map(Arc::new);
                let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
                tables.entry(key).or_insert(table).clone()
            }
        };
        if let Some(table) = table {
            let row = table.find(svma)?;
            let key = RowKey { file: source.file, section: key.0, fde: key.1, start: row.start };
            let full =
                || self.full.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
            if let Some(rule) = row.rule.or_else(full) {
                return Some(Compiled::Rule(rule));
            }
        }
        if self.allows(&self.instructions, bytes as u64) { run(context) } else { None }
    }

    /// The rows of a description, up to where it is damaged; `None` where they are too many, or in no order.
    fn table<'a, S: UnwindSection<Bytes<'a>>>(
        &self,
        fde: &Fde<'a>,
        (section, bases): (&S, &BaseAddresses),
        arch: Arch,
        context: &mut Context,
        source: &RowSource,
    ) -> Option<RowTable> {
        let mut rows = Vec::new();
        let mut table = fde.rows(section, bases, context).ok()?;
        let most = ROWS.saturating_sub(self.rows.load(Ordering::Relaxed));
        while let Ok(Some(row)) = table.next_row() {
            let (start, end) = (row.start_address(), row.end_address());
            let is_next = rows.last().is_none_or(|last: &KnownRow| last.end <= start);
            if rows.len() == most || !is_next {
                return None;
            }
            let rule = match compile_row(row, fde, section, arch, source) {
                Some(Compiled::Rule(rule)) => Some(rule),
                Some(Compiled::Full(..)) => None,
                None => Some(Rule::Damaged),
            };
            if start < end {
                rows.push(KnownRow { start, end, rule });
            }
        }
        self.rows.fetch_add(rows.len(), Ordering::Relaxed);
        Some(RowTable(rows))
    }
}

impl RowTable {
    fn find(&self, svma: Svma) -> Option<&KnownRow> {
        let after = self.0.partition_point(|row| row.start <= svma.0);
        self.0.get(after.checked_sub(1)?).filter(|row| svma.0 < row.end)
    }
}
