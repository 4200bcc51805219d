//! One pass over the entries of a unit that finds, for each requested address, the function and the inlined calls that
//! contain it.
//!
//! ```text
//!   subprogram f          [100,200)   scope 0
//!     inlined g           [110,150)   scope 1, parent 0, called at f.c:7
//!       inlined h         [120,130)   scope 2, parent 1, called at g.h:3
//!   subprogram unused     [200,300)   holds no address: jumped over by DW_AT_sibling
//! ```
//!
//! If ranges overlap, the later entry wins, and thus also the deeper one.

use address::Svma;
use gimli::DwAt;
use gimli::constants as dw;
use profile::Table;

use crate::bytes::ByteCursor;
use crate::dwarf::abbrev::{Abbrev, Abbrevs, Role};
use crate::dwarf::costs::UnitCosts;
use crate::dwarf::file::DwarfFile;
use crate::dwarf::form::FormValue;
use crate::dwarf::ranges::{Pcs, each_range};
use crate::dwarf::unit::Unit;

profile::row_ids! {
    /// A scope of [`UnitWalk::scopes`].
    pub(crate) ScopeId(u32);
}

/// A function or an inlined call that contains a requested address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionScope {
    /// The scope that it was inlined into; `None` for a function.
    pub(crate) parent: Option<ScopeId>,
    /// The function that contains it; `None` for a function.
    pub(crate) function: Option<ScopeId>,
    /// Offset of its entry in `.debug_info`.
    pub(crate) entry: usize,
    /// Lowest address of its code.
    pub(crate) low_pc: u64,
    /// Call site of an inlined call: file, line, column.
    pub(crate) call: (u64, u64, u64),
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct UnitWalk {
    pub(crate) scopes: Table<ScopeId, FunctionScope>,
    /// For each address, its innermost scope.
    pub(crate) innermost: Vec<Option<ScopeId>>,
    /// Offset of an unreadable entry.
    pub(crate) damage: Option<usize>,
    /// True if the cause is an abbreviation table over its limit.
    pub(crate) is_truncated: bool,
}

impl UnitWalk {
    /// Size in memory, in bytes, including a name for each scope.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.scopes.heap_bytes()
            + self.scopes.len() * size_of::<u64>()
            + self.innermost.capacity() * size_of::<Option<ScopeId>>()
    }

    /// An empty result for a number of addresses.
    pub(crate) fn of(addresses: usize) -> Self {
        Self { innermost: vec![None; addresses], ..Self::default() }
    }
}

/// Walks a unit for sorted addresses.
pub(crate) fn walk(
    file: &DwarfFile<'_>,
    unit: &Unit<'_>,
    addresses: &[Svma],
    costs: &mut UnitCosts,
) -> UnitWalk {
    let Some(abbrevs) = file.abbrevs(unit) else { return UnitWalk::default() };
    let mut walker = UnitWalker {
        file,
        unit,
        abbrevs,
        addresses,
        found: UnitWalk::of(addresses.len()),
        jumped: false,
        jump: true,
        costs,
        functions: None,
    };
    walker.run();
    // Nested functions are outside the code of the enclosing function. If an address is left, the skipped subtrees are
    // walked too.
    if walker.jumped && walker.found.innermost.contains(&None) {
        walker.jump = false;
        walker.found = UnitWalk::of(addresses.len());
        walker.run();
    }
    walker.found
}

/// Calls `give` with the ranges of a unit's functions that are not inlined. Returns the offset of an unreadable entry.
pub(crate) fn function_ranges(
    file: &DwarfFile<'_>,
    unit: &Unit<'_>,
    costs: &mut UnitCosts,
    give: &mut dyn FnMut(u64, u64),
) -> Option<usize> {
    let abbrevs = file.abbrevs(unit)?;
    let mut walker = UnitWalker {
        file,
        unit,
        abbrevs,
        addresses: &[],
        found: UnitWalk::default(),
        jumped: false,
        jump: false,
        costs,
        functions: Some(give),
    };
    walker.entries().err()
}

struct UnitWalker<'w, 's> {
    file: &'w DwarfFile<'s>,
    unit: &'w Unit<'s>,
    abbrevs: &'w Abbrevs,
    addresses: &'w [Svma],
    found: UnitWalk,
    jumped: bool,
    /// True if subtrees without a requested address are skipped.
    jump: bool,
    /// Budget for ranges and names: hostile input can nest ranges over all addresses.
    costs: &'w mut UnitCosts,
    /// Receives the ranges of all functions, if these are requested.
    functions: Option<&'w mut dyn FnMut(u64, u64)>,
}

/// The attributes of a function or an inlined call.
#[derive(Default)]
struct Attributes<'a> {
    pcs: Pcs<'a>,
    sibling: u64,
    call: (u64, u64, u64),
}

impl<'a> Attributes<'a> {
    fn take(&mut self, name: DwAt, value: FormValue<'a>) {
        match name {
            dw::DW_AT_sibling => {
                if let FormValue::UnitRef(offset) = value {
                    self.sibling = offset;
                }
            }
            dw::DW_AT_low_pc => self.pcs.low = Some(value),
            dw::DW_AT_high_pc => self.pcs.high = Some(value),
            dw::DW_AT_ranges => self.pcs.ranges = Some(value),
            dw::DW_AT_call_column => self.call.2 = value.number().unwrap_or(0),
            dw::DW_AT_call_file => self.call.0 = value.number().unwrap_or(0),
            _ => self.call.1 = value.number().unwrap_or(0),
        }
    }
}

impl<'s> UnitWalker<'_, 's> {
    fn run(&mut self) {
        if let Err(at) = self.entries() {
            self.found.damage = Some(at);
            self.found.is_truncated = self.abbrevs.is_truncated;
        }
    }

    /// Reads all entries; the error is the offset of an unreadable one.
    fn entries(&mut self) -> Result<(), usize> {
        let (abbrevs, end) = (self.abbrevs, self.unit.end);
        let mut cursor = ByteCursor::new(
            &self.file.sections.info,
            self.unit.entries,
            self.file.sections.big_endian,
        );
        let mut outer: Vec<Option<ScopeId>> = Vec::new();
        let mut scope = None;
        while cursor.at() < end {
            let at = cursor.at();
            let code = cursor.uleb().ok_or(at)?;
            if code == 0 {
                scope = outer.pop().flatten();
                if outer.is_empty() {
                    return self.only_padding(cursor.at());
                }
                continue;
            }
            let abbrev = abbrevs.get(code).ok_or(at)?;
            let (inner, sibling) = match abbrev.role {
                Role::Function => self.function(&mut cursor, abbrev, at, None).ok_or(at)?,
                Role::Inlined if scope.is_some() => {
                    self.function(&mut cursor, abbrev, at, scope).ok_or(at)?
                }
                role => {
                    let sibling = abbrevs.skip(&mut cursor, abbrev).ok_or(at)?;
                    match role {
                        Role::Codeless => (None, sibling),
                        Role::Scope => (scope, 0),
                        _ => (scope, sibling),
                    }
                }
            };
            if !abbrev.children {
                continue;
            }
            if sibling != 0 && self.jump {
                let target =
                    usize::try_from(sibling).ok().and_then(|to| to.checked_add(self.unit.offset));
                let target = target.ok_or(at)?;
                // Only forward, so that the walk terminates.
                if target > cursor.at() && target <= end {
                    self.jumped = true;
                    cursor.seek(target);
                    continue;
                }
            }
            outer.push(scope);
            scope = inner;
        }
        Ok(())
    }

    /// Checks that only zeros follow the entries of the unit, which end at `at`. Other bytes are entries with a lost
    /// position in the tree, which is an error.
    /// Many zeros are an error, too: they are overwritten entries.
    fn only_padding(&self, at: usize) -> Result<(), usize> {
        const LONGEST: usize = 64;
        let rest = self.file.sections.info.get(at..self.unit.end).unwrap_or_default();
        if rest.len() > LONGEST {
            return Err(at);
        }
        rest.iter().position(|&byte| byte != 0).map_or(Ok(()), |first| Err(at + first))
    }

    /// Reads a function, or a call that was inlined into `parent`. Returns its scope if it contains a requested
    /// address, else the offset of its sibling.
    fn function(
        &mut self,
        cursor: &mut ByteCursor<'s>,
        abbrev: &Abbrev,
        at: usize,
        parent: Option<ScopeId>,
    ) -> Option<(Option<ScopeId>, u64)> {
        let mut attributes = Attributes::default();
        self.abbrevs.read(cursor, abbrev, |name, value| attributes.take(name, value))?;
        let scope = self.open(&attributes, at, parent);
        Some((scope, if scope.is_none() { attributes.sibling } else { 0 }))
    }

    /// Adds a scope for an entry with ranges that contain a requested address.
    fn open(
        &mut self,
        attributes: &Attributes<'s>,
        entry: usize,
        parent: Option<ScopeId>,
    ) -> Option<ScopeId> {
        if attributes.pcs.is_empty() || self.costs.ranges.left() == 0 {
            return None;
        }
        let UnitWalk { scopes, innermost, .. } = &mut self.found;
        let scope = scopes.next_id();
        let addresses = self.addresses;
        let UnitCosts { ranges, exhausted, .. } = &mut *self.costs;
        if let Some(give) = self.functions.as_mut().filter(|_| parent.is_none()) {
            let read = each_range(self.file, self.unit, &attributes.pcs, |start, end| {
                give(start, end);
                UnitCosts::spend(ranges, 1, exhausted)
            });
            if read.is_none() {
                self.costs.note_unread(entry);
            }
            return None;
        }
        let (mut low_pc, mut used) = (u64::MAX, false);
        let read = each_range(self.file, self.unit, &attributes.pcs, |start, end| {
            low_pc = low_pc.min(start);
            let first = addresses.partition_point(|address| address.0 < start);
            let within = addresses
                .get(first..)
                .unwrap_or(&[])
                .iter()
                .take_while(|address| address.0 < end)
                .count();
            let enough = UnitCosts::spend(ranges, 1 + within as u64, exhausted);
            for slot in innermost.iter_mut().skip(first).take(within) {
                // An inlined call only covers addresses of its parent.
                if parent.is_none() || slot.is_some() {
                    *slot = Some(scope);
                    used = true;
                }
            }
            enough
        });
        if read.is_none() {
            self.costs.note_unread(entry);
        }
        let function = parent.and_then(|id| Some(scopes.get(id)?.function.unwrap_or(id)));
        let call = attributes.call;
        used.then(|| scopes.push(FunctionScope { parent, function, entry, low_pc, call }))
    }
}
