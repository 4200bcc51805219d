//! The frames that a thread starts with: those that all samples have in common whose chains reach the root, as far as they
//! do nothing but start it. What it was started for may be another thing whenever the dump does not reach so far: a thread
//! runs one job after the other, and coroutines one after the other have the same stack.

use address::Svma;
use unwinder::{CallTarget, Place, call_target, longest_call};

use crate::join::call::Call;
use crate::join::functions::Code;

/// The calls that a thread starts with.
#[derive(Clone, Debug, Default)]
struct Start {
    /// Those of the first chain that reached the root, outermost first.
    calls: Vec<Call>,
    /// So many of them all had in common that did.
    common: usize,
    /// How many samples showed these.
    seen: u32,
    /// Whether the stack is neither a process's nor a thread's own, as far as the root says.
    is_lent: bool,
}

impl Start {
    fn calls(&self) -> &[Call] {
        self.calls.get(..self.common).unwrap_or_default()
    }
}

/// The calls that a thread starts with, as they are known at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartCalls<'a> {
    /// Outermost first.
    pub(crate) calls: &'a [Call],
    /// How many samples showed them.
    pub(crate) seen: u32,
    /// Whether the stack is neither a process's nor a thread's own, as far as the root says.
    pub(crate) is_lent: bool,
}

/// A start as it was known at some time: the calls only become fewer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptStart {
    at: u32,
    common: u32,
    seen: u32,
}

/// The starts of all threads.
#[derive(Debug, Default)]
pub(crate) struct Starts(Vec<Start>);

/// What is known of the root of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    /// The index of what it starts with, as far as that is known now.
    pub(super) start: u32,
    /// How often the root was another one than before.
    changes: u8,
    /// Whether chains reached roots in different places: the thread has several stacks.
    pub(super) several: bool,
}

/// Roots of one stack lie no further apart: the loader's, and that of the program that it enters.
const APART: u64 = 4096;
/// Nor does one stack change its root more often.
const CHANGES: u8 = 4;

impl Starts {
    /// Takes in the calls of a chain that reached its root, outermost first: what is known of that of its stack.
    pub(super) fn note(
        &mut self,
        root: Option<Root>,
        calls: &[Call],
        code: Code<'_>,
    ) -> Option<Root> {
        let Some(outermost) = calls.first() else { return root };
        let mut changes = 0;
        if let Some(root) = root
            && let Some(start) = self.0.get_mut(root.start as usize)
            && let Some(first) = start.calls.first()
        {
            if first.is_same(outermost) {
                let pairs = start.calls().iter().zip(calls);
                start.common = pairs.take_while(|(one, other)| one.is_same(other)).count();
                start.seen = start.seen.saturating_add(1);
                return Some(root);
            }
            changes = root.changes.saturating_add(1);
            let apart = first.cfa.abs_diff(outermost.cfa) > APART;
            if root.several || apart || changes > CHANGES {
                // What it starts with is not asked for any more.
                return Some(Root { several: true, changes, ..root });
            }
        }
        let root = Root { start: self.0.len() as u32, changes, several: false };
        let most = most_calls(&outermost.caller, code);
        let calls = calls.get(..most.unwrap_or(1)).unwrap_or(calls).to_vec();
        let is_lent = most.is_none();
        self.0.push(Start { common: calls.len(), calls, seen: 1, is_lent });
        Some(root)
    }

    /// Forgets all starts but those of these roots.
    pub(super) fn retain<'r>(&mut self, roots: impl Iterator<Item = &'r mut Root>) {
        let old = std::mem::take(&mut self.0);
        for root in roots {
            let mut start = old.get(root.start as usize).cloned().unwrap_or_default();
            start.calls.truncate(start.common);
            root.start = self.0.len() as u32;
            self.0.push(start);
        }
    }

    /// A start, as it is known now.
    pub(crate) fn get(&self, index: Option<u32>) -> Option<StartCalls<'_>> {
        let start = self.0.get(index? as usize)?;
        Some(StartCalls { calls: start.calls(), seen: start.seen, is_lent: start.is_lent })
    }

    /// Keeps a start as it is known now, until others are forgotten.
    pub(crate) fn keep(&self, index: Option<u32>) -> Option<KeptStart> {
        let at = index?;
        let Start { common, seen, .. } = *self.0.get(at as usize)?;
        Some(KeptStart { at, common: common as u32, seen })
    }

    /// A start that was kept.
    pub(crate) fn kept(&self, start: Option<KeptStart>) -> Option<StartCalls<'_>> {
        let KeptStart { at, common, seen } = start?;
        let start = self.0.get(at as usize)?;
        let calls = start.calls.get(..common as usize)?;
        Some(StartCalls { calls, seen, is_lent: start.is_lent })
    }
}

/// How many calls from the root inwards do nothing but start what they are for: of a process those from `_start` to
/// `main`, of a thread those of `clone` and of what it calls. `None` if the root is neither's.
fn most_calls(root: &Place, code: Code<'_>) -> Option<usize> {
    /// The first code of a process is within so many bytes of its entry point.
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
