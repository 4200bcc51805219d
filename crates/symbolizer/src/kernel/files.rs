//! Files of kernel code, and the displacement of the recorded code from their addresses.

use std::sync::Arc;

use address::{BuildId, ModuleId, Svma};
use hashbrown::{HashMap, HashSet};
use image_store::{ImageStore, LoadedImage, MODULE_CODE};
use module_map::{MappedKind, Timeline};

use crate::kernel::identity::is_kernel_itself;

/// A file of kernel code, and the displacement of the recorded code from its addresses.
#[derive(Debug, Clone)]
pub struct KernelFile {
    /// The file.
    pub file: Arc<LoadedImage>,
    /// Recorded address minus file address, wrapping.
    pub slide: u64,
}

impl KernelFile {
    /// Returns the file address of an address in the recorded kernel.
    #[must_use]
    pub const fn svma(&self, avma: u64) -> Svma {
        Svma(avma.wrapping_sub(self.slide))
    }
}

/// Returns the files of kernel code that are verified by their build-ids.
pub(super) fn find(
    timeline: &Timeline,
    images: &ImageStore,
    kernel: Option<BuildId>,
    shared: &[BuildId],
) -> HashMap<ModuleId, KernelFile> {
    let mut files = HashMap::new();
    let shared: HashSet<&BuildId> = shared.iter().collect();
    let mut starts: Option<HashMap<ModuleId, u64>> = None;
    for module in timeline.modules().iter().filter(|module| module.kind == MappedKind::Kernel) {
        let itself = is_kernel_itself(module);
        let id = if itself { kernel } else { module.identity.build_id };
        let id = id.filter(|id| itself || (!shared.contains(id) && Some(*id) != kernel));
        let Some(file) = id.and_then(|id| images.kernel_file(&module.path, id).ok()) else {
            continue;
        };
        let slide = if itself {
            kernel_slide(timeline, &file)
        } else {
            let starts = starts.get_or_insert_with(|| kernel_module_starts(timeline));
            starts.get(&module.id).map(|start| start.wrapping_sub(MODULE_CODE.0))
        };
        if let Some(slide) = slide {
            files.insert(module.id, KernelFile { file, slide });
        }
    }
    files
}

/// Returns the displacement of the kernel: the recorder's address of its reference symbol, minus the file's.
fn kernel_slide(timeline: &Timeline, file: &LoadedImage) -> Option<u64> {
    let (symbol, recorded) = timeline.kernel_reference()?;
    let stated = file.image().symbol_address(symbol)?;
    Some(recorded.0.wrapping_sub(stated.0))
}

/// Returns the address of offset 0 of each module's first mapping. A module's code begins at its first mapping.
#[must_use]
pub fn kernel_module_starts(timeline: &Timeline) -> HashMap<ModuleId, u64> {
    let kernel = timeline.kernel();
    let mut starts = HashMap::new();
    for mapping in kernel.mappings() {
        let start = mapping.start.0.wrapping_sub(mapping.offset.0);
        starts.entry(mapping.module).or_insert(start);
    }
    starts
}
