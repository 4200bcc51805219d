//! Start of a stack: the outermost calls that all complete chains share, limited to those that only start the thread.
//! The code that they start can differ in truncated samples: a thread runs several jobs, and coroutines reuse a stack.

use address::Svma;
use unwinder::{CallTarget, CodeLocation, call_target, longest_call};

use crate::join::call::ActiveCall;
use crate::join::functions::CodeContext;

/// The calls that a stack starts with.
#[derive(Clone, Debug, Default)]
struct StackStart {
    /// Calls of the first chain that reached the root, outermost first.
    calls: Vec<ActiveCall>,
    /// Number of them that all complete chains share.
    common: usize,
    /// Number of samples that showed these.
    samples: u32,
    /// True if, by its root, the stack is neither a process's nor a thread's own.
    is_lent: bool,
}

impl StackStart {
    fn calls(&self) -> &[ActiveCall] {
        self.calls.get(..self.common).unwrap_or_default()
    }
}

/// The calls that a stack starts with, as known at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartCalls<'a> {
    /// Outermost first.
    pub(crate) calls: &'a [ActiveCall],
    /// Number of samples that showed them.
    pub(crate) samples: u32,
    /// True if, by its root, the stack is neither a process's nor a thread's own.
    pub(crate) is_lent: bool,
}

/// Snapshot of a start. Sufficient because calls are only ever removed from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartSnapshot {
    at: u32,
    common: u32,
    samples: u32,
}

/// The starts of all stacks.
#[derive(Debug, Default)]
pub(crate) struct Starts(Vec<StackStart>);

/// The root of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackRoot {
    /// Index of the stack's current start.
    pub(super) start: u32,
    /// Number of changes of the root.
    changes: u8,
    /// True if chains reached roots at different addresses: the thread has several stacks.
    pub(super) several: bool,
}

/// Maximum distance of the roots of one stack, in bytes: of the loader's and the program's.
const APART: u64 = 4096;
/// Maximum number of root changes of one stack.
const CHANGES: u8 = 4;

impl Starts {
    /// Adds the calls of a complete chain, outermost first, and returns the root of its stack.
    pub(super) fn note(
        &mut self,
        root: Option<StackRoot>,
        calls: &[ActiveCall],
        code: CodeContext<'_>,
    ) -> Option<StackRoot> {
        let Some(outermost) = calls.first() else { return root };
        let mut changes = 0;
        if let Some(root) = root
            && let Some(start) = self.0.get_mut(root.start as usize)
            && let Some(first) = start.calls.first()
        {
            if first.is_same(outermost) {
                let pairs = start.calls().iter().zip(calls);
                start.common = pairs.take_while(|(one, other)| one.is_same(other)).count();
                start.samples = start.samples.saturating_add(1);
                return Some(root);
            }
            changes = root.changes.saturating_add(1);
            let apart = first.cfa.abs_diff(outermost.cfa) > APART;
            if root.several || apart || changes > CHANGES {
                // Its start is not used any more.
                return Some(StackRoot { several: true, changes, ..root });
            }
        }
        let root = StackRoot { start: self.0.len() as u32, changes, several: false };
        let most = most_calls(&outermost.caller, code);
        let calls = calls.get(..most.unwrap_or(1)).unwrap_or(calls).to_vec();
        let is_lent = most.is_none();
        self.0.push(StackStart { common: calls.len(), calls, samples: 1, is_lent });
        Some(root)
    }

    /// Forgets all starts except those of these roots.
    pub(super) fn retain<'r>(&mut self, roots: impl Iterator<Item = &'r mut StackRoot>) {
        let old = std::mem::take(&mut self.0);
        for root in roots {
            let mut start = old.get(root.start as usize).cloned().unwrap_or_default();
            start.calls.truncate(start.common);
            root.start = self.0.len() as u32;
            self.0.push(start);
        }
    }

    /// Returns a start as it is known now.
    pub(crate) fn get(&self, index: Option<u32>) -> Option<StartCalls<'_>> {
        let start = self.0.get(index? as usize)?;
        Some(StartCalls { calls: start.calls(), samples: start.samples, is_lent: start.is_lent })
    }

    /// Takes a snapshot of a start, valid until others are forgotten.
    pub(crate) fn snapshot(&self, index: Option<u32>) -> Option<StartSnapshot> {
        let at = index?;
        let StackStart { common, samples, .. } = *self.0.get(at as usize)?;
        Some(StartSnapshot { at, common: common as u32, samples })
    }

    /// Returns the start of a snapshot.
    pub(crate) fn restored(&self, start: Option<StartSnapshot>) -> Option<StartCalls<'_>> {
        let StartSnapshot { at, common, samples } = start?;
        let start = self.0.get(at as usize)?;
        let calls = start.calls.get(..common as usize)?;
        Some(StartCalls { calls, samples, is_lent: start.is_lent })
    }
}

/// Returns the number of outermost calls that only start the actual code:
/// those from `_start` to `main`, or those of `clone` and of its callee.
/// `None` if the root is neither a process's nor a thread's.
fn most_calls(root: &CodeLocation, code: CodeContext<'_>) -> Option<usize> {
    /// Maximum distance of a process's first code from its entry point, in bytes.
    const ENTRY: u64 = 0x80;
    const OF_PROCESS: usize = 4;
    const OF_THREAD: usize = 2;
    let file = code.images.outcome(code.modules.get(root.module?.index())?)?.ok()?;
    let (image, return_address) = (file.image(), Svma(root.relative.wrapping_add(1)));
    if image.entry().0 != 0 && return_address.since(image.entry()) < ENTRY {
        return Some(OF_PROCESS);
    }
    let arch = image.arch()?;
    let len = longest_call(arch)?;
    let bytes = image.read_only_bytes(return_address.sub(len as u64), len)?;
    let target = call_target(arch, bytes, return_address.0);
    (target == Some(CallTarget::Indirect)).then_some(OF_THREAD)
}
