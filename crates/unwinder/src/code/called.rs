//! The target of the call before a return address: decides whether it can be a given function.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use address::{Avma, Svma};
use hashbrown::HashMap;
use image_store::{LoadedImage, SlotValue};

use crate::arch::CallTarget;
use crate::code::allowance::CodeAllowance;
use crate::code::depth::Depths;
use crate::code::paths::{Extent, Reach};
use crate::code::references::References;
use crate::state::{SampleMemory, WalkContext};

/// The evidence that a return address belongs to a call of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Called {
    /// No call precedes it, or a call of another function.
    Never,
    /// A call with an unknown target precedes it, or the code cannot be read.
    Perhaps,
    /// The call is one of the function: direct, through a word that the loader fills, or by tail jumps from its target.
    Proven,
}

impl Called {
    const fn of(reach: Reach) -> Self {
        match reach {
            Reach::No => Self::Never,
            Reach::Perhaps => Self::Perhaps,
            Reach::Yes => Self::Proven,
        }
    }
}

/// An address in a file.
#[derive(Clone, Copy)]
pub(crate) struct ImageAddress<'a> {
    pub(crate) file: &'a Arc<LoadedImage>,
    pub(crate) svma: Svma,
}

/// Cached analyses of the files' functions, by the file's serial and an address in it.
#[derive(Default)]
pub(crate) struct FunctionAnalyses {
    extents: HashMap<(u32, u64), Option<Arc<Extent>>>,
    slots: HashMap<u32, Arc<[(u64, SlotValue)]>>,
    exported: HashMap<u32, Arc<[(u64, Svma)]>>,
    /// Return addresses of the calls in functions.
    pub(super) calls: HashMap<(u32, u64), Arc<[u64]>>,
    pub(super) references: HashMap<(u32, u64), Arc<References>>,
    pub(super) depths: Depths,
    /// The `main` functions of the files.
    pub(super) mains: HashMap<u32, Option<Svma>>,
    /// Starts of Thumb code and of ARM code, by symbols.
    pub(super) kinds: HashMap<u32, Arc<[(u64, bool)]>>,
    names: RandomState,
    pub(crate) allowance: CodeAllowance,
}

/// Bytes of a signal trampoline that are examined.
const SIGNAL_CODE: usize = 16;

/// Maximum number of entries of each cache; beyond it, the cache is cleared.
pub(super) const MAX_CACHED: usize = 1 << 14;

impl FunctionAnalyses {
    /// Decides whether the call before a return address, an address in the process, can have called the code at `at`.
    pub(crate) fn called(
        &mut self,
        return_address: u64,
        at: ImageAddress<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        let (memory, arch) = (&context.memory, context.arch);
        let pc = Avma(return_address);
        let is_code = |at: Avma| memory.space.lookup(at).is_some_and(|mapping| mapping.executable);
        let is_first = !is_code(pc.sub(1));
        // A trampoline can be the first code of a mapping.
        if is_first && !is_code(pc) {
            return Called::Never;
        }
        if memory.code(pc, SIGNAL_CODE).is_some_and(|code| arch.is_signal_trampoline(code)) {
            // Signal handlers return there without having been called from there.
            return Called::Proven;
        }
        if is_first {
            return Called::Never;
        }
        if !arch.is_x86() {
            return self.called_by_link(return_address, at, context);
        }
        let len = arch.longest_call();
        let Some(code) = memory.code(pc.sub(len as u64), len) else { return Called::Perhaps };
        match arch.call_target(code, return_address) {
            None => Called::Never,
            Some(CallTarget::Indirect) => self.through_slot(pc, code, at, context),
            Some(CallTarget::Address(target)) => match locate(Avma(target), memory) {
                None => Called::Never,
                Some(target) => self.from(target, at),
            },
        }
    }

    /// Decides about a call through a word at a stated address.
    fn through_slot(
        &mut self,
        pc: Avma,
        code: &[u8],
        at: ImageAddress<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        let Some(caller) = locate(pc.sub(1), &context.memory) else { return Called::Perhaps };
        match context.arch.slot_of_call(code, caller.svma.add(1).0) {
            Some(slot) => self.slot(caller.file, slot, at),
            None => Called::Perhaps,
        }
    }

    /// Decides whether code that begins at `target` reaches the code at `at`.
    pub(super) fn from(&mut self, target: ImageAddress<'_>, at: ImageAddress<'_>) -> Called {
        let Some(extent) = self.extent(target) else { return Called::Perhaps };
        if target.file.serial == at.file.serial {
            let called = Called::of(extent.reaches(at.svma));
            if called != Called::Never {
                return called;
            }
        }
        let through = extent.tails.iter().map(|&slot| self.slot(target.file, slot, at));
        let unknown = if extent.complete { Called::Never } else { Called::Perhaps };
        through.max().unwrap_or(unknown).max(unknown)
    }

    /// Decides whether the function that a word of a file refers to reaches the code at `at`. Symbols that the loader
    /// resolves are looked up in the file of `at`.
    pub(super) fn slot(
        &mut self,
        file: &Arc<LoadedImage>,
        slot: u64,
        at: ImageAddress<'_>,
    ) -> Called {
        let slots = self.slots(file);
        let known = slots.binary_search_by_key(&slot, |&(known, _)| known).ok();
        let entry = match known.and_then(|index| Some(&slots.get(index)?.1)) {
            None => return Called::Perhaps,
            Some(&SlotValue::Address(svma)) if file.serial == at.file.serial => svma,
            // The function is in its own file.
            Some(SlotValue::Address(_)) => return Called::Never,
            Some(&SlotValue::Symbol(name)) => match self.symbol(at.file, name) {
                Some(svma) => svma,
                // It is in another file, and may continue to this one.
                None => return Called::Perhaps,
            },
        };
        match self.extent(ImageAddress { file: at.file, svma: entry }) {
            Some(extent) => match extent.reaches(at.svma) {
                // It may still reach the code through its tail jumps.
                Reach::No if !extent.tails.is_empty() => Called::Perhaps,
                reach => Called::of(reach),
            },
            None => Called::Perhaps,
        }
    }

    pub(super) fn extent(&mut self, target: ImageAddress<'_>) -> Option<Arc<Extent>> {
        if self.extents.len() >= MAX_CACHED {
            self.extents.clear();
        }
        let key = (target.file.serial, target.svma.0);
        if let Some(known) = self.extents.get(&key) {
            return known.clone();
        }
        if !self.allowance.has_left(target.file) {
            return None;
        }
        let extent = Extent::of(target.file.image(), target.svma).map(Arc::new);
        let cost = extent.as_ref().map_or(1, |extent| extent.cost);
        self.allowance.used(target.file, cost);
        self.extents.insert(key, extent.clone());
        extent
    }

    pub(super) fn slots(&mut self, file: &Arc<LoadedImage>) -> Arc<[(u64, SlotValue)]> {
        let Self { slots, names, .. } = self;
        let make = || file.image().linked_slots(&|name| names.hash_one(name)).into();
        Arc::clone(slots.entry(file.serial).or_insert_with(make))
    }

    /// Returns true if other files can look up the function that begins at an address by its name.
    pub(super) fn is_exported(&mut self, function: ImageAddress<'_>) -> bool {
        self.exported(function.file).iter().any(|&(_, svma)| svma == function.svma)
    }

    /// Returns the number of functions that the file of an address exports.
    pub(super) fn n_exported(&mut self, function: ImageAddress<'_>) -> usize {
        self.exported(function.file).len()
    }

    /// Returns true if a file is a C library, or the part of one that begins threads.
    pub(crate) fn begins_threads(&mut self, file: &Arc<LoadedImage>) -> bool {
        let names: [&[u8]; 2] = [b"__libc_start_main", b"pthread_create"];
        let hashes = names.map(|name| self.names.hash_one(name));
        let exported = self.exported(file);
        hashes.iter().any(|hash| exported.binary_search_by_key(hash, |&(known, _)| known).is_ok())
    }

    fn exported(&mut self, file: &Arc<LoadedImage>) -> &[(u64, Svma)] {
        let Self { exported, names, .. } = self;
        let make = || file.image().exported_functions(&|name| names.hash_one(name)).into();
        exported.entry(file.serial).or_insert_with(make)
    }

    /// Returns the function of a file that has a name with this hash.
    pub(super) fn symbol(&mut self, file: &Arc<LoadedImage>, name: u64) -> Option<Svma> {
        let all = self.exported(file);
        let at = all.binary_search_by_key(&name, |&(known, _)| known).ok()?;
        all.get(at).map(|&(_, svma)| svma)
    }
}

/// Returns the file that is mapped at an address, and the address that it states for that byte.
pub(crate) fn locate<'m>(address: Avma, memory: &SampleMemory<'m>) -> Option<ImageAddress<'m>> {
    let mapping = memory.images.mapping_at(address, memory.space).filter(|it| it.executable)?;
    let file = memory.images.image(memory.space.module(&mapping)?).ok()?;
    let svma = file.image().svma_of_offset(mapping.offset_of(address), mapping.executable)?;
    Some(ImageAddress { file, svma })
}
