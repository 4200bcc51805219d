//! The frames that a thread starts with: those that all samples have in common whose chains reach the root.

use crate::repair::call::Call;

/// The calls that a thread starts with.
#[derive(Clone, Debug, Default)]
struct Start {
    /// Outermost first.
    calls: Vec<Call>,
    /// How many samples showed them.
    seen: u32,
    /// Where the calls are kept as they are now, if they are.
    kept: Option<u32>,
}

/// The calls that a thread starts with, as they are known at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartCalls<'a> {
    /// Outermost first.
    pub(crate) calls: &'a [Call],
    /// How many samples showed them.
    pub(crate) seen: u32,
}

/// What is kept of a start, as it was at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptStart {
    at: u32,
    seen: u32,
}

/// The starts of all threads.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    all: Vec<Start>,
    /// Calls of starts as they were when they were kept.
    kept: Vec<Vec<Call>>,
}

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
            && let Some(start) = self.all.get_mut(root.start as usize)
            && let Some(first) = start.calls.first()
        {
            if first.is_same(outermost) {
                let pairs = start.calls.iter().zip(calls);
                let common = pairs.take_while(|(one, other)| one.is_same(other)).count();
                if common < start.calls.len() {
                    start.calls.truncate(common);
                    start.kept = None;
                }
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
        let root = Root { start: self.all.len() as u32, changes, several: false };
        self.all.push(Start { calls: calls.to_vec(), seen: 1, kept: None });
        Some(root)
    }

    /// Forgets all starts but those of these roots, and what was kept.
    pub(super) fn retain<'r>(&mut self, roots: impl Iterator<Item = &'r mut Root>) {
        let old = std::mem::take(&mut self.all);
        for root in roots {
            let start = old.get(root.start as usize).cloned().unwrap_or_default();
            root.start = self.all.len() as u32;
            self.all.push(start);
        }
        self.begin_keeping();
    }

    /// A start, as it is known now.
    pub(crate) fn get(&self, index: Option<u32>) -> Option<StartCalls<'_>> {
        let Start { calls, seen, .. } = self.all.get(index? as usize)?;
        Some(StartCalls { calls, seen: *seen })
    }

    /// Forgets what was kept.
    pub(crate) fn begin_keeping(&mut self) {
        self.kept.clear();
        self.all.iter_mut().for_each(|start| start.kept = None);
    }

    /// Keeps a start as it is known now.
    pub(crate) fn keep(&mut self, index: Option<u32>) -> Option<KeptStart> {
        let Self { all, kept, .. } = self;
        let Start { calls, seen, kept: place } = all.get_mut(index? as usize)?;
        let at = *place.get_or_insert_with(|| {
            kept.push(calls.clone());
            kept.len() as u32 - 1
        });
        Some(KeptStart { at, seen: *seen })
    }

    /// A start that was kept.
    pub(crate) fn kept(&self, start: Option<KeptStart>) -> Option<StartCalls<'_>> {
        let KeptStart { at, seen } = start?;
        self.kept.get(at as usize).map(|calls| StartCalls { calls, seen })
    }
}
