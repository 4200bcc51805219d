//! Substitutes for the files of a profile: each address with its functions, grouped by file.

use std::collections::BTreeMap;

use address::{BuildId, ById as _, ModuleId};
use hashbrown::{HashMap, HashSet};
use image_store::Image;
use profile::{InlineRow, LocationId, LocationRow, ModuleKind, Profile, StringId};

use super::Pseudonyms;
use super::elf::stand_in;
use super::lists::{KernelList, ScriptLists};

/// Address in a file, with its functions.
#[derive(Debug)]
pub(super) struct NamedAddress {
    pub(super) svma: u64,
    /// Start of the outermost function; `None` if it has no name.
    pub(super) start: Option<u64>,
    /// Innermost function first.
    pub(super) functions: Vec<NamedFunction>,
}

/// Function at an address, with its source location.
#[derive(Debug)]
pub(super) struct NamedFunction {
    pub(super) name: Vec<u8>,
    pub(super) file: Option<Vec<u8>>,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl NamedFunction {
    pub(super) const fn has_location(&self) -> bool {
        self.file.is_some()
    }
}

/// Two profiles of one recording: with names as displayed, and with names as stated in the files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profiles<'p> {
    pub(super) shown: &'p Profile,
    pub(super) raw: &'p Profile,
    pub(super) names: &'p Pseudonyms,
    /// Raw names that must be written in their displayed form, because the substitute would display them differently.
    pub(super) as_shown: &'p HashSet<Vec<u8>>,
}

/// File to be substituted: its paths, its image and its addresses.
struct StoodFor {
    /// Paths, with the modules that have them.
    paths: Vec<(Vec<u8>, ModuleId)>,
    image: Image,
    addresses: BTreeMap<u64, NamedAddress>,
}

/// Substitute of a file.
#[derive(Debug)]
pub(super) struct StandIn {
    pub(super) path: Vec<u8>,
    pub(super) bytes: Vec<u8>,
    /// Module to which the file belongs.
    pub(super) module: ModuleId,
}

/// Substitutes of all files.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    /// Files, with their paths.
    pub(super) files: Vec<StandIn>,
    pub(super) vdso: Option<Vec<u8>>,
    pub(super) kernel: KernelList,
    pub(super) scripts: ScriptLists,
}

impl StandIns {
    /// Creates the substitutes. `open` opens a file of the host by its path.
    pub(super) fn new(of: Profiles<'_>, open: &dyn Fn(&[u8]) -> Option<Image>) -> Self {
        let mut stood_for: Vec<StoodFor> = Vec::new();
        let by_module = file_of_modules(of, open, &mut stood_for);
        let mut made = Self::default();
        let mut listed = HashSet::new();
        for (id, location) in (0..).map(LocationId::new).zip(&of.shown.locations) {
            let Some(module) = location.module else { continue };
            let kind = of.shown.modules.get(module).map(|it| it.kind);
            let at = by_module.by_id(module).copied().flatten();
            if let Some(file) = at.and_then(|at| stood_for.get_mut(at)) {
                if let Some(named) = of.named(id, location) {
                    file.addresses.insert(location.relative, named);
                }
            } else if kind == Some(ModuleKind::Kernel) {
                made.add_kernel(of, location);
            } else if location.n_inlines > 0 {
                listed.insert(id);
            }
        }
        made.add_scripts(of, &listed);
        for StoodFor { paths, image, addresses } in stood_for {
            let addresses: Vec<_> = addresses.into_values().collect();
            let bytes = stand_in(&image, &addresses);
            for (path, module) in paths {
                let bytes = bytes.clone();
                if path.starts_with(b"[vdso]") {
                    made.vdso = Some(bytes);
                } else {
                    made.files.push(StandIn { path, bytes, module });
                }
            }
        }
        made
    }

    fn add_kernel(&mut self, of: Profiles<'_>, location: &LocationRow) {
        let outermost = inlines(of.shown, location).last().and_then(|row| row.function);
        let name = outermost.map(|name| of.names.function(of.shown.strings.get(name)));
        let offset = location.function_offset.unwrap_or_default();
        let function = name.as_deref().map(|name| (name, offset));
        self.kernel.add(address::Avma(location.relative), function);
    }

    /// Adds functions with names that are in no readable file.
    fn add_scripts(&mut self, of: Profiles<'_>, listed: &HashSet<LocationId>) {
        if listed.is_empty() {
            return;
        }
        let Profile { samples, stacks, frames, locations, threads, strings, .. } = of.shown;
        let mut seen = HashSet::new();
        for sample in samples {
            let Some(thread) = threads.get(sample.thread) else { continue };
            let mut next = sample.stack;
            while let Some(node) = next.and_then(|node| Some((node, stacks.get(node)?))) {
                let (id, row) = node;
                next = row.parent.filter(|&parent| parent < id);
                let location = frames.get(row.frame).map(|frame| frame.location);
                let Some(at) = location.filter(|location| listed.contains(location)) else {
                    continue;
                };
                let Some(address) = of.shown.frame_address(sample, row.frame) else { continue };
                let Some(location) =
                    locations.get(at).filter(|_| seen.insert((thread.pid, address, at)))
                else {
                    continue;
                };
                let outermost = inlines(of.shown, location).last().and_then(|row| row.function);
                let Some(name) = outermost else { continue };
                let name = of.names.script_function(strings.get(name));
                let offset = location.function_offset.unwrap_or_default();
                self.scripts.add(thread.pid, address, offset, name);
            }
        }
    }
}

/// Returns the index in `stood_for` of each module's file. Files of equal build-id share an image, so that they get the
/// same substitute.
fn file_of_modules(
    of: Profiles<'_>,
    open: &dyn Fn(&[u8]) -> Option<Image>,
    stood_for: &mut Vec<StoodFor>,
) -> Vec<Option<usize>> {
    let mut by_id: HashMap<(Option<BuildId>, Vec<u8>), usize> = HashMap::new();
    let mut paths: HashSet<Vec<u8>> = HashSet::new();
    let file_of = |(id, module): (ModuleId, &profile::ModuleRow)| {
        let opened = module.opened.filter(|_| module.kind == ModuleKind::Elf)?;
        let image = open(of.shown.strings.get(opened))?;
        let same = module.build_id.is_none() || image.build_id() == module.build_id;
        if !same {
            return None;
        }
        let path = of.names.mapped(of.shown.strings.get(module.path));
        let path = path.strip_suffix(b" (deleted)").unwrap_or(&path).to_vec();
        let own = image.build_id().map_or_else(|| path.clone(), |_| Vec::new());
        let at = *by_id.entry((image.build_id(), own)).or_insert_with(|| {
            stood_for.push(StoodFor { paths: Vec::new(), image, addresses: BTreeMap::new() });
            stood_for.len() - 1
        });
        if paths.insert(path.clone()) {
            stood_for.get_mut(at)?.paths.push((path, id));
        }
        Some(at)
    };
    (0..).map(ModuleId).zip(&of.shown.modules).map(file_of).collect()
}

impl Profiles<'_> {
    /// Returns the functions of a location in a file; `None` if there are none.
    fn named(self, id: LocationId, location: &LocationRow) -> Option<NamedAddress> {
        let raw = self.raw.locations.get(id)?;
        let rows = inlines(self.shown, location).iter().zip(inlines(self.raw, raw));
        let functions: Vec<_> = rows.map(|(shown, raw)| self.function(shown, raw)).collect();
        let has_name = functions.last().is_some_and(|outermost| !outermost.name.is_empty());
        let offset = location.function_offset.unwrap_or_default();
        (!functions.is_empty()).then(|| NamedAddress {
            svma: location.relative,
            start: has_name.then(|| location.relative.wrapping_sub(offset)),
            functions,
        })
    }

    fn function(self, shown: &InlineRow, raw: &InlineRow) -> NamedFunction {
        let text = |profile: &Profile, id: Option<StringId>| {
            id.map(|id| profile.strings.get(id).to_vec()).unwrap_or_default()
        };
        let (long, mangled) = (text(self.shown, shown.function), text(self.raw, raw.function));
        let name = if self.as_shown.contains(&mangled) { long } else { mangled };
        NamedFunction {
            name: self.names.function(&name),
            file: shown.file.map(|it| self.names.source_path(self.shown.strings.get(it))),
            line: shown.line,
            column: shown.column,
        }
    }
}

/// Returns the functions at a location, innermost first.
pub(super) fn inlines<'p>(profile: &'p Profile, location: &LocationRow) -> &'p [InlineRow] {
    profile.inlines.range(location.inlines())
}
