//! Cached mappings of a worker's frames: address ranges with all facts that a frame in them needs. The next frame in a
//! range costs a comparison instead of two searches and an access to the file's headers.

use address::{Avma, ModuleId};
use image_store::ImageStore;
use module_map::{MappedKind, Mapping, Module, Space};
use profile::FoundBy;

use crate::frame::{AddressKind, Frame};
use crate::state::Saved;

/// A range of addresses in one mapping that have the same distance from the addresses that the file states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedMapping {
    pub(crate) start: u64,
    /// Length of the range, at least one.
    pub(crate) len: u64,
    /// The module; `None` if its file was opened and none of its segments has the addresses. Such an address has no
    /// name within the file.
    pub(crate) module: Option<ModuleId>,
    /// Kind of the module.
    pub(crate) kind: MappedKind,
    /// Kind of the result of an address minus `bias`.
    address: AddressKind,
    pub(crate) bias: u64,
    /// Serial of the opened file.
    pub(crate) file: Option<u32>,
    pub(crate) executable: bool,
}

impl CachedMapping {
    #[inline]
    pub(crate) const fn contains(&self, address: Avma) -> bool {
        address.0.wrapping_sub(self.start) < self.len
    }

    /// Returns the frame of an address in the range.
    #[inline]
    pub(crate) const fn frame(&self, lookup: Avma, found_by: FoundBy) -> Frame {
        let Self { module, address, bias, .. } = *self;
        let relative = lookup.0.wrapping_sub(bias);
        Frame {
            module,
            relative,
            kind: address,
            bias,
            sp: 0,
            saved: Saved::NONE,
            found_by,
            kernel: false,
        }
    }
}

/// Number of cached spaces: samples of processes that run at the same time alternate.
const SPACES: usize = 16;

/// The mappings of recently used spaces, a direct-mapped cache indexed by the spaces' versions.
#[derive(Debug, Default)]
pub(crate) struct MappingCache {
    spaces: [CachedSpace; SPACES],
}

impl MappingCache {
    /// Returns the mapping at an address of `space`.
    #[inline]
    pub(crate) fn lookup(
        &mut self,
        address: Avma,
        space: &Space,
        images: &ImageStore,
    ) -> Option<CachedMapping> {
        self.spaces[space.version() as usize % SPACES].lookup(address, space, images)
    }
}

/// The mappings of one space.
#[derive(Debug, Default)]
struct CachedSpace {
    version: u64,
    mappings: Vec<CachedMapping>,
    /// Index of the mapping that was used last.
    last: usize,
}

/// Limit above the mappings that stacks usually touch; beyond it, half of them are dropped.
const MOST: usize = 48;

impl CachedSpace {
    /// Looks up an address. A frame is usually in its callee's mapping.
    #[inline(always)]
    fn lookup(
        &mut self,
        address: Avma,
        space: &Space,
        images: &ImageStore,
    ) -> Option<CachedMapping> {
        let last = self.mappings.get(self.last).filter(|last| last.contains(address));
        match last {
            Some(&last) if self.version == space.version() => Some(last),
            _ => self.search(address, space, images),
        }
    }

    fn search(
        &mut self,
        address: Avma,
        space: &Space,
        images: &ImageStore,
    ) -> Option<CachedMapping> {
        if self.version == space.version() {
            if let Some(at) = self.mappings.iter().position(|mapping| mapping.contains(address)) {
                let found = self.mappings.get(at).copied();
                self.last = at;
                // A recently used mapping is likely to be used again.
                if at >= 4 {
                    self.last = at / 2;
                    self.mappings.swap(at, self.last);
                }
                return found;
            }
        } else {
            self.mappings.clear();
            self.version = space.version();
        }
        let mapping = images.mapping_of_frame(address, space)?;
        let cached = resolve(&mapping, space.module(&mapping)?, address, images);
        if self.mappings.len() == MOST {
            self.mappings.truncate(MOST / 2);
        }
        self.last = self.mappings.len();
        self.mappings.push(cached);
        Some(cached)
    }
}

/// Returns the part of `mapping` around an address. Opens the module's file if it is not open yet.
#[cold]
fn resolve(
    mapping: &Mapping,
    module: &Module,
    address: Avma,
    images: &ImageStore,
) -> CachedMapping {
    let whole = CachedMapping {
        start: mapping.start.0,
        len: mapping.end.since(mapping.start),
        module: Some(mapping.module),
        kind: module.kind,
        address: AddressKind::Avma,
        bias: 0,
        file: None,
        executable: mapping.executable,
    };
    let by_offset = |cached: CachedMapping| CachedMapping {
        address: AddressKind::FileOffset,
        bias: mapping.start.0.wrapping_sub(mapping.offset.0),
        ..cached
    };
    let Ok(file) = images.image(module) else {
        return if module.kind.is_without_file() { whole } else { by_offset(whole) };
    };
    let by_file = |cached: CachedMapping, bias: u64| CachedMapping {
        address: AddressKind::Svma,
        bias,
        file: Some(file.serial),
        ..cached
    };
    let image = file.image();
    if let Some(svma) = image.svma_of_range(mapping.offset, whole.len, mapping.executable) {
        return by_file(whole, mapping.start.0.wrapping_sub(svma.0));
    }
    // Several segments in one mapping, or none: cache this single address.
    let one = CachedMapping { start: address.0, len: 1, ..whole };
    match image.svma_of_offset(mapping.offset_of(address), mapping.executable) {
        Some(svma) => by_file(one, address.0.wrapping_sub(svma.0)),
        None => CachedMapping { module: None, ..one },
    }
}
