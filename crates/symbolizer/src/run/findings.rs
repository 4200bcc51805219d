//! Collects the damage and missing files of a run: one finding for each kind and file of a request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use budget::Exhausted;
use image_store::{Image, Section};

use crate::bytes::c_string_at;
use crate::dwarf::DwarfFile;
use crate::finding::{SymbolFinding, SymbolFindingKind};
use crate::request::SymbolRequest;
use crate::run::job::{FinishedUnit, LoadedFiles, OpenedFiles};
use crate::run::splits::SplitImages;

/// The findings of a run, by request, kind and file.
#[derive(Default)]
struct FindingTable {
    places: BTreeMap<(u32, SymbolFindingKind, PathBuf), Vec<u64>>,
}

impl FindingTable {
    fn add(&mut self, request: u32, kind: SymbolFindingKind, path: &Path, place: u64) {
        self.places.entry((request, kind, path.to_owned())).or_default().push(place);
    }

    /// Adds the findings before the query of units.
    fn files(
        &mut self,
        number: u32,
        request: &SymbolRequest<'_>,
        loaded: &LoadedFiles<'_>,
        opened: &OpenedFiles<'_>,
    ) {
        for (path, place) in loaded.damage.iter().chain(&opened.damaged_tables) {
            self.add(number, SymbolFindingKind::Section, path, *place);
        }
        let files = [(loaded.main_image, &opened.main), (request.source.alt, &opened.alt)];
        for (image, file) in files {
            let (Some(image), Some(file)) = (image, file) else { continue };
            for place in file.sections.damage.iter().copied() {
                self.add(number, SymbolFindingKind::Section, image.path(), place);
            }
            if let Some(place) = file.damage {
                self.add(number, SymbolFindingKind::UnitHeader, image.path(), place);
            }
            for &place in &file.bad_units {
                self.add(number, SymbolFindingKind::UnitRoot, image.path(), place);
            }
            if let Some(resource) = file.exhausted {
                let kind = SymbolFindingKind::OverBudget(resource);
                self.add(number, kind, image.path(), file.costs.limit(resource));
            }
        }
        let main = loaded.main_image.zip(opened.main.as_ref());
        if let (Some((image, file)), Some(resource)) = (main, opened.candidates.exhausted) {
            let kind = SymbolFindingKind::OverBudget(resource);
            self.add(number, kind, image.path(), file.costs.limit(resource));
        }
        if let Some((image, _)) = main {
            for &place in &opened.candidates.damage {
                self.add(number, SymbolFindingKind::Reference, image.path(), place);
            }
        }
        let ran_out = [opened.no_more_names, loaded.go_exhausted];
        for Exhausted { resource, limit } in ran_out.into_iter().flatten() {
            let kind = SymbolFindingKind::OverBudget(resource);
            self.add(number, kind, request.source.image.path(), limit);
        }
        let is_hit = opened.candidates.units.iter().flatten().any(Option::is_some);
        if let Some(image) = loaded.main_image.filter(|_| is_hit && request.source.alt.is_none())
            && names_alt(image)
        {
            self.add(number, SymbolFindingKind::AltFileMissing, image.path(), 0);
        }
    }

    /// Adds the findings of a unit.
    fn unit(
        &mut self,
        done: &FinishedUnit<'_>,
        loaded: &LoadedFiles<'_>,
        splits: &SplitImages<'_>,
    ) {
        let main = loaded.main_image.map(Image::path);
        for &(kind, place) in &done.result.damage {
            // The entries are in the split file, the rest in the linked one.
            let is_of_entries =
                matches!(kind, SymbolFindingKind::Entries | SymbolFindingKind::Reference);
            let split = splits.path_of(done.job.unit).filter(|_| is_of_entries);
            if let Some(path) = split.or(main) {
                self.add(done.job.request, kind, path, place);
            }
        }
    }
}

/// The inputs and results of a run.
pub(crate) struct FindingInput<'f> {
    pub(crate) requests: &'f [SymbolRequest<'f>],
    pub(crate) loaded: &'f [LoadedFiles<'f>],
    pub(crate) opened: &'f [OpenedFiles<'f>],
    pub(crate) splits: &'f [SplitImages<'f>],
    pub(crate) done: &'f [FinishedUnit<'f>],
}

impl FindingInput<'_> {
    /// Returns all findings, sorted by request, kind and file. `damage` was found before units were queried;
    /// `exhausted` are the requests that exceeded the limit on name bytes.
    pub(crate) fn findings(
        &self,
        damage: &[(u32, SymbolFindingKind, u64)],
        exhausted: &[(u32, Exhausted)],
    ) -> Vec<SymbolFinding> {
        let Self { requests, loaded, opened, splits, done } = *self;
        let mut account = FindingTable::default();
        let files = requests.iter().zip(loaded).zip(opened).enumerate();
        for (number, ((request, loaded), opened)) in files {
            account.files(number as u32, request, loaded, opened);
        }
        let main = |request: u32| Some(loaded.get(request as usize)?.main_image?.path());
        for &(request, kind, place) in damage {
            if let Some(path) = main(request) {
                account.add(request, kind, path, place);
            }
        }
        for &(number, Exhausted { resource, limit }) in exhausted {
            let own = requests.get(number as usize).map(|request| request.source.image.path());
            if let Some(path) = own {
                account.add(number, SymbolFindingKind::OverBudget(resource), path, limit);
            }
        }
        for (number, splits) in splits.iter().enumerate() {
            for (path, place) in splits.damage() {
                account.add(number as u32, SymbolFindingKind::Section, path, place);
            }
        }
        for done in done {
            let number = done.job.request as usize;
            if let (Some(loaded), Some(splits)) = (loaded.get(number), splits.get(number)) {
                account.unit(done, loaded, splits);
            }
        }
        let places = account.places.into_iter();
        places
            .map(|((request, kind, path), places)| self.finding(request, kind, path, places))
            .collect()
    }

    fn finding(
        &self,
        request: u32,
        kind: SymbolFindingKind,
        path: PathBuf,
        mut places: Vec<u64>,
    ) -> SymbolFinding {
        places.sort_unstable();
        places.dedup();
        let file = self.opened.get(request as usize).and_then(|opened| opened.main.as_ref());
        let image = self.loaded.get(request as usize).and_then(|loaded| loaded.main_image);
        let missing = match kind {
            SymbolFindingKind::SplitUnitMissing => {
                file.zip(places.first()).and_then(|(file, &place)| split_name(file, place))
            }
            SymbolFindingKind::AltFileMissing => image.and_then(alt_name),
            _ => None,
        };
        SymbolFinding { request, kind, path, places, missing }
    }
}

/// Returns the name of the split file in the skeleton unit at an offset.
fn split_name(file: &DwarfFile<'_>, place: u64) -> Option<Vec<u8>> {
    let unit = file.units.iter().find(|unit| unit.offset as u64 == place)?;
    file.string(unit, unit.root.dwo_name?, None)?.short().map(<[u8]>::to_vec)
}

/// Returns true if a file refers to a supplementary one, or if its section for that cannot be read.
fn names_alt(image: &Image) -> bool {
    let is_itself = |sup: &Section| {
        image.section_data(sup).is_ok_and(|sup| sup.get(2).is_some_and(|&itself| itself != 0))
    };
    image.section(".gnu_debugaltlink").is_some()
        || image.section(".debug_sup").is_some_and(|sup| !is_itself(sup))
}

/// Returns the name of the supplementary file.
///
/// Source: GNU `.gnu_debugaltlink`: name, NUL, build-id; DWARF 5, 7.3.6: `.debug_sup` holds version (2 bytes), whether
/// it is the supplementary file itself (1 byte), name, NUL, checksum.
fn alt_name(image: &Image) -> Option<Vec<u8>> {
    let data = |name| image.section_data(image.section(name)?).ok();
    if let Some(link) = data(".gnu_debugaltlink") {
        return c_string_at(&link, 0).map(<[u8]>::to_vec);
    }
    let sup = data(".debug_sup").filter(|sup| sup.get(2) == Some(&0))?;
    c_string_at(&sup, 3).map(<[u8]>::to_vec)
}
