//! Locations that are named now, and those that are left to a later look-up by build-id.

use address::{BuildId, ModuleId};
use module_map::MappedKind;
use options::NameOptions;
use profile::{LocationRow, ModuleRow, Strings, Table};
use symbolizer::{is_kernel_itself, kernel_module_starts};

use super::Sources;

/// Locations whose names are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NameScope {
    /// All locations.
    All,
    /// Only those that a later look-up by build-id cannot name: code in memory, and files without a build-id.
    WithoutBuildId,
    /// All locations, which come from aggregated stacks. The addresses of kernel modules are not those of a kernel, so
    /// that lists of symbols name the kernel itself only.
    Stored,
}

impl NameScope {
    /// Returns the scope that the options of a run select.
    pub(crate) const fn of(options: &NameOptions) -> Self {
        if options.only_without_build_id { Self::WithoutBuildId } else { Self::All }
    }
}

impl Sources<'_> {
    /// Returns true if the file of a location is searched for its names.
    pub(super) fn names_file(&self, location: &LocationRow) -> bool {
        if self.scope != NameScope::WithoutBuildId {
            return true;
        }
        let module = location.module.and_then(|id| self.timeline.modules().get(id.index()));
        let images = self.images;
        module.is_some_and(|it| images.is_provided(it) || images.proven_build_id(it).is_none())
    }

    /// Returns true if a list of kernel symbols can name a location.
    pub(super) fn is_listed(&self, location: &LocationRow) -> bool {
        let module = location.module.and_then(|id| self.timeline.modules().get(id.index()));
        module.is_some_and(|it| {
            it.kind == MappedKind::Kernel
                && (self.scope != NameScope::Stored || is_kernel_itself(it))
        })
    }

    /// Prepares kernel locations for a later look-up: instead of a file offset, each gets its distance from the
    /// reference symbol of the kernel, or from the start of its kernel module. No load address changes it.
    /// The kernel's module gets its build-id, and the symbol after its name: `[kernel.kallsyms]_text`.
    pub(super) fn locate_kernel(
        &self,
        modules: &mut Table<ModuleId, ModuleRow>,
        locations: &mut [LocationRow],
        strings: &mut Strings,
        kernel: Option<BuildId>,
    ) {
        if self.scope != NameScope::WithoutBuildId {
            return;
        }
        let timeline = self.timeline;
        let mut starts = kernel_module_starts(timeline);
        for module in timeline.modules().iter().filter(|it| it.kind == MappedKind::Kernel) {
            if !is_kernel_itself(module) {
                continue;
            }
            starts.remove(&module.id);
            let Some((symbol, address)) = timeline.kernel_reference() else { continue };
            starts.insert(module.id, address.0);
            let Some(row) = modules.get_mut(module.id) else { continue };
            row.build_id = kernel;
            let name = [strings.get(row.path), symbol].concat();
            row.path = strings.intern(&name);
        }
        for location in locations {
            let start = location.module.and_then(|module| starts.get(&module));
            if let Some(start) = start {
                location.offset = Some(location.relative.wrapping_sub(*start));
            }
        }
    }
}
