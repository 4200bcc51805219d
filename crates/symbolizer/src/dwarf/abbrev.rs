//! Abbreviation tables, compiled for a unit's encoding: what an entry is to the walk, and how to step over it.
//!
//! Source: DWARF 5, 7.5.3 "Abbreviations Tables".

use hashbrown::HashMap;

use crate::bytes::Cursor;
use crate::dwarf::form::{self, Encoding, Spec};

/// What an entry means for the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// `DW_TAG_subprogram`.
    Function,
    /// `DW_TAG_inlined_subroutine`.
    Inlined,
    /// Functions are looked for below it, always.
    Scope,
    /// Functions are rarely below it: it is jumped over where the file says how.
    Other,
}

/// A step over attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Fixed(u32),
    Leb,
    Form(u16),
    /// `DW_AT_sibling`, of this size in bytes.
    Sibling(u8),
}

/// A compiled abbreviation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abbrev {
    pub(crate) role: Role,
    pub(crate) children: bool,
    /// Size of all attributes where every entry has the same and there is no sibling attribute; else `u32::MAX`.
    fixed: u32,
    steps: (u32, u32),
    specs: (u32, u32),
}

/// A table of abbreviations.
#[derive(Debug)]
pub(crate) struct Abbrevs {
    /// By code - 1, which is how all producers number them.
    dense: Vec<Abbrev>,
    others: HashMap<u64, Abbrev>,
    specs: Vec<Spec>,
    steps: Vec<Step>,
    encoding: Encoding,
}

impl Abbrevs {
    /// Compiles the table at `offset` of `.debug_abbrev`. What cannot be read ends it.
    pub(crate) fn parse(section: &[u8], offset: u64, encoding: Encoding) -> Self {
        let mut table = Self {
            dense: Vec::new(),
            others: HashMap::new(),
            specs: Vec::new(),
            steps: Vec::new(),
            encoding,
        };
        let mut cursor = Cursor::new(section, usize::try_from(offset).unwrap_or(usize::MAX), false);
        while table.parse_one(&mut cursor).is_some() {}
        table
    }

    fn parse_one(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let code = cursor.uleb().filter(|&code| code != 0)?;
        let tag = cursor.uleb()?;
        let children = cursor.u8()? != 0;
        let specs_start = self.specs.len() as u32;
        let steps_start = self.steps.len() as u32;
        while let Some(spec) = next_spec(cursor)? {
            self.specs.push(spec);
            self.push_step(spec, steps_start as usize);
        }
        let fixed = match self.steps.get(steps_start as usize..)? {
            [] => 0,
            [Step::Fixed(size)] => *size,
            _ => u32::MAX,
        };
        let abbrev = Abbrev {
            role: role(tag),
            children,
            fixed,
            steps: (steps_start, self.steps.len() as u32),
            specs: (specs_start, self.specs.len() as u32),
        };
        if code == self.dense.len() as u64 + 1 {
            self.dense.push(abbrev);
        } else if code > self.dense.len() as u64 {
            // The first of equal codes counts.
            self.others.entry(code).or_insert(abbrev);
        }
        Some(())
    }

    fn push_step(&mut self, spec: Spec, first: usize) {
        const DW_AT_SIBLING: u16 = 0x01;
        let size = form::fixed_size(spec.form, self.encoding);
        let step = match size {
            Some(size) if spec.name == DW_AT_SIBLING && matches!(spec.form, 0x11..=0x14) => {
                Step::Sibling(size)
            }
            Some(size) => Step::Fixed(size.into()),
            None if form::is_leb(spec.form) => Step::Leb,
            None => Step::Form(spec.form),
        };
        if let (Step::Fixed(more), true) = (step, self.steps.len() > first)
            && let Some(Step::Fixed(before)) = self.steps.last_mut()
        {
            *before = before.saturating_add(more);
            return;
        }
        self.steps.push(step);
    }

    #[inline]
    pub(crate) fn get(&self, code: u64) -> Option<&Abbrev> {
        self.dense.get((code as usize).wrapping_sub(1)).or_else(|| self.others.get(&code))
    }

    pub(crate) fn specs(&self, abbrev: &Abbrev) -> &[Spec] {
        self.specs.get(abbrev.specs.0 as usize..abbrev.specs.1 as usize).unwrap_or(&[])
    }

    /// Steps over the attributes of an entry; gives its sibling's offset in the unit, or 0.
    #[inline]
    pub(crate) fn skip(&self, cursor: &mut Cursor<'_>, abbrev: &Abbrev) -> Option<u64> {
        if abbrev.fixed != u32::MAX {
            cursor.skip(abbrev.fixed.into())?;
            return Some(0);
        }
        let mut sibling = 0;
        for step in self.steps.get(abbrev.steps.0 as usize..abbrev.steps.1 as usize)? {
            match *step {
                Step::Fixed(size) => cursor.skip(size.into())?,
                Step::Leb => cursor.skip_leb()?,
                Step::Form(form) => form::skip(cursor, form, self.encoding)?,
                Step::Sibling(size) => sibling = cursor.uint(size)?,
            }
        }
        Some(sibling)
    }
}

fn role(tag: u64) -> Role {
    match tag {
        0x2e => Role::Function,
        0x1d => Role::Inlined,
        // Units, lexical, try, catch and with blocks, modules, namespaces, common blocks.
        0x11 | 0x3c | 0x41 | 0x4a | 0x0b | 0x32 | 0x25 | 0x22 | 0x1e | 0x39 | 0x1a => Role::Scope,
        _ => Role::Other,
    }
}

/// The next attribute of an abbreviation; the inner `None` at their end.
#[expect(clippy::option_option, reason = "damage and the end of the list are different things")]
pub(crate) fn next_spec(cursor: &mut Cursor<'_>) -> Option<Option<Spec>> {
    let name = cursor.uleb()?;
    let form = cursor.uleb()?;
    if name == 0 && form == 0 {
        return Some(None);
    }
    let implicit = if form == 0x21 { cursor.sleb()? } else { 0 };
    // Vendor attributes above 16 bits do not exist; such a form is refused where it is read.
    Some(Some(Spec {
        name: u16::try_from(name).unwrap_or(u16::MAX),
        form: u16::try_from(form).unwrap_or(u16::MAX),
        implicit,
    }))
}

/// Finds one abbreviation without compiling the table: a unit's root is nearly always the first. Gives its tag and
/// leaves the cursor at its attributes.
pub(crate) fn find<'a>(section: &'a [u8], offset: u64, code: u64) -> Option<(u64, Cursor<'a>)> {
    let mut cursor = Cursor::new(section, usize::try_from(offset).ok()?, false);
    loop {
        let found = cursor.uleb().filter(|&found| found != 0)?;
        let tag = cursor.uleb()?;
        cursor.u8()?;
        if found == code {
            return Some((tag, cursor));
        }
        skip_specs(&mut cursor)?;
    }
}

/// Steps over the attributes of an abbreviation, up to behind their end. Of a large file that is most of what is read
/// of its table of abbreviations.
fn skip_specs(cursor: &mut Cursor<'_>) -> Option<()> {
    const IMPLICIT: u8 = 0x21;
    loop {
        match cursor.peek() {
            Some([0, 0]) => return cursor.skip(2),
            // Nearly all names and forms are of one byte.
            Some([name, form]) if (name | form) < 0x80 && form != IMPLICIT => cursor.skip(2)?,
            _ if next_spec(cursor)?.is_none() => return Some(()),
            _ => {}
        }
    }
}
