//! The frames that a thread starts with: those that all samples have in common whose chains reach the root.

use crate::repair::call::Call;
use crate::repair::seen::Stack;
use hashbrown::HashMap;

/// The calls that a thread starts with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// Outermost first.
    calls: Vec<Call>,
    /// How many samples showed them.
    pub(crate) seen: u32,
}

impl Start {
    /// Outermost first.
    pub(crate) fn calls(&self) -> &[Call] {
        &self.calls
    }
}

/// The starts of all threads.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    all: Vec<Start>,
    of: HashMap<Stack, Root>,
}

#[derive(Clone, Copy, Debug)]
struct Root {
    start: u32,
    /// How often the root was another one than before.
    changes: u8,
    several: bool,
}

/// Roots of one stack lie no further apart: the loader's, and that of the program that it enters.
const APART: u64 = 4096;
/// Nor does one stack change its root more often.
const CHANGES: u8 = 4;

impl Starts {
    /// Takes in the calls of a chain that reached its root, outermost first.
    pub(crate) fn note(&mut self, stack: Stack, calls: &[Call]) {
        let Some(outermost) = calls.first() else { return };
        let (mut several, mut changes) = (false, 0);
        if let Some(root) = self.of.get(&stack)
            && let Some(start) = self.all.get_mut(root.start as usize)
            && let Some(first) = start.calls.first()
        {
            if first.is_same(outermost) {
                let pairs = start.calls.iter().zip(calls);
                let common = pairs.take_while(|(one, other)| one.is_same(other)).count();
                start.calls.truncate(common);
                start.seen = start.seen.saturating_add(1);
                return;
            }
            changes = root.changes.saturating_add(1);
            let apart = first.cfa.abs_diff(outermost.cfa) > APART;
            several = root.several || apart || changes > CHANGES;
            if several {
                // What it starts with is not asked for any more.
                self.of.insert(stack, Root { several, changes, ..*root });
                return;
            }
        }
        let root = Root { start: self.all.len() as u32, changes, several };
        self.of.insert(stack, root);
        self.all.push(Start { calls: calls.to_vec(), seen: 1 });
    }

    /// Forgets stacks, and starts that were replaced by others.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&Stack) -> bool) {
        self.of.retain(|stack, _| wanted(stack));
        let old = std::mem::take(&mut self.all);
        for root in self.of.values_mut() {
            let start = old.get(root.start as usize).cloned().unwrap_or_default();
            root.start = self.all.len() as u32;
            self.all.push(start);
        }
    }

    /// The index of the thread's start, as far as it is known now.
    pub(crate) fn current(&self, stack: Stack) -> Option<u32> {
        self.of.get(&stack).map(|root| root.start)
    }

    /// A start.
    pub(crate) fn get(&self, index: Option<u32>) -> Option<&Start> {
        self.all.get(index? as usize)
    }

    /// Whether chains of the thread reached roots in different places: it has several stacks.
    pub(crate) fn has_several(&self, stack: Stack) -> bool {
        self.of.get(&stack).is_some_and(|root| root.several)
    }
}
