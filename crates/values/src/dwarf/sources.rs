//! The files with an image's debug information, and the places of their units.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use budget::Meter;
use gimli::{Dwarf, Endianity as _, Reader, Section as _, UnitHeader, UnitType};

use super::abbreviations::Tables;
use super::entry::Entry;
use crate::error::Error;

/// Number of units that are held in memory.
const HELD_UNITS: usize = 64;

/// A section of units: `.debug_info` or `.debug_types` of one file.
type Section = u32;

/// Position of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct DieKey {
    /// Section that holds it.
    pub(crate) section: Section,
    /// Offset in the section, in bytes.
    pub(crate) offset: usize,
}

/// A unit with its abbreviations.
pub(crate) struct LoadedUnit<'a, R: Reader<Offset = usize>> {
    /// File that holds it.
    pub(crate) dwarf: &'a Dwarf<R>,
    /// The unit.
    pub(crate) unit: gimli::Unit<R>,
    section: Section,
    /// Offset in the section, in bytes.
    start: usize,
}

impl<R: Reader<Offset = usize>> LoadedUnit<'_, R> {
    /// Position of an entry of this unit.
    pub(crate) const fn key(&self, offset: gimli::UnitOffset) -> DieKey {
        DieKey { section: self.section, offset: self.start.saturating_add(offset.0) }
    }

    /// Position of an entry in the same section.
    pub(crate) const fn key_of_section(&self, offset: gimli::DebugInfoOffset) -> DieKey {
        DieKey { section: self.section, offset: offset.0 }
    }
}

struct UnitPlace<'a, R: Reader<Offset = usize>> {
    section: Section,
    start: usize,
    end: usize,
    dwarf: &'a Dwarf<R>,
    header: UnitHeader<R>,
}

/// Debug information of one image: its own sections, those of split files and of a supplementary file.
pub struct Sources<'a, R: Reader<Offset = usize>> {
    /// Sorted by section and start.
    units: Vec<UnitPlace<'a, R>>,
    /// Type units by signature: position of the type.
    signatures: BTreeMap<u64, DieKey>,
    /// Skeletons of split units, by the id of their file.
    skeletons: BTreeMap<u64, UnitHeader<R>>,
    main: &'a Dwarf<R>,
    has_supplement: bool,
    meter: &'a Meter,
    held: RefCell<BTreeMap<usize, Rc<LoadedUnit<'a, R>>>>,
    tables: Tables,
}

impl<R: Reader<Offset = usize>> fmt::Debug for Sources<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("units", &self.units.len()).finish_non_exhaustive()
    }
}

impl<'a, R: Reader<Offset = usize>> Sources<'a, R> {
    /// Reads the headers of all units. `split` holds files made by `Dwarf::make_dwo` or parts of packages.
    /// All later work on these sources is charged to `meter`, made for the size of their sections.
    ///
    /// Source: DWARF 5, section 7.5.1.
    ///
    /// # Errors
    /// [`Error::Dwarf`] if a header is damaged, [`Error::Exhausted`] if there are too many.
    pub fn new(main: &'a Dwarf<R>, split: &'a [Dwarf<R>], meter: &'a Meter) -> Result<Self, Error> {
        let mut sources = Self {
            units: Vec::new(),
            signatures: BTreeMap::new(),
            skeletons: BTreeMap::new(),
            main,
            has_supplement: main.sup().is_some(),
            meter,
            held: RefCell::new(BTreeMap::new()),
            tables: Tables::default(),
        };
        let mut section = 0;
        for dwarf in [Some(main), main.sup()].into_iter().chain(split.iter().map(Some)) {
            if let Some(dwarf) = dwarf {
                sources.add_file(section, dwarf, split)?;
            }
            section += 2;
        }
        Ok(sources)
    }

    fn add_file(
        &mut self,
        section: Section,
        dwarf: &'a Dwarf<R>,
        split: &[Dwarf<R>],
    ) -> Result<(), Error> {
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            if section == 0 && !split.is_empty() && header.version() < 5 {
                // DWARF 4 states the id in the skeleton's root.
                if let Some(id) = self.read(dwarf, 0, &header)?.dwo_id {
                    self.skeletons.insert(id.0, header.clone());
                }
            }
            if let (0, UnitType::Skeleton(id)) = (section, header.type_()) {
                self.skeletons.insert(id.0, header.clone());
            }
            self.add_unit(section, dwarf, header)?;
        }
        let mut units = dwarf.type_units();
        while let Some(header) = units.next()? {
            self.add_unit(section + 1, dwarf, header)?;
        }
        Ok(())
    }

    fn add_unit(
        &mut self,
        section: Section,
        dwarf: &'a Dwarf<R>,
        header: UnitHeader<R>,
    ) -> Result<(), Error> {
        self.meter.steps(1)?;
        self.meter.hold(size_of::<UnitPlace<'_, R>>())?;
        if !matches!(header.address_size(), 4 | 8) {
            return Err(gimli::Error::UnsupportedAddressSize(header.address_size()).into());
        }
        let offset = header.debug_info_offset().map(|it| it.0);
        let start = offset.or_else(|| header.debug_types_offset().map(|it| it.0)).unwrap_or(0);
        let end = start.saturating_add(header.length_including_self());
        if let UnitType::Type { type_signature, type_offset }
        | UnitType::SplitType { type_signature, type_offset } = header.type_()
        {
            let key = DieKey { section, offset: start.saturating_add(type_offset.0) };
            self.signatures.insert(type_signature.0, key);
        }
        self.units.push(UnitPlace { section, start, end, dwarf, header });
        Ok(())
    }

    /// Meter of all work on these sources.
    pub(crate) const fn meter(&self) -> &'a Meter {
        self.meter
    }

    /// Number of units.
    pub(crate) const fn len(&self) -> usize {
        self.units.len()
    }

    /// Returns a unit by index.
    pub(crate) fn unit(&self, index: usize) -> Result<Rc<LoadedUnit<'a, R>>, Error> {
        if let Some(unit) = self.held.borrow().get(&index) {
            return Ok(unit.clone());
        }
        let place = self.units.get(index).ok_or(gimli::Error::MissingUnitDie)?;
        let mut unit = self.read(place.dwarf, place.section, &place.header)?;
        if place.section >= 4
            && let Some(skeleton) = unit.dwo_id.and_then(|id| self.skeletons.get(&id.0))
        {
            let skeleton = self.read(self.main, 0, skeleton)?;
            unit.copy_relocated_attributes(&skeleton);
            // The table of a split file names files only; that with addresses is the program's.
            unit.line_program = skeleton.line_program;
        }
        let (section, start) = (place.section, place.start);
        let unit = Rc::new(LoadedUnit { dwarf: place.dwarf, unit, section, start });
        let mut held = self.held.borrow_mut();
        if held.len() >= HELD_UNITS {
            held.clear();
        }
        held.insert(index, unit.clone());
        Ok(unit)
    }

    /// Reads a unit, which includes the header of its line table.
    fn read(
        &self,
        dwarf: &Dwarf<R>,
        section: Section,
        header: &UnitHeader<R>,
    ) -> Result<gimli::Unit<R>, Error> {
        self.meter.steps(16)?;
        let abbreviations = self.tables.of(dwarf, section, header, self.meter)?;
        let unit = gimli::Unit::new_with_abbreviations(dwarf, header.clone(), abbreviations)?;
        if let Some(lines) = &unit.line_program {
            // Many units can name the same large table.
            self.meter.steps(lines.header().header_length() as u64 / 8)?;
        }
        Ok(unit)
    }

    /// Returns the files whose units state strings by their place: not the split ones.
    pub(super) fn plain_files(&self) -> impl Iterator<Item = &'a Dwarf<R>> {
        std::iter::once(self.main).chain(self.main.sup())
    }

    /// Returns the bytes of a unit, and whether they are big-endian; `None` if it states strings by their index.
    pub(super) fn plain_unit(&self, index: usize) -> Result<Option<(R, bool)>, Error> {
        let place = self.units.get(index).ok_or(gimli::Error::MissingUnitDie)?;
        if place.section >= 4
            || self
                .tables
                .forms(place.dwarf, place.section, &place.header, self.meter)?
                .strings_by_index
        {
            return Ok(None);
        }
        let is_type = place.section % 2 == 1;
        let (info, types) = (&place.dwarf.debug_info, &place.dwarf.debug_types);
        let mut bytes = if is_type { types.reader() } else { info.reader() }.clone();
        bytes.skip(place.start)?;
        bytes.truncate(place.end.saturating_sub(place.start))?;
        let is_big = bytes.endian().is_big_endian();
        Ok(Some((bytes, is_big)))
    }

    /// Returns true if entries of a unit refer to entries of others.
    pub(crate) fn refers_elsewhere(&self, index: usize) -> Result<bool, Error> {
        let place = self.units.get(index).ok_or(gimli::Error::MissingUnitDie)?;
        Ok(self.tables.forms(place.dwarf, place.section, &place.header, self.meter)?.other_units)
    }

    /// Returns the positions of a unit.
    pub(crate) fn positions(&self, index: usize) -> Option<std::ops::Range<DieKey>> {
        let UnitPlace { section, start, end, .. } = *self.units.get(index)?;
        Some(DieKey { section, offset: start }..DieKey { section, offset: end })
    }

    /// Reads the entry at a position.
    pub(crate) fn entry(&self, key: DieKey) -> Result<Entry<'a, R>, Error> {
        self.meter.steps(1)?;
        let after =
            self.units.partition_point(|it| (it.section, it.start) <= (key.section, key.offset));
        let index = after.checked_sub(1).ok_or(gimli::Error::OffsetOutOfBounds(0))?;
        let place =
            self.units.get(index).filter(|it| it.section == key.section && key.offset < it.end);
        let place = place.ok_or(gimli::Error::OffsetOutOfBounds(key.offset as u64))?;
        let unit = self.unit(index)?;
        let die = unit.unit.entry(gimli::UnitOffset(key.offset - place.start))?;
        Ok(Entry { unit, die, key })
    }

    /// Returns the position that a type unit's signature names.
    pub(crate) fn signature(&self, signature: u64) -> Option<DieKey> {
        self.signatures.get(&signature).copied()
    }

    /// Returns a position in the supplementary file.
    pub(crate) fn supplement(&self, offset: usize) -> Option<DieKey> {
        self.has_supplement.then_some(DieKey { section: 2, offset })
    }
}
