//! The mappings in which a worker has found frames: ranges of addresses with all that a frame in them needs, so that the
//! next frame there costs a comparison instead of two searches and a look at the file's headers.

use address::{Avma, ModuleId};
use image_store::ImageStore;
use module_map::{MappedKind, Mapping, Module, Space};
use profile::FoundBy;

use crate::frame::{AddressKind, Frame};
use crate::state::Saved;

/// A range of addresses in one mapping that lie equally far from the addresses that the file states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedMapping {
    pub(crate) start: u64,
    /// Addresses in the range, at least one.
    pub(crate) len: u64,
    /// The module; `None` where its file was opened and no segment of it has the addresses. Such an address has no place
    /// in the file that it could be named by.
    pub(crate) module: Option<ModuleId>,
    /// What the module is.
    pub(crate) kind: MappedKind,
    /// What an address minus `bias` is.
    address: AddressKind,
    pub(crate) bias: u64,
    /// The file that was opened, by its serial.
    pub(crate) file: Option<u32>,
    pub(crate) executable: bool,
}

impl CachedMapping {
    #[inline]
    pub(crate) const fn contains(&self, address: Avma) -> bool {
        address.0.wrapping_sub(self.start) < self.len
    }

    /// The frame of an address in the range.
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

/// How many spaces are remembered: samples of processes that run at the same time take turns.
const SPACES: usize = 16;

/// The mappings of the spaces that were used last, by the spaces' versions, as far as those do not collide.
#[derive(Debug, Default)]
pub(crate) struct MappingCache {
    spaces: [CachedSpace; SPACES],
}

impl MappingCache {
    /// The mapping at an address of `space`.
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
    /// The one that was found last.
    last: usize,
}

/// More mappings than stacks usually touch; beyond, the oldest are forgotten.
const MOST: usize = 48;

impl CachedSpace {
    /// A frame lies in the mapping of its callee as a rule.
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
                // What was used last is used next.
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

/// The part of `mapping` around an address. Opens the module's file where nobody has yet.
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
    // Several segments in one mapping, or none: this one address.
    let one = CachedMapping { start: address.0, len: 1, ..whole };
    match image.svma_of_offset(mapping.offset_of(address), mapping.executable) {
        Some(svma) => by_file(one, address.0.wrapping_sub(svma.0)),
        None => CachedMapping { module: None, ..one },
    }
}
