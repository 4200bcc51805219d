//! The debug information of a file: its own, or that of its debug file, with the supplementary file.

use std::borrow::Cow;

use budget::{Budget, Meter};
use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use image_store::{Image, ImageStore, LoadedImage};
use memchr::memmem;
use values::{Functions, Instance, Request, Sources, Variables};

use crate::variables::ListedFunction;

/// Unpacked sections of an image.
type Sections<'i> = Vec<(SectionId, Cow<'i, [u8]>)>;

/// The debug information of a file.
pub(super) struct DebugInfo<'i> {
    main: Sections<'i>,
    supplement: Option<Sections<'i>>,
    endian: RunTimeEndian,
}

/// The sections that variables need.
const SECTIONS: [SectionId; 12] = [
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugLineStr,
    SectionId::DebugLine,
    SectionId::DebugAddr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugLoc,
    SectionId::DebugLocLists,
    SectionId::DebugTypes,
];

impl<'i> DebugInfo<'i> {
    /// Unpacks the sections; `None` if the file has no debug information.
    pub(super) fn load(image: &'i LoadedImage, images: &ImageStore) -> Option<Self> {
        let own = image.image();
        let has_info = |image: &Image| image.section(".debug_info").is_some();
        let debug = || image.debug(images).map(|debug| &**debug);
        let main = Some(own).filter(|own| has_info(own)).or_else(debug)?;
        if !has_info(main) || main.is_relocatable() {
            return None;
        }
        let endian =
            if main.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let supplement = image.alt(images).map(|alt| sections(alt));
        Some(Self { main: sections(main), supplement, endian })
    }

    /// Returns true if a name occurs in it.
    pub(super) fn contains(&self, name: &str) -> bool {
        let finder = memmem::Finder::new(name);
        let all = self.main.iter().chain(self.supplement.iter().flatten());
        let mut named = all.filter(|(id, _)| {
            matches!(id, SectionId::DebugStr | SectionId::DebugInfo | SectionId::DebugLineStr)
        });
        named.any(|(_, data)| finder.find(data).is_some())
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
        let size = |sections: &Sections<'_>| sections.iter().map(|(_, data)| data.len()).sum();
        let size: usize = size(&self.main) + self.supplement.as_ref().map_or(0, size);
        let meter = Meter::new(budget, size);
        let mut dwarf = self.dwarf(&self.main);
        if let Some(supplement) = &self.supplement {
            dwarf.set_sup(self.dwarf(supplement));
        }
        read(&Sources::new(&dwarf, &[], &meter)?)
    }

    fn dwarf<'s>(&self, of: &'s Sections<'_>) -> Dwarf<EndianSlice<'s, RunTimeEndian>> {
        let data = |id: SectionId| {
            let section = of.iter().find(|(section, _)| *section == id);
            let bytes = section.map_or(&[][..], |(_, data)| data);
            Ok::<_, std::convert::Infallible>(EndianSlice::new(bytes, self.endian))
        };
        match Dwarf::load(data) {
            Ok(dwarf) => dwarf,
            Err(never) => match never {},
        }
    }
}

fn sections(image: &Image) -> Sections<'_> {
    let load = |id: &SectionId| {
        let section = image.section(id.name())?;
        Some((*id, image.section_data(section).ok()?))
    };
    SECTIONS.iter().filter_map(load).collect()
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
