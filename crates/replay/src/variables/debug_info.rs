//! The debug information of a file: its own, or that of its debug file, with the supplementary and the split files.

use std::borrow::Cow;

use budget::{Budget, Meter};
use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use image_store::{Image, ImageStore, LoadedImage};
use memchr::memmem;
use values::{Functions, Instance, Request, Sources, Variables};

use super::split::SplitFile;
use crate::variables::ListedFunction;

/// Unpacked sections of an image.
pub(super) type Sections<'i> = Vec<(SectionId, Cow<'i, [u8]>)>;

/// The debug information of a file.
pub(super) struct DebugInfo<'i> {
    image: &'i Image,
    main: Sections<'i>,
    supplement: Option<(&'i Image, Sections<'i>)>,
    split: Vec<SplitFile<'i>>,
    endian: RunTimeEndian,
}

/// Maximum size of sections of one name, as a multiple of the size of the file.
const MOST_UNPACKED: usize = 4;
/// The sections that contain names.
const NAMES: [SectionId; 3] = [SectionId::DebugStr, SectionId::DebugInfo, SectionId::DebugLineStr];
/// The other sections that variables need.
const OTHERS: [SectionId; 11] = [
    SectionId::DebugAbbrev,
    SectionId::DebugStrOffsets,
    SectionId::DebugLine,
    SectionId::DebugAddr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugTypes,
    SectionId::DebugCuIndex,
    SectionId::DebugTuIndex,
];
/// Those of them that the look-up of names does not need.
const ONLY_HERE: [SectionId; 5] = [
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugTypes,
    SectionId::DebugCuIndex,
    SectionId::DebugTuIndex,
];

impl<'i> DebugInfo<'i> {
    /// Unpacks the sections; `None` if the file has no debug information.
    pub(super) fn load(image: &'i LoadedImage, images: &'i ImageStore) -> Option<Self> {
        let mut info = Self::with_names(image, images)?;
        info.complete(image, images);
        Some(info)
    }

    /// Unpacks the sections; `None` if the file has no debug information, or if none of the names occurs in it. Most
    /// files have none of the names, and only their sections for names are unpacked.
    pub(super) fn load_named(
        image: &'i LoadedImage,
        images: &'i ImageStore,
        names: &[&str],
    ) -> Option<Self> {
        let mut info = Self::with_names(image, images)?;
        let is_named = |info: &Self| names.iter().any(|name| info.contains(name));
        // Units in split files have their addresses here, and their names there.
        let is_split = info.image.section(SectionId::DebugAddr.name()).is_some();
        if !is_split && !is_named(&info) {
            return None;
        }
        info.complete(image, images);
        (!is_split || is_named(&info)).then_some(info)
    }

    /// Unpacks the sections for names.
    fn with_names(image: &'i LoadedImage, images: &'i ImageStore) -> Option<Self> {
        let own = image.image();
        let has_info = |image: &Image| image.section(".debug_info").is_some();
        let debug = || image.debug(images).map(|debug| &**debug);
        let main = Some(own).filter(|own| has_info(own)).or_else(debug)?;
        if !has_info(main) || main.is_relocatable() {
            return None;
        }
        let endian =
            if main.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let of_file = |image: &'i Image| sections(image, &NAMES, |id| Some(id.name()));
        let supplement = image.alt(images).map(|alt| (&**alt, of_file(alt)));
        Some(Self { image: main, main: of_file(main), supplement, split: Vec::new(), endian })
    }

    /// Unpacks the other sections, and those of split files.
    fn complete(&mut self, image: &'i LoadedImage, images: &'i ImageStore) {
        let of_file = |image: &'i Image| sections(image, &OTHERS, |id| Some(id.name()));
        self.main.extend(of_file(self.image));
        if let Some((alt, supplement)) = &mut self.supplement {
            supplement.extend(of_file(alt));
        }
        self.split = SplitFile::load_all(&dwarf_of(&self.main, self.endian), image, images);
    }

    /// Returns true if a name occurs in it.
    fn contains(&self, name: &str) -> bool {
        let finder = memmem::Finder::new(name);
        let mut named = self.all().flatten().filter(|(id, _)| NAMES.contains(id));
        named.any(|(_, data)| finder.find(data).is_some())
    }

    /// The sections of all files.
    fn all(&self) -> impl Iterator<Item = &Sections<'i>> {
        let split = self.split.iter().map(|file| &file.sections);
        let supplement = self.supplement.iter().map(|(_, sections)| sections);
        std::iter::once(&self.main).chain(supplement).chain(split)
    }

    /// Finds the variables of requests.
    ///
    /// # Errors
    /// If the debug information is damaged, or needs more work than its size allows.
    pub(super) fn find(
        &self,
        requests: &[Request],
        budget: &Budget,
    ) -> Result<(Variables, Vec<Option<values::Error>>), values::Error> {
        self.with_sources(budget, |sources| Variables::find(sources, requests))
    }

    /// Lists the instances of a function.
    ///
    /// # Errors
    /// If there is no such function, or the debug information is damaged.
    pub(super) fn list(
        &self,
        name: &str,
        budget: &Budget,
    ) -> Result<Vec<ListedFunction>, values::Error> {
        self.with_sources(budget, |sources| {
            let functions = Functions::find(sources, &[name])?;
            let list = |instance: &Instance| {
                Ok(ListedFunction {
                    name: instance.name().to_owned(),
                    inlined_into: instance.inlined_into().map(str::to_owned),
                    bytes: instance.bytes(),
                    variables: instance.listing(sources)?,
                })
            };
            functions.instances(0)?.iter().map(list).collect()
        })
    }

    /// Calls `read` with the debug information.
    pub(super) fn with_sources<T>(
        &self,
        budget: &Budget,
        read: impl FnOnce(&Sources<'_, EndianSlice<'_, RunTimeEndian>>) -> Result<T, values::Error>,
    ) -> Result<T, values::Error> {
        let size = self.all().flatten().map(|(_, data)| data.len()).sum();
        let meter = Meter::new(budget, size);
        let mut dwarf = dwarf_of(&self.main, self.endian);
        if let Some((_, supplement)) = &self.supplement {
            dwarf.set_sup(dwarf_of(supplement, self.endian));
        }
        let split: Vec<_> =
            self.split.iter().flat_map(|file| file.parts(&dwarf, self.endian)).collect();
        read(&Sources::new(&dwarf, &split, &meter)?)
    }
}

impl Drop for DebugInfo<'_> {
    /// Returns the unpacked sections to their files, for the look-up of names.
    fn drop(&mut self) {
        let main = (self.image, std::mem::take(&mut self.main));
        for (image, sections) in std::iter::once(main).chain(self.supplement.take()) {
            for (id, data) in sections {
                if let (Cow::Owned(data), Some(section)) = (data, image.section(id.name()))
                    && !ONLY_HERE.contains(&id)
                {
                    image.give_back(section, data);
                }
            }
        }
    }
}

/// Returns unpacked sections as debug information.
pub(super) fn dwarf_of<'s>(
    of: &'s Sections<'_>,
    endian: RunTimeEndian,
) -> Dwarf<EndianSlice<'s, RunTimeEndian>> {
    let data = |id: SectionId| {
        Ok::<_, std::convert::Infallible>(EndianSlice::new(section_of(of, id), endian))
    };
    match Dwarf::load(data) {
        Ok(dwarf) => dwarf,
        Err(never) => match never {},
    }
}

/// Returns a section; empty if the file has none.
pub(super) fn section_of<'s>(of: &'s Sections<'_>, id: SectionId) -> &'s [u8] {
    let section = of.iter().find(|(section, _)| *section == id);
    section.map_or(&[][..], |(_, data)| data)
}

/// Unpacks all sections that have a name in an image.
pub(super) fn all_sections(
    image: &Image,
    name: impl Fn(SectionId) -> Option<&'static str>,
) -> Sections<'_> {
    let mut all = sections(image, &NAMES, &name);
    all.extend(sections(image, &OTHERS, &name));
    all
}

/// Unpacks those of the sections that have a name in an image. In relocatable files, each type unit has a section of its own, of
/// the same name; offsets count in the unit.
fn sections<'i>(
    image: &'i Image,
    ids: &[SectionId],
    name: impl Fn(SectionId) -> Option<&'static str>,
) -> Sections<'i> {
    let load = |id: &SectionId| {
        let name = name(*id)?;
        let first = image.section_data(image.section(name)?).ok()?;
        let named = |section: &&image_store::Section| *section.name == *name.as_bytes();
        let mut data = first;
        let most = image.bytes().len().saturating_mul(MOST_UNPACKED);
        for more in image.sections().iter().filter(named).skip(1) {
            let more = image.section_data(more).ok()?;
            // Sections of a damaged file can overlap.
            if data.len().saturating_add(more.len()) > most {
                return None;
            }
            data.to_mut().extend_from_slice(&more);
        }
        Some((*id, data))
    };
    ids.iter().filter_map(load).collect()
}

/// Returns the longest identifier of a function's name after its last `::` or `.`, which its debug information contains.
pub(super) fn identifier(function: &str) -> &str {
    let end = function.find(['(', '<', '[']).unwrap_or(function.len());
    let name = function.get(..end).unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let parts = name.rsplit(|c: char| !is_part(c)).filter(|part| !part.is_empty());
    // Names of methods of Go have their type in parentheses.
    parts.into_iter().next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_in_an_identifier() {
        for (name, expected) in [
            ("exec_query", "exec_query"),
            ("ns::A<int>::f", "A"),
            ("f(int, char*)", "f"),
            ("core::slice::sort", "sort"),
            ("main.(*T).Do", "main"),
            ("operator()", "operator"),
        ] {
            assert_eq!(identifier(name), expected);
        }
    }
}
