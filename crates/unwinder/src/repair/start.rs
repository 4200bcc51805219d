//! The frames that a thread starts with: those that all samples have in common whose chains reach the root.

use crate::repair::call::Call;

/// The calls that a thread starts with.
#[derive(Clone, Debug, Default)]
struct Start {
    /// Those of the first chain that reached the root, outermost first.
    calls: Vec<Call>,
    /// So many of them all had in common that did.
    common: usize,
    /// How many samples showed these.
    seen: u32,
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
    pub(super) fn note(&mut self, root: Option<Root>, calls: &[Call]) -> Option<Root> {
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
        self.0.push(Start { calls: calls.to_vec(), common: calls.len(), seen: 1 });
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
        Some(StartCalls { calls: start.calls(), seen: start.seen })
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
        let calls = self.0.get(at as usize)?.calls.get(..common as usize)?;
        Some(StartCalls { calls, seen })
    }
}
