//! Names of symbols, and which of two is preferred. Many names may end with the same bytes, so that what is read of them
//! is counted.

use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;
use std::path::PathBuf;

use budget::{Allowance, Budget, Exhausted, Held, Resource};

use crate::bytes::NameText;
use crate::elf::symbols::SymbolTable;

/// Reads the names of the symbols of some tables.
pub(crate) struct NameReader<'t, 'a> {
    pub(crate) tables: &'t [SymbolTable<'a>],
    left: RefCell<Allowance>,
    exhausted: Cell<Option<Exhausted>>,
    /// The tables with symbols that cannot be.
    damaged: RefCell<BTreeSet<u32>>,
    /// How what is made of the tables is held.
    pub(crate) held: Held,
}

/// Where a name is: the table, and the offset in its strings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NamePlace {
    pub(crate) table: u32,
    pub(crate) offset: u32,
}

impl<'t, 'a> NameReader<'t, 'a> {
    /// A reader whose names are in proportion to the strings.
    pub(crate) fn new(tables: &'t [SymbolTable<'a>], budget: &Budget, held: &Held) -> Self {
        let bytes = tables.iter().map(|table| table.strings().len() as u64).sum();
        Self {
            tables,
            left: RefCell::new(budget.allowance(Resource::NameBytes, bytes)),
            exhausted: Cell::new(None),
            damaged: RefCell::default(),
            held: held.another(0),
        }
    }

    /// Where names were too many bytes.
    pub(crate) fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get()
    }

    /// Notes that a table has a symbol that no linker writes: without anything, or with a name that is not there.
    pub(crate) fn note_damage(&self, table: u32) {
        self.damaged.borrow_mut().insert(table);
    }

    /// Those tables: the file of each, and its place in that.
    pub(crate) fn damaged(&self) -> Vec<(PathBuf, u64)> {
        let place = |&table: &u32| {
            let (path, at) = self.tables.get(table as usize)?.place;
            Some((path.to_owned(), at.0))
        };
        self.damaged.borrow().iter().filter_map(place).collect()
    }

    /// The name at a place, which is counted. `None` where there is none, or names were too many bytes.
    pub(crate) fn name(&self, place: NamePlace) -> Option<&'t [u8]> {
        let NamePlace { table, offset } = place;
        let text = NameText::at(self.tables.get(table as usize)?.strings(), offset.into())?;
        match text.take(&mut self.left.borrow_mut()) {
            Ok(name) => name,
            Err(error) => {
                self.exhausted.set(self.exhausted.get().or(Some(error)));
                None
            }
        }
    }

    /// Counts further bytes of names; whether they may still be had.
    pub(crate) fn count(&self, bytes: u64) -> bool {
        let taken = self.left.borrow_mut().take(bytes);
        self.exhausted.set(self.exhausted.get().or(taken.err()));
        taken.is_ok()
    }

    /// Which of two names is preferred: `Less` where `b` is. Fewer underscores, then the longer one, then the first in
    /// the order of the bytes.
    pub(crate) fn preference(&self, a: NamePlace, b: NamePlace) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        name_key(self.name(a)).cmp(&name_key(self.name(b)))
    }
}

/// How a name compares: see [`NameReader::preference`].
pub(crate) type NameKey<'t> = (Reverse<usize>, usize, Reverse<&'t [u8]>);

pub(crate) fn name_key(name: Option<&[u8]>) -> NameKey<'_> {
    let name = name.unwrap_or_default();
    let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
    (Reverse(underscores), name.len(), Reverse(name))
}
