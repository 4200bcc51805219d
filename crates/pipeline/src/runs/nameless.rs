//! The modules with frames that have no name: how many, and what would give them names.

use address::ModuleId;
use hashbrown::{HashMap, HashSet};
use module_map::{ImageStore, LoadError, MappedKind, Timeline};
use profile::query::frame_weights;
use profile::{FoundBy, LocationId, ModuleKind, NamelessModule, Profile};

/// Frames without a name by module, those with most first. `by_start`: locations whose name is but where their function
/// starts.
pub(super) fn nameless(
    profile: &Profile,
    by_start: &[LocationId],
    timeline: &Timeline,
    images: &ImageStore,
) -> Vec<NamelessModule> {
    let by_start: HashSet<LocationId> = by_start.iter().copied().collect();
    let mut counts: HashMap<Option<ModuleId>, u64> = HashMap::new();
    for (frame, &weight) in profile.frames.iter().zip(&frame_weights(profile)) {
        let Some(location) = profile.locations.get(frame.location) else { continue };
        let has_name = location.n_inlines > 0 && !by_start.contains(&frame.location);
        if !has_name && weight > 0 && frame.found_by != FoundBy::Gap {
            *counts.entry(location.module).or_default() += weight;
        }
    }
    let row = |(module, frames)| {
        let help = help(module, profile, timeline, images);
        NamelessModule { module, frames, help }
    };
    let mut rows: Vec<NamelessModule> = counts.into_iter().map(row).collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.frames), row.module));
    rows
}

/// What would give the code of a module names.
fn help(
    module: Option<ModuleId>,
    profile: &Profile,
    timeline: &Timeline,
    images: &ImageStore,
) -> String {
    let mapped = module.and_then(|module| timeline.modules().get(module.index()));
    let Some(mapped) = mapped else { return String::new() };
    let kind = module.and_then(|module| profile.modules.get(module)).map(|row| row.kind);
    let id = mapped.identity.build_id.or_else(|| {
        let file = images.outcome(mapped)?.ok()?;
        file.image().build_id()
    });
    let of_id = id.map(|id| format!(" of build-id {id}")).unwrap_or_default();
    match (mapped.kind, kind) {
        (MappedKind::Kernel, _) => {
            "run as root or set kernel.kptr_restrict to 0, or name a list: --kallsyms FILE"
                .to_owned()
        }
        (MappedKind::GuestKernel | MappedKind::GuestUser | MappedKind::Hypervisor, _) => {
            "code outside of this machine's kernel and processes, of which the recording has addresses alone".to_owned()
        }
        (MappedKind::Anonymous, _) => {
            "let the JIT compiler write a perf-PID.map or a jitdump".to_owned()
        }
        (_, Some(ModuleKind::Elf)) => format!(
            "it is stripped: install its debug information{of_id}, or --debug-dir DIR, --debuginfod; or build it with -g"
        ),
        _ if matches!(images.outcome(mapped), Some(Err(LoadError::Missing(_)))) => {
            format!("give the file{of_id}: --module FILE, --extra-dir DIR or --sysroot DIR")
        }
        _ => String::new(),
    }
}
