//! The abbreviations of unit roots, each compiled once for all units that use it. Attributes may have no bytes, so even
//! a unit of twelve bytes could have any number of them.

use budget::{Allowance, Exhausted};
use gimli::constants as dw;
use gimli::{DwAt, DwTag};
use hashbrown::HashMap;

use crate::bytes::ByteCursor;
use crate::dwarf::abbrev::{find, next_spec};
use crate::dwarf::form::{self, Encoding, FormValue, Spec};

/// A step over the attributes of a root.
#[derive(Clone, Copy, Debug)]
enum RootStep {
    /// Skips a number of bytes.
    Fixed(u32),
    /// Skips a value of variable size.
    Skip(Spec),
    /// Reads a wanted value.
    Read(Spec),
}

/// Tag and steps of a root's abbreviation; `None` if it cannot be read.
type RootLayout = Option<(DwTag, (u32, u32))>;

/// The abbreviations that roots of a section have used so far.
#[derive(Debug)]
pub(crate) struct RootAbbrevs<'a> {
    section: &'a [u8],
    known: HashMap<(u64, u64, Encoding), RootLayout>,
    steps: Vec<RootStep>,
    /// Bytes of the section that may still be read.
    bytes: Allowance,
}

impl<'a> RootAbbrevs<'a> {
    pub(crate) fn new(section: &'a [u8], bytes: Allowance) -> Self {
        Self { section, known: HashMap::new(), steps: Vec::new(), bytes }
    }

    /// Reads a root: calls `give` with name and value of each wanted attribute, and returns the tag. `None` if the root
    /// cannot be read.
    ///
    /// # Errors
    /// If the limit on abbreviation bytes is exceeded.
    pub(crate) fn read<'i>(
        &mut self,
        cursor: &mut ByteCursor<'i>,
        offset: u64,
        encoding: Encoding,
        mut give: impl FnMut(DwAt, FormValue<'i>),
    ) -> Result<Option<DwTag>, Exhausted> {
        let Some(code) = cursor.uleb() else { return Ok(None) };
        let key = (offset, code, encoding);
        let root = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let compiled = self.compile(offset, code, encoding)?;
                self.known.insert(key, compiled);
                compiled
            }
        };
        let Some((tag, (first, end))) = root else { return Ok(None) };
        let mut read = || {
            for step in self.steps.get(first as usize..end as usize)? {
                match *step {
                    RootStep::Fixed(size) => cursor.skip(size.into())?,
                    RootStep::Skip(spec) => form::skip(cursor, spec.form, encoding)?,
                    RootStep::Read(spec) => give(spec.name, form::read(cursor, spec, encoding)?),
                }
            }
            Some(tag)
        };
        Ok(read())
    }

    fn compile(
        &mut self,
        offset: u64,
        code: u64,
        encoding: Encoding,
    ) -> Result<RootLayout, Exhausted> {
        let Some((tag, mut cursor)) = find(self.section, offset, code, &mut self.bytes)? else {
            return Ok(None);
        };
        let before = cursor.at();
        let mut specs = Vec::new();
        let complete = loop {
            match next_spec(&mut cursor) {
                Some(Some(spec)) => specs.push(spec),
                end => break end.is_some(),
            }
        };
        self.bytes.take((cursor.at() - before) as u64)?;
        if !complete {
            return Ok(None);
        }
        let first = self.steps.len();
        self.push_steps(&specs, encoding);
        Ok(Some((tag, (first as u32, self.steps.len() as u32))))
    }

    fn push_steps(&mut self, specs: &[Spec], encoding: Encoding) {
        let start = self.steps.len();
        // The last of repeated attributes counts.
        let last = WANTED.map(|name| specs.iter().rposition(|spec| spec.name == name));
        for (at, spec) in specs.iter().enumerate() {
            let step = match form::fixed_size(spec.form, encoding) {
                _ if last.contains(&Some(at)) => RootStep::Read(*spec),
                Some(size) => RootStep::Fixed(size.into()),
                None => RootStep::Skip(*spec),
            };
            match (step, self.steps.get_mut(start..).and_then(<[_]>::last_mut)) {
                (RootStep::Fixed(more), Some(RootStep::Fixed(before))) => {
                    *before = before.saturating_add(more);
                }
                _ => self.steps.push(step),
            }
        }
    }
}

/// The attributes of roots that are used.
const WANTED: [DwAt; 15] = [
    dw::DW_AT_name,
    dw::DW_AT_stmt_list,
    dw::DW_AT_low_pc,
    dw::DW_AT_high_pc,
    dw::DW_AT_comp_dir,
    dw::DW_AT_language,
    dw::DW_AT_ranges,
    dw::DW_AT_str_offsets_base,
    dw::DW_AT_addr_base,
    dw::DW_AT_GNU_addr_base,
    dw::DW_AT_rnglists_base,
    dw::DW_AT_dwo_name,
    dw::DW_AT_GNU_dwo_name,
    dw::DW_AT_GNU_dwo_id,
    dw::DW_AT_GNU_ranges_base,
];
