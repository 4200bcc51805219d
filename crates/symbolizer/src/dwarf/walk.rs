//! One pass over the entries of a unit that finds, for each requested address, the function and the inlined calls
//! that hold it.
//!
//! ```text
//!   subprogram f          [100,200)   scope 0
//!     inlined g           [110,150)   scope 1, parent 0, called at f.c:7
//!       inlined h         [120,130)   scope 2, parent 1, called at g.h:3
//!   subprogram unused     [200,300)   holds no address: jumped over by DW_AT_sibling
//! ```
//!
//! Where ranges overlap, the later entry wins, which also lets the deeper one win.

use address::Svma;

use crate::bytes::Cursor;
use crate::dwarf::abbrev::{Abbrev, Abbrevs, Role};
use crate::dwarf::file::DwarfFile;
use crate::dwarf::form;
use crate::dwarf::ranges::{Pcs, each_range};
use crate::dwarf::unit::Unit;

/// No scope.
pub(crate) const NONE: u32 = u32::MAX;

/// A function or an inlined call that holds a requested address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The scope that it was inlined into; [`NONE`] for a function.
    pub(crate) parent: u32,
    /// Offset of its entry in `.debug_info`.
    pub(crate) entry: usize,
    /// Lowest address of its code.
    pub(crate) low_pc: u64,
    /// Where it was called, for inlined ones: file, line, column.
    pub(crate) call: (u64, u64, u64),
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) scopes: Vec<Scope>,
    /// For each address, its innermost scope.
    pub(crate) innermost: Vec<u32>,
    /// Where entries could not be read.
    pub(crate) damage: Option<usize>,
}

/// Walks a unit for sorted addresses.
pub(crate) fn walk(file: &DwarfFile<'_>, unit: &Unit<'_>, addresses: &[Svma]) -> Walk {
    let Some(abbrevs) = file.abbrevs(unit) else { return Walk::default() };
    let mut walker = Walker {
        file,
        unit,
        abbrevs,
        addresses,
        found: Walk { innermost: vec![NONE; addresses.len()], ..Walk::default() },
        jumped: false,
        jump: true,
        budget: 64 * (addresses.len() as u64 + (unit.end - unit.entries) as u64),
    };
    walker.run();
    // Nested functions lie outside the code of the function around them: what was jumped over is looked through
    // where an address is left.
    if walker.jumped && walker.found.innermost.contains(&NONE) {
        walker.jump = false;
        walker.found = Walk { innermost: vec![NONE; addresses.len()], ..Walk::default() };
        walker.run();
    }
    walker.found
}

struct Walker<'w, 's> {
    file: &'w DwarfFile<'s>,
    unit: &'w Unit<'s>,
    abbrevs: &'w Abbrevs,
    addresses: &'w [Svma],
    found: Walk,
    jumped: bool,
    /// Whether subtrees without a requested address are jumped over.
    jump: bool,
    /// Steps that are left; hostile input nests ranges over all addresses.
    budget: u64,
}

/// The attributes of a function or an inlined call.
#[derive(Default)]
struct Attributes<'a> {
    pcs: Pcs<'a>,
    sibling: u64,
    call: (u64, u64, u64),
}

impl<'s> Walker<'_, 's> {
    fn run(&mut self) {
        let mut cursor =
            Cursor::new(&self.file.sections.info, self.unit.entries, self.file.sections.big_endian);
        let mut at = cursor.at();
        if self.entries(&mut cursor, &mut at).is_none() {
            self.found.damage = Some(at);
        }
    }

    /// `None` where an entry cannot be read; `at` is its offset.
    fn entries(&mut self, cursor: &mut Cursor<'s>, at: &mut usize) -> Option<()> {
        let abbrevs = self.abbrevs;
        let mut outer: Vec<u32> = Vec::new();
        let mut scope = NONE;
        while cursor.at() < self.unit.end {
            *at = cursor.at();
            let code = cursor.uleb()?;
            if code == 0 {
                let Some(popped) = outer.pop() else { return Some(()) };
                scope = popped;
                if outer.is_empty() {
                    return Some(());
                }
                continue;
            }
            let abbrev = abbrevs.get(code)?;
            let (inner, sibling) = match abbrev.role {
                Role::Function => self.function(cursor, abbrev, *at)?,
                Role::Inlined if scope != NONE => self.inlined(cursor, abbrev, *at, scope)?,
                Role::Scope => {
                    abbrevs.skip(cursor, abbrev)?;
                    (scope, 0)
                }
                _ => (scope, abbrevs.skip(cursor, abbrev)?),
            };
            if !abbrev.children {
                continue;
            }
            if sibling != 0 && self.jump {
                let target = self.unit.offset.checked_add(usize::try_from(sibling).ok()?)?;
                // Only forward, so that the walk ends.
                if target > cursor.at() && target <= self.unit.end {
                    self.jumped = true;
                    cursor.seek(target);
                    continue;
                }
            }
            outer.push(scope);
            scope = inner;
        }
        Some(())
    }

    fn attributes(&self, cursor: &mut Cursor<'s>, abbrev: &Abbrev) -> Option<Attributes<'s>> {
        let mut attributes = Attributes::default();
        for spec in self.abbrevs.specs(abbrev) {
            match spec.name {
                0x01 | 0x11 | 0x12 | 0x55 | 0x57..=0x59 => {}
                _ => {
                    form::skip(cursor, spec.form, self.unit.encoding)?;
                    continue;
                }
            }
            let value = form::read(cursor, *spec, self.unit.encoding)?;
            match spec.name {
                0x01 => {
                    if let form::Value::UnitRef(offset) = value {
                        attributes.sibling = offset;
                    }
                }
                0x11 => attributes.pcs.low = Some(value),
                0x12 => attributes.pcs.high = Some(value),
                0x55 => attributes.pcs.ranges = Some(value),
                0x57 => attributes.call.2 = value.number().unwrap_or(0),
                0x58 => attributes.call.0 = value.number().unwrap_or(0),
                _ => attributes.call.1 = value.number().unwrap_or(0),
            }
        }
        Some(attributes)
    }

    /// The scope below a function, and where to go on behind it when nothing is in it.
    fn function(
        &mut self,
        cursor: &mut Cursor<'s>,
        abbrev: &Abbrev,
        at: usize,
    ) -> Option<(u32, u64)> {
        let attributes = self.attributes(cursor, abbrev)?;
        let scope = self.open(&attributes, at, NONE);
        Some((scope, if scope == NONE { attributes.sibling } else { 0 }))
    }

    fn inlined(
        &mut self,
        cursor: &mut Cursor<'s>,
        abbrev: &Abbrev,
        at: usize,
        parent: u32,
    ) -> Option<(u32, u64)> {
        let attributes = self.attributes(cursor, abbrev)?;
        let scope = self.open(&attributes, at, parent);
        Some((scope, if scope == NONE { attributes.sibling } else { 0 }))
    }

    /// Makes a scope of an entry where its ranges hold a requested address.
    fn open(&mut self, attributes: &Attributes<'s>, entry: usize, parent: u32) -> u32 {
        if attributes.pcs.is_empty() {
            return NONE;
        }
        let Walk { scopes, innermost, .. } = &mut self.found;
        let scope = scopes.len() as u32;
        let (addresses, budget) = (self.addresses, &mut self.budget);
        let (mut low_pc, mut used) = (u64::MAX, false);
        let _ = each_range(self.file, self.unit, &attributes.pcs, |start, end| {
            low_pc = low_pc.min(start);
            let first = addresses.partition_point(|address| address.0 < start);
            let within = addresses
                .get(first..)
                .unwrap_or(&[])
                .iter()
                .take_while(|address| address.0 < end)
                .count();
            *budget = budget.saturating_sub(1 + within as u64);
            for slot in innermost.iter_mut().skip(first).take(within) {
                // An inlined call is only one of its parent's addresses.
                if parent == NONE || *slot != NONE {
                    *slot = scope;
                    used = true;
                }
            }
            *budget > 0
        });
        if !used {
            return NONE;
        }
        scopes.push(Scope { parent, entry, low_pc, call: attributes.call });
        scope
    }
}
