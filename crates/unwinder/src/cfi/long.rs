//! Long descriptions: their rows are computed once, because otherwise each address would run the instructions from the
//! start. The cost limit depends on the file alone, so the order of queries does not matter.
//!
//! ```text
//!   CIE | FDE | FDE | long FDE | FDE | long FDE | ...     entries of a section follow one another
//!   0                       3,000            7,500        total bytes of the long ones up to their ends: limited
//! ```

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use address::Svma;
use budget::{Budget, Exhausted, Limit, Resource, SharedAllowance};
use gimli::{Reader as _, UnwindSection};
use hashbrown::HashMap;

use crate::cfi::compile::{CfiContext, CompiledRow, RowKey, RowQuery, RowSource, compile_row};
use crate::cfi::entries::entries;
use crate::cfi::fde::{CfiBytes, Fde};
use crate::rule::{FullRow, Rule};

/// Maximum size of a short description, in bytes. In large programs, one in a thousand is long.
pub(crate) const LONG: usize = 1024;

/// Maximum size of a common information entry, in bytes: it is run again for each description. Compilers write some 30.
const LONGEST_COMMON: usize = 8 << 10;

/// Maximum number of rows of a description; the largest of a compiler has 5,000.
const ROWS: usize = 1 << 18;

/// Limit on the bytes of full rows in a long description.
const FULL_BYTES: Limit = Limit { base: 16 << 10, per_byte: 16, most: u64::MAX };

/// The rows of a long description within its limits, in order of address.
#[derive(Debug)]
struct RowTable(Vec<CachedRow>);

#[derive(Debug)]
struct CachedRow {
    start: u64,
    end: u64,
    found: FoundRow,
}

#[derive(Debug)]
enum FoundRow {
    Rule(Rule),
    Full(Arc<FullRow>, RowKey, bool),
}

/// Offset of each long description in a section, and the total bytes of long ones up to its end. Ascending.
type LongOffsets = Arc<Vec<(usize, u64)>>;

/// The long descriptions of a file, and the budget for its call frame information.
#[derive(Debug)]
pub(crate) struct LongDescriptions {
    /// By the address of the section in memory.
    long_offsets: RwLock<HashMap<usize, LongOffsets>>,
    /// By section and offset in it.
    tables: RwLock<HashMap<(usize, usize), Arc<RowTable>>>,
    instructions: u64,
    /// Budget for rows that are stored by address.
    row_bytes: SharedAllowance,
    exhausted: OnceLock<Exhausted>,
}

impl LongDescriptions {
    /// Creates the state for a file of `file_bytes` bytes.
    pub(crate) fn new(budget: &Budget, file_bytes: u64) -> Self {
        Self {
            long_offsets: RwLock::default(),
            tables: RwLock::default(),
            instructions: budget.limit(Resource::FrameInstructions).of(file_bytes),
            row_bytes: budget.shared_allowance(Resource::RuleBytes, file_bytes),
            exhausted: OnceLock::new(),
        }
    }

    /// The exhausted resource, if there is one.
    pub(crate) fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get().copied()
    }

    /// Returns true if a row of `bytes` bytes may be stored. Other rows are made again for each frame.
    pub(crate) fn may_store(&self, bytes: u64) -> bool {
        self.row_bytes.take(bytes).is_ok()
    }

    /// Returns the result for an address's row of a description. `run` executes its instructions for that address
    /// alone.
    pub(crate) fn compile<'a, S: UnwindSection<CfiBytes<'a>>>(
        &self,
        fde: &Fde<'a>,
        query: &RowQuery<'_, S>,
        context: &mut CfiContext,
        source: &RowSource,
        run: impl FnOnce(&mut CfiContext) -> Option<CompiledRow>,
    ) -> Option<CompiledRow> {
        if fde.cie().entry_len() > LONGEST_COMMON {
            return self.too_much(Resource::FrameInstructions, self.instructions);
        }
        if fde.entry_len() <= LONG {
            return run(context);
        }
        let bytes = query.section.section();
        let key = (bytes.slice().as_ptr() as usize, fde.offset());
        let known = self.tables.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let table = match known {
            Some(table) => table,
            None => {
                let is_little = bytes.endian() == gimli::RunTimeEndian::Little;
                if !self.may_run(key.0, key.1, bytes.slice(), is_little) {
                    return self.too_much(Resource::FrameInstructions, self.instructions);
                }
                // Two threads may do this at once, with equal results.
                let table = self.table(fde, query, context, source)?;
                let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
                tables.entry(key).or_insert_with(|| Arc::new(table)).clone()
            }
        };
        Some(match &table.find(query.svma)?.found {
            FoundRow::Rule(rule) => CompiledRow::Rule(*rule),
            FoundRow::Full(row, key, signal) => CompiledRow::Full(Arc::clone(row), *key, *signal),
        })
    }

    fn too_much<T>(&self, resource: Resource, limit: u64) -> Option<T> {
        // Only the first one is reported; all belong to the same file.
        let _ = self.exhausted.set(Exhausted { resource, limit });
        None
    }

    /// Returns true if the entry at an offset is one of the section's long descriptions, and their total bytes up to
    /// its end are within the limit.
    fn may_run(&self, address: usize, offset: usize, section: &[u8], is_little: bool) -> bool {
        let known =
            self.long_offsets.read().unwrap_or_else(PoisonError::into_inner).get(&address).cloned();
        let long_offsets = known.unwrap_or_else(|| {
            let long = entries(section, is_little).filter(|&(_, size)| size > LONG);
            let mut bytes = 0;
            let add = |(offset, size): (usize, usize)| {
                bytes += size as u64;
                (offset, bytes)
            };
            let all = Arc::new(long.map(add).collect());
            let mut sections = self.long_offsets.write().unwrap_or_else(PoisonError::into_inner);
            sections.entry(address).or_insert(all).clone()
        });
        let found = long_offsets.binary_search_by_key(&offset, |&(offset, _)| offset).ok();
        let bytes = found.and_then(|at| long_offsets.get(at)).map(|&(_, bytes)| bytes);
        bytes.is_some_and(|bytes| bytes <= self.instructions)
    }

    /// Computes the rows of a description, up to damage or a limit.
    fn table<'a, S: UnwindSection<CfiBytes<'a>>>(
        &self,
        fde: &Fde<'a>,
        query: &RowQuery<'_, S>,
        context: &mut CfiContext,
        source: &RowSource,
    ) -> Option<RowTable> {
        let RowQuery { section, bases, arch, .. } = *query;
        let mut rows: Vec<CachedRow> = Vec::new();
        let mut table = fde.rows(section, bases, context).ok()?;
        let full_limit = FULL_BYTES.of(fde.entry_len() as u64);
        let mut full_bytes = 0;
        while let Ok(Some(row)) = table.next_row() {
            let (start, end) = (row.start_address(), row.end_address());
            let is_next = rows.last().is_none_or(|last| last.end <= start);
            if rows.len() == ROWS || !is_next {
                self.too_much::<()>(Resource::FrameInstructions, self.instructions);
                break;
            }
            let found = match compile_row(row, fde, section, arch, source) {
                Some(CompiledRow::Rule(rule)) => FoundRow::Rule(rule),
                Some(CompiledRow::Full(row, key, signal)) => {
                    full_bytes += row.heap_bytes();
                    if full_bytes > full_limit {
                        self.too_much::<()>(Resource::RuleBytes, full_limit);
                        break;
                    }
                    FoundRow::Full(row, key, signal)
                }
                None => FoundRow::Rule(Rule::Damaged),
            };
            match (rows.last_mut(), &found) {
                (
                    Some(CachedRow { end: last, found: FoundRow::Rule(before), .. }),
                    FoundRow::Rule(rule),
                ) if *last == start && before == rule => {
                    *last = end;
                }
                _ if start < end => rows.push(CachedRow { start, end, found }),
                _ => {}
            }
        }
        Some(RowTable(rows))
    }
}

impl RowTable {
    fn find(&self, svma: Svma) -> Option<&CachedRow> {
        let after = self.0.partition_point(|row| row.start <= svma.0);
        self.0.get(after.checked_sub(1)?).filter(|row| svma.0 < row.end)
    }
}
