//! Split debug information: the `.dwo` files of a program's units, or the package (`.dwp`) with all of them.

use std::collections::BTreeSet;

use gimli::{
    AttributeValue, Dwarf, DwarfPackage, EndianSlice, RunTimeEndian, Section as _, SectionId,
    UnitType, constants as c,
};
use image_store::{Image, ImageStore, LoadedImage};
use memchr::memmem;

use super::debug_info::{Sections, all_sections, dwarf_of, section_of};

type Slice<'s> = EndianSlice<'s, RunTimeEndian>;

/// The attribute `DW_AT_GNU_dwo_id` as LEB128.
const GNU_DWO_ID: [u8; 2] = [0xb1, 0x42];

/// A file with split units.
pub(super) struct SplitFile<'i> {
    pub(super) sections: Sections<'i>,
    /// Ids of the program's units that it holds.
    ids: BTreeSet<u64>,
}

/// The skeleton of a unit whose entries are in another file.
struct Skeleton {
    id: u64,
    directory: Vec<u8>,
    name: Vec<u8>,
}

impl<'i> SplitFile<'i> {
    /// Opens the split files of a program. A missing file leaves out its units, as the look-up of names reports.
    pub(super) fn load_all(
        main: &Dwarf<Slice<'_>>,
        image: &'i LoadedImage,
        images: &'i ImageStore,
    ) -> Vec<Self> {
        let mut found: Vec<(*const Image, Self)> = Vec::new();
        for skeleton in skeletons(main) {
            let Skeleton { id, directory, name } = skeleton;
            let Some(split) = image.split(images, &directory, &name) else { continue };
            let address = std::ptr::from_ref(split);
            // All units of a package come in a row.
            match found.iter_mut().rev().find(|(known, _)| *known == address) {
                Some((_, file)) => {
                    file.ids.insert(id);
                }
                None => {
                    let sections = all_sections(split, SectionId::dwo_name);
                    found.push((address, Self { sections, ids: BTreeSet::from([id]) }));
                }
            }
        }
        found.into_iter().map(|(_, file)| file).collect()
    }

    /// Returns the parts of the file that belong to the program. A unit of another build has another id.
    ///
    /// Source: DWARF 5, section 7.3.5.
    pub(super) fn parts<'s>(
        &'s self,
        main: &Dwarf<Slice<'s>>,
        endian: RunTimeEndian,
    ) -> Vec<Dwarf<Slice<'s>>> {
        if section_of(&self.sections, SectionId::DebugCuIndex).is_empty() {
            let mut dwarf = dwarf_of(&self.sections, endian);
            dwarf.make_dwo(main);
            let is_ours = unit_ids(&dwarf).any(|id| self.ids.contains(&id));
            return if is_ours { vec![dwarf] } else { Vec::new() };
        }
        let load =
            |id| Ok::<_, gimli::Error>(EndianSlice::new(section_of(&self.sections, id), endian));
        let Ok(package) = DwarfPackage::load(load, EndianSlice::new(&[], endian)) else {
            return Vec::new();
        };
        let units =
            self.ids.iter().filter_map(|id| package.find_cu(gimli::DwoId(*id), main).ok()?);
        let types = 1..=package.tu_index.unit_count();
        units.chain(types.filter_map(|row| package.tu_sections(row, main).ok())).collect()
    }
}

/// Returns the ids of a file's split units.
fn unit_ids(dwarf: &Dwarf<Slice<'_>>) -> impl Iterator<Item = u64> {
    let mut units = dwarf.units();
    std::iter::from_fn(move || units.next().ok()?).filter_map(move |header| match header.type_() {
        UnitType::SplitCompilation(id) => Some(id.0),
        _ if header.version() < 5 => dwarf.unit(header).ok()?.dwo_id.map(|id| id.0),
        _ => None,
    })
}

/// Returns the skeletons of a program's file, in the order of the file.
fn skeletons(main: &Dwarf<Slice<'_>>) -> Vec<Skeleton> {
    // Of DWARF 4, only an attribute of the root shows that a unit is a skeleton.
    let abbreviations = main.debug_abbrev.reader().slice();
    let has_old = memmem::find(abbreviations, &GNU_DWO_ID).is_some();
    let mut found = Vec::new();
    let mut units = main.units();
    while let Ok(Some(header)) = units.next() {
        let is_candidate = match header.type_() {
            UnitType::Skeleton(_) => true,
            _ => has_old && header.version() < 5,
        };
        let unit = if is_candidate { main.unit(header).ok() } else { None };
        found.extend(unit.and_then(|unit| skeleton(main, &unit)));
    }
    found
}

fn skeleton(main: &Dwarf<Slice<'_>>, unit: &gimli::Unit<Slice<'_>>) -> Option<Skeleton> {
    let id = unit.dwo_id?.0;
    let root = unit.entry(unit.header.root_offset()).ok()?;
    let value: AttributeValue<_> =
        root.attr_value(c::DW_AT_dwo_name).or_else(|| root.attr_value(c::DW_AT_GNU_dwo_name))?;
    let name = main.attr_string(unit, value).ok()?.slice().to_vec();
    let directory = unit.comp_dir.map(|it| it.slice().to_vec()).unwrap_or_default();
    Some(Skeleton { id, directory, name })
}
