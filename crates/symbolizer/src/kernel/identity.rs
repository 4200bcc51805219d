//! Identity of the recorded kernel: its build-id.

use address::BuildId;
use hashbrown::{HashMap, HashSet};
use module_map::{MappedKind, Module, Timeline, kernel_module_name};

/// Returns true if a module is the kernel itself, not a loaded kernel module.
#[must_use]
pub fn is_kernel_itself(module: &Module) -> bool {
    module.path.starts_with(b"[kernel")
}

/// Returns the kernel's build-id from its map records.
pub(super) fn mapped_id(timeline: &Timeline) -> Option<BuildId> {
    let kernel = timeline.modules().iter();
    let mut kernel = kernel.filter(|m| m.kind == MappedKind::Kernel && is_kernel_itself(m));
    kernel.find_map(|module| module.identity.build_id)
}

/// Returns the build-id of the recorded kernel, from its map record or, under any of its names, from the header's
/// table.
pub(super) fn kernel_id(header: &[(&[u8], BuildId)], timeline: &Timeline) -> Option<BuildId> {
    let is_kernel = |name: &[u8]| name.starts_with(b"[kernel.") || name.ends_with(b"/vmlinux");
    mapped_id(timeline)
        .or_else(|| header.iter().find(|(name, _)| is_kernel(name)).map(|&(_, build_id)| build_id))
}

/// Returns the build-ids that several modules have: some recorders wrote the id of one module for all of them.
pub(super) fn shared_ids(timeline: &Timeline) -> Vec<BuildId> {
    let mut names: HashMap<BuildId, Vec<u8>> = HashMap::new();
    let mut known_shared: HashSet<BuildId> = HashSet::new();
    let mut shared = Vec::new();
    for module in timeline.modules().iter().filter(|module| module.kind == MappedKind::Kernel) {
        let Some(id) = module.identity.build_id else { continue };
        let name = kernel_module_name(&module.path);
        let known = names.entry(id).or_insert_with(|| name.clone());
        if *known != name && known_shared.insert(id) {
            shared.push(id);
        }
    }
    shared
}
