//! Abbreviation tables, compiled for a unit's encoding: the role of an entry in the walk, and the steps to skip it.
//!
//! Source: DWARF 5, 7.5.3 "Abbreviations Tables".

use budget::{Allowance, Exhausted};
use gimli::constants as dw;
use gimli::{DwAt, DwForm, DwTag};
use hashbrown::HashMap;

use crate::bytes::ByteCursor;
use crate::dwarf::form::{self, Encoding, FormValue, Spec};

/// The role of an entry in the search for functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// `DW_TAG_subprogram` with code.
    Function,
    /// `DW_TAG_inlined_subroutine` with code.
    Inlined,
    /// A subprogram or inlined subroutine without code: a declaration or an abstract instance. Entries below it do not
    /// belong to the enclosing function.
    Codeless,
    /// A scope with children that are always searched for functions.
    Scope,
    /// An entry that rarely has functions below it; it is skipped if the file states its sibling.
    Other,
}

/// A step over attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttributeStep {
    Fixed(u32),
    Leb,
    Form(DwForm),
    /// `DW_AT_sibling`, with its size in bytes.
    Sibling(u8),
    /// An attribute that the walk reads, as an index into the specs.
    Wanted(u32),
}

/// Layout of an entry's attributes, for a fast skip of all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AttributeShape {
    /// A fixed number of bytes.
    Fixed(u32),
    /// One LEB128 number with fixed numbers of bytes before and after it, as in types with an alignment.
    OneLeb(u32, u32),
    Other,
}

/// A range of steps in a table.
#[derive(Clone, Copy, Debug)]
struct StepRange {
    first: u32,
    end: u32,
}

impl StepRange {
    const NONE: Self = Self { first: 0, end: 0 };
}

/// A compiled abbreviation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abbrev {
    pub(crate) role: Role,
    pub(crate) tag: DwTag,
    pub(crate) children: bool,
    shape: AttributeShape,
    steps: StepRange,
    /// The steps that read the wanted attributes of a function or an inlined call with code.
    reads: StepRange,
    specs: (u32, u32),
}

/// A table of abbreviations.
#[derive(Debug)]
pub(crate) struct Abbrevs {
    /// Indexed by code - 1, since all producers number them consecutively.
    dense: Vec<Abbrev>,
    others: HashMap<u64, Abbrev>,
    specs: Vec<Spec>,
    steps: Vec<AttributeStep>,
    encoding: Encoding,
    /// True if the table exceeds its limit.
    pub(crate) is_truncated: bool,
}

impl Abbrevs {
    /// Size in memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.dense.capacity() * size_of::<Abbrev>()
            + self.others.allocation_size()
            + self.specs.capacity() * size_of::<Spec>()
            + self.steps.capacity() * size_of::<AttributeStep>()
    }

    /// Compiles the table at `offset` of `.debug_abbrev`, up to `allowed` bytes. An unreadable abbreviation ends it.
    pub(crate) fn parse(section: &[u8], offset: u64, allowed: u64, encoding: Encoding) -> Self {
        let mut table = Self {
            dense: Vec::new(),
            others: HashMap::new(),
            specs: Vec::new(),
            steps: Vec::new(),
            encoding,
            is_truncated: false,
        };
        let end = end_of(section, offset, allowed);
        let mut cursor = ByteCursor::new(
            section.get(..end).unwrap_or(section),
            usize::try_from(offset).unwrap_or(usize::MAX),
            false,
        );
        while table.parse_one(&mut cursor).is_some() {}
        table.is_truncated = end < section.len() && cursor.at() >= end;
        table
    }

    fn parse_one(&mut self, cursor: &mut ByteCursor<'_>) -> Option<()> {
        let code = cursor.uleb().filter(|&code| code != 0)?;
        let tag = tag(cursor.uleb()?);
        let children = cursor.u8()? != 0;
        let first = self.specs.len();
        while let Some(spec) = next_spec(cursor)? {
            self.specs.push(spec);
        }
        let role = self.role(tag, first);
        let steps = self.push_steps(first, false);
        let shape = match *self.steps.get(steps.first as usize..)? {
            [] => AttributeShape::Fixed(0),
            [AttributeStep::Fixed(size)] => AttributeShape::Fixed(size),
            [AttributeStep::Leb] => AttributeShape::OneLeb(0, 0),
            [AttributeStep::Leb, AttributeStep::Fixed(after)] => AttributeShape::OneLeb(0, after),
            [AttributeStep::Fixed(before), AttributeStep::Leb] => AttributeShape::OneLeb(before, 0),
            [AttributeStep::Fixed(before), AttributeStep::Leb, AttributeStep::Fixed(after)] => {
                AttributeShape::OneLeb(before, after)
            }
            _ => AttributeShape::Other,
        };
        let has_reads = matches!(role, Role::Function | Role::Inlined);
        let reads = if has_reads { self.push_steps(first, true) } else { StepRange::NONE };
        let specs = (first as u32, self.specs.len() as u32);
        let abbrev = Abbrev { role, tag, children, shape, steps, reads, specs };
        if code == self.dense.len() as u64 + 1 {
            self.dense.push(abbrev);
        } else if code > self.dense.len() as u64 {
            // The first of equal codes counts.
            self.others.entry(code).or_insert(abbrev);
        }
        Some(())
    }

    /// Returns the role of an entry with these attributes.
    fn role(&self, tag: DwTag, first: usize) -> Role {
        let role = role(tag);
        let mut specs = self.specs.get(first..).unwrap_or_default().iter();
        let has_code = specs.any(|spec| matches!(spec.name, dw::DW_AT_low_pc | dw::DW_AT_ranges));
        match role {
            Role::Function | Role::Inlined if !has_code => Role::Codeless,
            other => other,
        }
    }

    /// Compiles the attributes from `first` into steps: with `read` steps that read the wanted ones, else steps that
    /// skip all.
    fn push_steps(&mut self, first: usize, read: bool) -> StepRange {
        let Self { specs, steps, encoding, .. } = self;
        let start = steps.len();
        let own = specs.get(first..).unwrap_or_default();
        // The last of repeated attributes counts.
        let last: [Option<usize>; WANTED.len()] = if read {
            WANTED.map(|name| own.iter().rposition(|spec| spec.name == name))
        } else {
            [None; WANTED.len()]
        };
        for (at, (spec, index)) in own.iter().zip(first as u32..).enumerate() {
            let step = match form::fixed_size(spec.form, *encoding) {
                _ if read && last.contains(&Some(at)) => AttributeStep::Wanted(index),
                Some(size) if spec.name == dw::DW_AT_sibling && is_sibling_form(spec.form) => {
                    AttributeStep::Sibling(size)
                }
                Some(size) => AttributeStep::Fixed(size.into()),
                None if form::is_leb(spec.form) => AttributeStep::Leb,
                None => AttributeStep::Form(spec.form),
            };
            match (step, steps.get_mut(start..).and_then(<[_]>::last_mut)) {
                (AttributeStep::Fixed(more), Some(AttributeStep::Fixed(before))) => {
                    *before = before.saturating_add(more);
                }
                _ => steps.push(step),
            }
        }
        StepRange { first: start as u32, end: steps.len() as u32 }
    }

    #[inline]
    pub(crate) fn get(&self, code: u64) -> Option<&Abbrev> {
        self.dense.get((code as usize).wrapping_sub(1)).or_else(|| self.get_other(code))
    }

    #[cold]
    fn get_other(&self, code: u64) -> Option<&Abbrev> {
        self.others.get(&code)
    }

    pub(crate) fn specs(&self, abbrev: &Abbrev) -> &[Spec] {
        self.specs.get(abbrev.specs.0 as usize..abbrev.specs.1 as usize).unwrap_or(&[])
    }

    /// Skips the attributes of an entry; returns its sibling's offset in the unit, or 0.
    #[inline]
    pub(crate) fn skip(&self, cursor: &mut ByteCursor<'_>, abbrev: &Abbrev) -> Option<u64> {
        match abbrev.shape {
            AttributeShape::Fixed(size) => {
                cursor.skip(size.into())?;
                return Some(0);
            }
            AttributeShape::OneLeb(before, after) => {
                cursor.skip(before.into())?;
                cursor.skip_leb()?;
                cursor.skip(after.into())?;
                return Some(0);
            }
            AttributeShape::Other => {}
        }
        // A copy, so that the caller's cursor can stay in registers.
        let (sibling, at) = self.steps(*cursor, abbrev.steps, |_, _| {})?;
        cursor.seek(at);
        Some(sibling)
    }

    /// Calls `give` with name and value of the wanted attributes of a function or an inlined call with code.
    pub(crate) fn read<'a>(
        &self,
        cursor: &mut ByteCursor<'a>,
        abbrev: &Abbrev,
        give: impl FnMut(DwAt, FormValue<'a>),
    ) -> Option<()> {
        let (_, at) = self.steps(*cursor, abbrev.reads, give)?;
        cursor.seek(at);
        Some(())
    }

    /// Executes steps; returns the sibling's offset in the unit, or 0, and the end of the attributes.
    fn steps<'a>(
        &self,
        mut cursor: ByteCursor<'a>,
        steps: StepRange,
        mut give: impl FnMut(DwAt, FormValue<'a>),
    ) -> Option<(u64, usize)> {
        let mut sibling = 0;
        for step in self.steps.get(steps.first as usize..steps.end as usize)? {
            match *step {
                AttributeStep::Fixed(size) => cursor.skip(size.into())?,
                AttributeStep::Leb => cursor.skip_leb()?,
                AttributeStep::Form(form) => form::skip(&mut cursor, form, self.encoding)?,
                AttributeStep::Sibling(size) => sibling = cursor.uint(size)?,
                AttributeStep::Wanted(index) => {
                    let spec = *self.specs.get(index as usize)?;
                    give(spec.name, form::read(&mut cursor, spec, self.encoding)?);
                }
            }
        }
        Some((sibling, cursor.at()))
    }
}

/// The attributes of functions that the walk reads.
const WANTED: [DwAt; 7] = [
    dw::DW_AT_sibling,
    dw::DW_AT_low_pc,
    dw::DW_AT_high_pc,
    dw::DW_AT_ranges,
    dw::DW_AT_call_column,
    dw::DW_AT_call_file,
    dw::DW_AT_call_line,
];

/// Returns the last possible end of a table at `offset` that may have `allowed` bytes.
fn end_of(section: &[u8], offset: u64, allowed: u64) -> usize {
    usize::try_from(offset.saturating_add(allowed)).unwrap_or(usize::MAX).min(section.len())
}

fn role(tag: DwTag) -> Role {
    match tag {
        dw::DW_TAG_subprogram => Role::Function,
        dw::DW_TAG_inlined_subroutine => Role::Inlined,
        // Units, lexical, try, catch and with blocks, modules, namespaces, common blocks.
        dw::DW_TAG_compile_unit
        | dw::DW_TAG_partial_unit
        | dw::DW_TAG_type_unit
        | dw::DW_TAG_skeleton_unit
        | dw::DW_TAG_lexical_block
        | dw::DW_TAG_try_block
        | dw::DW_TAG_catch_block
        | dw::DW_TAG_with_stmt
        | dw::DW_TAG_module
        | dw::DW_TAG_namespace
        | dw::DW_TAG_common_block => Role::Scope,
        _ => Role::Other,
    }
}

/// Converts a tag. Vendors define none above 16 bits.
fn tag(code: u64) -> DwTag {
    DwTag(u16::try_from(code).unwrap_or(u16::MAX))
}

/// Returns true for the forms of an offset in the unit with a fixed size.
const fn is_sibling_form(form: DwForm) -> bool {
    matches!(form, dw::DW_FORM_ref1 | dw::DW_FORM_ref2 | dw::DW_FORM_ref4 | dw::DW_FORM_ref8)
}

/// Reads the next attribute of an abbreviation; the inner `None` is the end of the list.
#[expect(clippy::option_option, reason = "damage and the end of the list are different things")]
pub(crate) fn next_spec(cursor: &mut ByteCursor<'_>) -> Option<Option<Spec>> {
    let name = cursor.uleb()?;
    let form = cursor.uleb()?;
    if name == 0 && form == 0 {
        return Some(None);
    }
    let implicit =
        if form == u64::from(dw::DW_FORM_implicit_const.0) { cursor.sleb()? } else { 0 };
    // Vendors define no attributes above 16 bits; such a form is rejected when it is read.
    Some(Some(Spec {
        name: DwAt(u16::try_from(name).unwrap_or(u16::MAX)),
        form: DwForm(u16::try_from(form).unwrap_or(u16::MAX)),
        implicit,
    }))
}

/// Finds one abbreviation without compiling the table, because a unit's root nearly always has the first one.
/// Returns its tag and a cursor at its attributes, and takes the bytes up to there from the allowance.
pub(crate) fn find<'a>(
    section: &'a [u8],
    offset: u64,
    code: u64,
    bytes: &mut Allowance,
) -> Result<Option<(DwTag, ByteCursor<'a>)>, Exhausted> {
    let Ok(offset) = usize::try_from(offset) else { return Ok(None) };
    let mut cursor = ByteCursor::new(section, offset, false);
    let mut next = || {
        let found = cursor.uleb().filter(|&found| found != 0)?;
        let tag = tag(cursor.uleb()?);
        cursor.u8()?;
        if found == code {
            return Some((Some(tag), cursor));
        }
        skip_specs(&mut cursor)?;
        Some((None, cursor))
    };
    let mut before = offset;
    loop {
        let Some((tag, after)) = next() else { return Ok(None) };
        bytes.take((after.at() - before) as u64)?;
        before = after.at();
        if let Some(tag) = tag {
            return Ok(Some((tag, after)));
        }
    }
}

/// Returns true if the table at `offset`, up to `allowed` bytes, describes functions with addresses, or if it cannot be
/// read.
pub(crate) fn describe_code(section: &[u8], offset: u64, allowed: u64) -> bool {
    let section = section.get(..end_of(section, offset, allowed)).unwrap_or(section);
    let mut cursor = ByteCursor::new(section, usize::try_from(offset).unwrap_or(usize::MAX), false);
    let mut describes = || {
        while cursor.uleb()? != 0 {
            let tag = tag(cursor.uleb()?);
            cursor.u8()?;
            if tag != dw::DW_TAG_subprogram {
                skip_specs(&mut cursor)?;
                continue;
            }
            while let Some(spec) = next_spec(&mut cursor)? {
                if matches!(spec.name, dw::DW_AT_low_pc | dw::DW_AT_ranges) {
                    return Some(true);
                }
            }
        }
        Some(false)
    };
    describes().unwrap_or(true)
}

/// Skips the attributes of an abbreviation and their end. In a large file, most of the abbreviation bytes are read
/// here.
fn skip_specs(cursor: &mut ByteCursor<'_>) -> Option<()> {
    const IMPLICIT: u8 = dw::DW_FORM_implicit_const.0 as u8;
    loop {
        match cursor.peek() {
            Some([0, 0]) => return cursor.skip(2),
            // Nearly all names and forms have one byte.
            Some([name, form]) if (name | form) < 0x80 && form != IMPLICIT => cursor.skip(2)?,
            _ if next_spec(cursor)?.is_none() => return Some(()),
            _ => {}
        }
    }
}
