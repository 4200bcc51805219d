//! Entries: their attributes as names, numbers, ranges and references.

use std::rc::Rc;

use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, DwTag, Reader, constants as c};

use super::Ranges;
use super::sources::{DieKey, LoadedUnit, Sources};
use crate::error::Error;

/// Maximum number of references from an entry to the one that names it.
const MAX_ORIGINS: usize = 8;
/// Maximum nesting of entries.
const MAX_DEPTH: isize = 400;

/// An entry with its unit.
pub(crate) struct Entry<'a, R: Reader<Offset = usize>> {
    /// Unit that holds it.
    pub(crate) unit: Rc<LoadedUnit<'a, R>>,
    /// The entry.
    pub(crate) die: DebuggingInformationEntry<R>,
    /// Its position.
    pub(crate) key: DieKey,
}

impl<'a, R: Reader<Offset = usize>> Entry<'a, R> {
    /// Returns the kind of entry.
    pub(crate) fn tag(&self) -> gimli::DwTag {
        self.die.tag()
    }

    /// Returns the position that an attribute refers to.
    pub(crate) fn reference(&self, sources: &Sources<'a, R>, name: DwAt) -> Option<DieKey> {
        reference(sources, &self.unit, &self.die, name)
    }

    /// Returns this entry and those that it completes, by `DW_AT_abstract_origin` and `DW_AT_specification`.
    pub(crate) fn origins(self, sources: &Sources<'a, R>) -> Result<Vec<Self>, Error> {
        let mut chain = vec![self];
        while let Some(last) = chain.last() {
            let next = last.reference(sources, c::DW_AT_abstract_origin);
            let next = next.or_else(|| last.reference(sources, c::DW_AT_specification));
            match next {
                Some(key) if chain.len() < MAX_ORIGINS => chain.push(sources.entry(key)?),
                _ => break,
            }
        }
        Ok(chain)
    }

    /// Returns the address ranges. Empty if the entry states none.
    pub(crate) fn ranges(&self, sources: &Sources<'a, R>) -> Result<Ranges, Error> {
        let mut ranges = Ranges::new();
        let mut iter = self.unit.dwarf.die_ranges(&self.unit.unit, &self.die)?;
        while let Some(range) = iter.next()? {
            sources.meter().steps(1)?;
            sources.meter().hold(16)?;
            if range.begin < range.end {
                ranges.push(range.begin..range.end);
            }
        }
        ranges.sort_by_key(|range| (range.start, range.end));
        Ok(ranges)
    }

    /// Returns the address of an attribute.
    pub(crate) fn address(&self, name: DwAt) -> Option<u64> {
        let value = self.die.attr_value(name)?;
        self.unit.dwarf.attr_address(&self.unit.unit, value).ok().flatten()
    }

    /// Calls `child` for each direct child, in order.
    pub(crate) fn children(
        &self,
        sources: &Sources<'a, R>,
        mut child: impl FnMut(Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        Walk::new(sources, self.unit.clone()).run(
            Some(self.die.offset()),
            |_| true,
            |unit, die| {
                if die.depth() == 0 {
                    return Ok(true);
                }
                let key = unit.key(die.offset());
                child(Entry { unit: unit.clone(), die: die.clone(), key })?;
                Ok(false)
            },
        )
    }
}

/// Returns the position that an attribute refers to.
fn reference<'a, R: Reader<Offset = usize>>(
    sources: &Sources<'a, R>,
    unit: &LoadedUnit<'a, R>,
    die: &DebuggingInformationEntry<R>,
    name: DwAt,
) -> Option<DieKey> {
    match die.attr_value(name)? {
        AttributeValue::UnitRef(offset) => Some(unit.key(offset)),
        AttributeValue::DebugInfoRef(offset) => Some(unit.key_of_section(offset)),
        AttributeValue::DebugInfoRefSup(offset) => sources.supplement(offset.0),
        AttributeValue::DebugTypesRef(signature) => sources.signature(signature.0),
        _ => None,
    }
}

/// Returns the text of an attribute.
pub(crate) fn name<R: Reader<Offset = usize>>(
    unit: &LoadedUnit<'_, R>,
    die: &DebuggingInformationEntry<R>,
    name: DwAt,
) -> Option<String> {
    let text = unit.dwarf.attr_string(&unit.unit, die.attr_value(name)?).ok()?;
    text.to_string_lossy().ok().map(std::borrow::Cow::into_owned)
}

/// Returns the number of an attribute.
pub(crate) fn unsigned<R: Reader<Offset = usize>>(
    die: &DebuggingInformationEntry<R>,
    name: DwAt,
) -> Option<u64> {
    die.attr_value(name)?.udata_value()
}

/// Returns the number of an attribute; forms without sign are not extended.
pub(crate) fn signed<R: Reader<Offset = usize>>(
    die: &DebuggingInformationEntry<R>,
    name: DwAt,
) -> Option<i128> {
    match die.attr_value(name)? {
        AttributeValue::Sdata(value) => Some(value.into()),
        value => value.udata_value().map(i128::from),
    }
}

/// Returns true if a flag is set.
pub(crate) fn flag<R: Reader<Offset = usize>>(
    die: &DebuggingInformationEntry<R>,
    name: DwAt,
) -> bool {
    matches!(die.attr_value(name), Some(AttributeValue::Flag(true)))
}

/// Walk over the entries of a unit or below an entry, parents first. Every entry is charged.
pub(crate) struct Walk<'a, 's, R: Reader<Offset = usize>> {
    sources: &'s Sources<'a, R>,
    unit: Rc<LoadedUnit<'a, R>>,
}

impl<'a, 's, R: Reader<Offset = usize>> Walk<'a, 's, R> {
    /// Creates a walk over entries of a unit.
    pub(crate) const fn new(sources: &'s Sources<'a, R>, unit: Rc<LoadedUnit<'a, R>>) -> Self {
        Self { sources, unit }
    }

    /// Calls `visit` for each entry below `start`, or of the unit, whose kind is wanted. `visit` returns false to skip
    /// the children; those of other kinds are skipped.
    pub(crate) fn run(
        &self,
        start: Option<gimli::UnitOffset>,
        is_wanted: impl Fn(DwTag) -> bool,
        mut visit: impl FnMut(
            &Rc<LoadedUnit<'a, R>>,
            &DebuggingInformationEntry<R>,
        ) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let unit = &self.unit;
        let mut raw = unit.unit.entries_raw(start)?;
        let mut die = DebuggingInformationEntry::null();
        let mut skip_below = isize::MAX;
        while !raw.is_empty() {
            self.sources.meter().steps(1)?;
            let (depth, entry) = (raw.next_depth(), raw.clone());
            let Some(abbreviation) = raw.read_abbreviation()? else {
                if start.is_some() && raw.next_depth() <= 0 {
                    break;
                }
                continue;
            };
            if depth > MAX_DEPTH {
                return Err(gimli::Error::MissingUnitDie.into());
            }
            let is_skipped = depth > skip_below;
            if is_skipped || !is_wanted(abbreviation.tag()) {
                if !is_skipped {
                    skip_below = depth;
                }
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            raw = entry;
            raw.read_entry(&mut die)?;
            skip_below = if visit(unit, &die)? { isize::MAX } else { depth };
            if start.is_some() && depth == 0 && !die.has_children() {
                break;
            }
        }
        Ok(())
    }
}
