//! The modules with nameless frames: number of frames and remedy.

use address::{ById as _, ModuleId};
use hashbrown::{HashMap, HashSet};
use image_store::{ImageStore, LoadedImage};
use module_map::{MappedKind, Module, Timeline};
use options::{Remedy, Spelling};
use profile::query::frame_weights;
use profile::{Advice, LocationId, ModuleKind, NamelessModule, Profile};

use super::losses;
use crate::names::NameReport;

/// Returns the nameless frames by module, most first. A name that only states the function's start does not count.
pub(super) fn nameless(
    profile: &Profile,
    names: &NameReport,
    timeline: &Timeline,
    images: &ImageStore,
    spelling: Spelling,
) -> Vec<NamelessModule> {
    let by_start: HashSet<LocationId> = names.by_start.iter().copied().collect();
    let mut counts: HashMap<Option<ModuleId>, u64> = HashMap::new();
    for (frame, &weight) in profile.frames.iter().zip(&frame_weights(profile)) {
        let Some(location) = profile.locations.get(frame.location) else { continue };
        let has_name = location.n_inlines > 0 && !by_start.contains(&frame.location);
        if !has_name && weight > 0 && !frame.found_by.is_gap() {
            *counts.entry(location.module).or_default() += weight;
        }
    }
    let row = |(module, frames)| {
        let help = remedy(module, profile, names, timeline, images);
        NamelessModule { module, frames, help: help.map(|it| Advice::new(&it, spelling)) }
    };
    let mut rows: Vec<NamelessModule> = counts.into_iter().map(row).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.frames), row.module));
    rows
}

/// Returns the remedy for missing names of a module; `None` if none is known.
fn remedy(
    module: Option<ModuleId>,
    profile: &Profile,
    names: &NameReport,
    timeline: &Timeline,
    images: &ImageStore,
) -> Option<Remedy> {
    let module = module?;
    let mapped = timeline.modules().by_id(module)?;
    match (mapped.kind, profile.modules.get(module)?.kind, images.outcome(mapped)) {
        (MappedKind::Kernel, ..) => names.kernel_remedy.clone(),
        (MappedKind::GuestKernel | MappedKind::GuestUser | MappedKind::Hypervisor, ..) => {
            Some(Remedy::OtherMachine)
        }
        (MappedKind::KernelPage, ..) => Some(Remedy::KernelPage),
        (MappedKind::Anonymous, ..) => Some(Remedy::JitNames),
        (MappedKind::Vdso, ..) => None,
        (_, ModuleKind::Elf, Some(Ok(file))) => of_file(mapped, file, images),
        (_, _, Some(Err(error))) => losses::absent_file(mapped, error, images),
        _ => None,
    }
}

/// Returns the remedy for nameless code in an opened file. With the full symbol table or debug information there is
/// none, since such code is assembly or made by the linker.
pub(super) fn of_file(module: &Module, file: &LoadedImage, images: &ImageStore) -> Option<Remedy> {
    let debug = file.debug_if_loaded().map(|debug| &**debug);
    let mut files = [Some(file.image()), debug].into_iter().flatten();
    let has_all = files.any(|image| image.section(".symtab").is_some());
    let lacks = !has_all && !losses::has_debug_info(file);
    lacks.then(|| Remedy::DebugInfo(losses::debug_info(module, file, images)))
}
