//! Names of symbols, and the preference among two. Many names may share one tail of bytes, so the bytes read are
//! limited.

use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;
use std::path::PathBuf;

use budget::{Allowance, Budget, Exhausted, HeldMemory, Resource};

use crate::bytes::NameText;
use crate::elf::symbols::SymbolTable;

/// Reader for the names in several symbol tables.
pub(crate) struct NameReader<'t, 'a> {
    pub(crate) tables: &'t [SymbolTable<'a>],
    left: RefCell<Allowance>,
    exhausted: Cell<Option<Exhausted>>,
    /// The tables with invalid symbols.
    damaged: RefCell<BTreeSet<u32>>,
    /// Memory accounting for data made of the tables.
    pub(crate) held: HeldMemory,
}

/// Location of a name: the table, and the offset in its strings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NameLocation {
    pub(crate) table: u32,
    pub(crate) offset: u32,
}

impl<'t, 'a> NameReader<'t, 'a> {
    /// Creates a reader with a limit on name bytes, in proportion to the strings.
    pub(crate) fn new(tables: &'t [SymbolTable<'a>], budget: &Budget, held: &HeldMemory) -> Self {
        let bytes = tables.iter().map(|table| table.strings().len() as u64).sum();
        Self {
            tables,
            left: RefCell::new(budget.allowance(Resource::NameBytes, bytes)),
            exhausted: Cell::new(None),
            damaged: RefCell::default(),
            held: held.another(0),
        }
    }

    /// The exceeded limit on name bytes, if it was.
    pub(crate) fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get()
    }

    /// Records that a table has a symbol that no linker writes: an empty one, or one with an invalid name.
    pub(crate) fn note_damage(&self, table: u32) {
        self.damaged.borrow_mut().insert(table);
    }

    /// Returns those tables: the file of each, and its offset in it.
    pub(crate) fn damaged(&self) -> Vec<(PathBuf, u64)> {
        let place = |&table: &u32| {
            let (path, at) = self.tables.get(table as usize)?.place;
            Some((path.to_owned(), at.0))
        };
        self.damaged.borrow().iter().filter_map(place).collect()
    }

    /// Reads a name and takes its bytes from the limit. `None` if it is invalid or the limit is exceeded.
    pub(crate) fn name(&self, place: NameLocation) -> Option<&'t [u8]> {
        let NameLocation { table, offset } = place;
        let text = NameText::at(self.tables.get(table as usize)?.strings(), offset.into())?;
        match text.take(&mut self.left.borrow_mut()) {
            Ok(name) => name,
            Err(error) => {
                self.exhausted.set(self.exhausted.get().or(Some(error)));
                None
            }
        }
    }

    /// Takes further bytes of names from the limit; returns false if it is exceeded.
    pub(crate) fn count(&self, bytes: u64) -> bool {
        let taken = self.left.borrow_mut().take(bytes);
        self.exhausted.set(self.exhausted.get().or(taken.err()));
        taken.is_ok()
    }

    /// Compares two names: `Less` if `b` is preferred. Fewer leading underscores win, then the longer name, then the
    /// first in byte order.
    pub(crate) fn preference(&self, a: NameLocation, b: NameLocation) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        name_key(self.name(a)).cmp(&name_key(self.name(b)))
    }
}

/// Sort key of a name; see [`NameReader::preference`].
pub(crate) type NameKey<'t> = (Reverse<usize>, usize, Reverse<&'t [u8]>);

pub(crate) fn name_key(name: Option<&[u8]>) -> NameKey<'_> {
    let name = name.unwrap_or_default();
    let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
    (Reverse(underscores), name.len(), Reverse(name))
}
