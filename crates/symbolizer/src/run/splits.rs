//! Opens the split DWARF of the units that contain a requested address.

use std::path::Path;

use budget::{MemoryUse, Resource};
use hashbrown::HashMap;
use image_store::Image;
use rayon::prelude::*;

use crate::bytes::NameText;
use crate::dwarf::{DwarfFile, DwarfSections, SplitImage, split_file, split_id};
use crate::request::{SymbolRequest, SymbolizeOptions};
use crate::run::job::{LoadedFiles, OpenedFiles};

/// The split files of a request, and the file that each skeleton unit uses.
pub(crate) struct SplitImages<'a> {
    images: Vec<Option<SplitImage<'a>>>,
    /// Unit and index of its image, ascending.
    users: Vec<(u32, usize)>,
}

impl SplitImages<'_> {
    /// Returns the file with the entries of a skeleton unit.
    pub(crate) fn path_of(&self, unit: u32) -> Option<&Path> {
        let user = self.users.binary_search_by_key(&unit, |&(unit, _)| unit).ok()?;
        let (_, place) = self.users.get(user)?;
        Some(self.images.get(*place)?.as_ref()?.path())
    }

    /// Total size of their strings and entries, in bytes.
    pub(crate) fn strings_size(&self) -> u64 {
        self.images.iter().flatten().map(SplitImage::strings_size).sum()
    }

    /// Returns the unreadable sections: the file, and their file offsets.
    pub(crate) fn damage(&self) -> impl Iterator<Item = (&Path, u64)> {
        let images = self.images.iter().flatten();
        images.flat_map(|image| image.damage().iter().map(|&place| (image.path(), place)))
    }
}

/// The sections of one split unit.
pub(crate) struct SplitView<'s> {
    unit: u32,
    sections: DwarfSections<'s>,
}

/// Finds the split file of each skeleton unit that contains an address; a package is opened once.
pub(crate) fn split_images<'a>(
    request: &SymbolRequest<'a>,
    file: &OpenedFiles<'_>,
) -> SplitImages<'a> {
    let mut found: Vec<&'a Image> = Vec::new();
    let mut users = Vec::new();
    let mut places: HashMap<*const Image, usize> = HashMap::new();
    if let (Some(loader), Some(main)) = (request.source.split, &file.main) {
        let candidates = file.candidates.units.iter().flatten().flatten();
        let mut units: Vec<u32> = candidates.copied().collect();
        units.sort_unstable();
        units.dedup();
        for number in units {
            let Some(unit) = main.units.get(number as usize) else { continue };
            let (Some(id), Some(name)) = (split_id(unit), unit.root.dwo_name) else { continue };
            let text =
                |value| main.string(unit, value, None).and_then(NameText::short).unwrap_or(&[]);
            let Some(image) = loader.find(id, unit.root.comp_dir.map_or(&[][..], text), text(name))
            else {
                continue;
            };
            let place = *places.entry(std::ptr::from_ref(image)).or_insert_with(|| {
                found.push(image);
                found.len() - 1
            });
            users.push((number, place));
        }
    }
    SplitImages { images: found.par_iter().map(|image| SplitImage::load(image)).collect(), users }
}

/// Returns the part of its split file for each unit.
pub(crate) fn split_views<'s>(
    images: &'s SplitImages<'_>,
    loaded: &'s LoadedFiles<'_>,
    file: &OpenedFiles<'_>,
) -> Vec<SplitView<'s>> {
    let Some(main) = &file.main else { return Vec::new() };
    // In a package each unit has its own part, and a file of one unit is read for that unit. The allowance limits how
    // often a part is read again for many units.
    let sizes = images.images.iter().flatten().map(SplitImage::entries_size);
    let mut entries = main.costs.whole_with(Resource::DebugEntries, sizes.sum());
    let view = |&(number, place): &(u32, usize)| {
        let image = images.images.get(place)?.as_ref()?;
        let id = split_id(main.units.get(number as usize)?)?;
        let sections = image.sections_of(id, loaded.main.as_ref()?)?;
        entries.take(sections.info.len() as u64).ok()?;
        Some(SplitView { unit: number, sections })
    };
    images.users.iter().filter_map(view).collect()
}

/// Reads the units of the split files, by the index of the skeleton unit.
pub(crate) fn split_files<'s>(
    views: &'s [SplitView<'s>],
    file: &'s OpenedFiles<'s>,
    options: &SymbolizeOptions<'_>,
) -> HashMap<u32, DwarfFile<'s>> {
    let held = options.held(MemoryUse::Symbols);
    let open = |view: &'s SplitView<'s>| {
        let skeleton = file.main.as_ref()?.units.get(view.unit as usize)?;
        Some((
            view.unit,
            split_file(&view.sections, skeleton, split_id(skeleton)?, &options.budget, &held),
        ))
    };
    views.par_iter().filter_map(open).collect::<Vec<_>>().into_iter().collect()
}
