//! Decision on the frames that are missing between a caller and its callee.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use address::{ById as _, ModuleId, Svma};
use budget::Exhausted;
use hashbrown::HashMap;
use image_store::LoadedImage;
use module_map::MappedKind;
use profile::FoundBy;
use rayon::prelude::*;
use unwinder::{Arch, CallTarget, call_target, longest_call, slot_of_call};

use crate::join::CodeContext;
use crate::tails::files::{
    BoundFunction, BranchKind, DynamicSymbol, FdeRange, FileAddress, FileLookups, JumpTarget,
    code_at,
};
use crate::tails::paths::{Between, PathSearch, TailCaller};
use crate::tails::shared::SharedResults;
use crate::tails::units::{SharedUnits, Units};

/// The fields of a frame that tail calls depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CodeFrame {
    pub(crate) module: Option<ModuleId>,
    /// Lookup address in the module.
    pub(crate) relative: u64,
    pub(crate) found_by: FoundBy,
    pub(crate) kernel: bool,
}

/// A frame that a tail call removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TailFrame {
    /// A function of the caller's or the callee's module, at its jump.
    Jump(ModuleId, u64),
    /// The same with several such jumps, at its start.
    Function(ModuleId, u64),
    /// Unknown functions.
    Unknown,
}

/// Finders, one for each thread that uses one.
#[derive(Default, Debug)]
pub(crate) struct TailCalls {
    idle: Mutex<Vec<Finder>>,
    between: Arc<SharedBetween>,
    units: Arc<SharedUnits>,
}

/// The functions between the called one and the running one, for all finders.
type SharedBetween = SharedResults<[FdeRange; 2], Between>;

/// Target of the call before a caller's return address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResolvedCall {
    Function(FdeRange),
    Symbol(DynamicSymbol),
    Unknown,
}

/// Frames between a caller and its callee, outermost first.
type Decision = Arc<[TailFrame]>;

/// Decides tail calls for one thread; each pair of a call and a callee is decided once.
#[derive(Default)]
pub(crate) struct Finder {
    files: FileLookups,
    units: Units,
    /// File of each module.
    modules: HashMap<ModuleId, Option<Arc<LoadedImage>>>,
    calls: HashMap<(ModuleId, u64), ResolvedCall>,
    between: Arc<SharedBetween>,
    pairs: HashMap<[(ModuleId, u64); 2], Option<Decision>>,
}

const MAX_CACHED: usize = 1 << 17;

impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finder").field("calls", &self.calls.len()).finish_non_exhaustive()
    }
}

impl TailCalls {
    /// Takes a finder, with its earlier decisions if there is an idle one.
    pub(crate) fn take(&self) -> Finder {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Finder {
            between: Arc::clone(&self.between),
            units: Units::sharing(&self.units),
            ..Finder::default()
        })
    }

    /// Returns a finder for reuse.
    pub(crate) fn put(&self, finder: Finder) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(finder);
    }

    /// Returns the files with code that was not fully searched.
    pub(crate) fn into_exhausted(self) -> BTreeMap<PathBuf, Exhausted> {
        let finders = self.idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        // In parallel, because freeing the caches takes most of the time.
        let all = finders.into_par_iter().with_max_len(1);
        all.flat_map_iter(|it| it.files.allowance.into_exhausted()).collect()
    }
}

impl Finder {
    /// Returns the frames between a caller with that call and its callee, outermost first; `None` if there are none.
    #[inline]
    pub(crate) fn between(
        &mut self,
        call: ResolvedCall,
        caller: &CodeFrame,
        callee: &CodeFrame,
        code: CodeContext<'_>,
    ) -> Option<Decision> {
        let is_one = |called: FdeRange| {
            caller.module == callee.module
                && called.start <= callee.relative
                && callee.relative < called.end
        };
        match call {
            ResolvedCall::Unknown => None,
            ResolvedCall::Function(called) if is_one(called) => None,
            _ if callee.kernel || callee.found_by.is_gap() => None,
            call => {
                let pair = [(caller.module?, caller.relative), (callee.module?, callee.relative)];
                self.decide(call, pair, code)
            }
        }
    }

    /// Returns the target of the call before a caller's return address.
    pub(crate) fn call(&mut self, caller: &CodeFrame, code: CodeContext<'_>) -> ResolvedCall {
        let module = caller.module.filter(|_| is_by_return_address(caller.found_by));
        let Some(caller) = module.map(|module| (module, caller.relative)) else {
            return ResolvedCall::Unknown;
        };
        if let Some(&cached) = self.calls.get(&caller) {
            return cached;
        }
        if self.calls.len() >= MAX_CACHED {
            self.calls.clear();
        }
        let call = self.find_call(caller.0, caller.1, code).unwrap_or(ResolvedCall::Unknown);
        self.calls.insert(caller, call);
        call
    }

    #[cold]
    fn find_call(
        &mut self,
        module: ModuleId,
        lookup: u64,
        code: CodeContext<'_>,
    ) -> Option<ResolvedCall> {
        let file = self.file(module, code)?;
        let image = file.image();
        let arch = image.arch()?;
        let return_address = lookup.wrapping_add(1);
        let len = longest_call(arch)?;
        let bytes = code_at(image, return_address.checked_sub(len as u64)?, len)?;
        let target = match call_target(arch, bytes, return_address)? {
            CallTarget::Address(target) => {
                self.files.target(file.serial, target, BranchKind::Call, code)
            }
            CallTarget::Indirect => {
                let slot = slot_of_call(arch, bytes, return_address)?;
                self.files.slot(file.serial, slot, code)
            }
        };
        match target {
            JumpTarget::Function(function) | JumpTarget::Inside(function) => {
                Some(ResolvedCall::Function(function))
            }
            JumpTarget::Symbol(name) => Some(ResolvedCall::Symbol(name)),
            JumpTarget::Unknown => None,
        }
    }

    #[cold]
    fn decide(
        &mut self,
        call: ResolvedCall,
        pair: [(ModuleId, u64); 2],
        code: CodeContext<'_>,
    ) -> Option<Decision> {
        if let Some(cached) = self.pairs.get(&pair) {
            return cached.clone();
        }
        if self.pairs.len() >= MAX_CACHED {
            self.pairs.clear();
        }
        let decided = self.find(call, pair, code);
        self.pairs.insert(pair, decided.clone());
        decided
    }

    fn find(
        &mut self,
        call: ResolvedCall,
        [(from, _), (to, svma)]: [(ModuleId, u64); 2],
        code: CodeContext<'_>,
    ) -> Option<Decision> {
        let (caller, callee) = (self.file(from, code)?, self.file(to, code)?);
        let at = self.files.described(callee.serial, svma, code)?;
        // In a linkage table entry the target function has not run yet.
        if self.files.is_linkage(callee.serial, svma) {
            return None;
        }
        let mut search = PathSearch { files: &mut self.files, units: &mut self.units, code };
        let called = match call {
            ResolvedCall::Function(called) => Some(called),
            ResolvedCall::Symbol(name) => match search.files.symbol(name, callee.serial, code) {
                BoundFunction::Function(called) => Some(called),
                BoundFunction::Elsewhere => None,
                BoundFunction::Unknown => return None,
            },
            ResolvedCall::Unknown => return None,
        };
        let between = called.map(|called| {
            let find = || {
                // A separate part of the called function. Its code would show it, too.
                if search.files.is_part_of(at, called, code) {
                    return Between::Nothing;
                }
                search.between(called, FileAddress { file: callee.serial, svma })
            };
            self.between.get([called, at], find)
        });
        let frame = |left: &TailCaller| {
            let module_of = |serial: u32| match serial {
                it if it == caller.serial => Some(from),
                it if it == callee.serial => Some(to),
                _ => None,
            };
            let FileAddress { file, svma } = left.site.unwrap_or(left.function.beginning());
            match (module_of(file), left.site) {
                (None, _) => TailFrame::Unknown,
                (Some(module), Some(_)) => TailFrame::Jump(module, svma),
                (Some(module), None) => TailFrame::Function(module, svma),
            }
        };
        let is_linked = matches!(call, ResolvedCall::Symbol(_));
        // The loader can bind the symbol to a function of a third file.
        let is_elsewhere = is_linked && called.is_none_or(|called| called.file != callee.serial);
        let mut frames: Vec<TailFrame> = match &between {
            Some(Between::Nothing) => return None,
            Some(Between::Path(path)) => path.iter().map(frame).collect(),
            Some(Between::Several(before, after)) if !is_elsewhere => {
                let before = before.iter().map(frame);
                let after = after.iter().map(frame);
                before.chain([TailFrame::Unknown]).chain(after).collect()
            }
            None | Some(Between::Several(..) | Between::NoPath) => vec![TailFrame::Unknown],
        };
        let is_unknown = frames[..] == [TailFrame::Unknown];
        if is_unknown && is_linked && self.runs_implicitly(to, at, code) {
            return None;
        }
        if code.engine.is_entered_by_signal(&callee, Svma(svma), code.images) {
            return None;
        }
        frames.dedup_by(|one, other| (*one, *other) == (TailFrame::Unknown, TailFrame::Unknown));
        Some(frames.into())
    }

    /// Returns true if code runs in place of a function that is called through the loader.
    /// That is the loader's symbol resolver, or kernel code that a resolver of the C library chose.
    fn runs_implicitly(&mut self, module: ModuleId, at: FdeRange, code: CodeContext<'_>) -> bool {
        let module = code.modules.by_id(module);
        let is_file = module.is_some_and(|it| it.kind == MappedKind::File);
        !is_file || self.files.is_loader(at.file) && self.is_resolver(at, code)
    }

    /// Returns true if a loader function can be its resolver.
    /// On x86 a linkage table pushes words before it jumps there, so the resolver's frame is not as a call leaves it.
    fn is_resolver(&mut self, at: FdeRange, code: CodeContext<'_>) -> bool {
        let is_plain = matches!(self.files.arch(at.file), Some(Arch::X86_64 | Arch::X86))
            && self.files.is_at_entry(at.file, at.start, code);
        !is_plain
    }

    fn file(&mut self, module: ModuleId, code: CodeContext<'_>) -> Option<Arc<LoadedImage>> {
        let Self { modules, files, .. } = self;
        let find = || {
            let file = code.images.outcome(code.modules.by_id(module)?)?.ok()?;
            files.add(file, code);
            Some(Arc::clone(file))
        };
        modules.entry(module).or_insert_with(find).clone()
    }
}

/// Returns true if the lookup address of a frame with this evidence is in the call before its return address.
const fn is_by_return_address(found_by: FoundBy) -> bool {
    match found_by {
        FoundBy::Cfi
        | FoundBy::LeafRule
        | FoundBy::Prologue
        | FoundBy::Code
        | FoundBy::FramePointer
        | FoundBy::Scan
        | FoundBy::Joined => true,
        FoundBy::Sampled
        | FoundBy::Callchain
        | FoundBy::CallStack
        | FoundBy::Gap
        | FoundBy::TailCall
        | FoundBy::TailCalls => false,
    }
}
