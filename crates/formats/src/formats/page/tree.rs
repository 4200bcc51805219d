//! The prefix tree of functions that the page shows: addresses are forgotten, lines are kept where samples were taken.

use hashbrown::HashMap;
use profile::{EndReason, FoundBy};

use profile::StringId;
use profile::query::functions;
use profile::query::{Function, Functions};
use profile::{ModuleKind, NO_STACK, Profile};

/// What is special about a node; the page has the same numbers.
const INLINED: u8 = 1;
const GUESSED: u8 = 2;
const KERNEL: u8 = 4;
const ANONYMOUS: u8 = 8;

/// A function under those that called it.
pub(super) struct Node {
    /// The caller's node, before this one; `NO_STACK` for none.
    pub(super) parent: u32,
    /// Index of `Tree::functions`.
    pub(super) function: u32,
    pub(super) flags: u8,
    /// The line of most samples; 0 where unknown.
    pub(super) line: u32,
    /// How many lines there are.
    pub(super) lines: u32,
}

/// The tree, and where the samples are in it.
pub(super) struct Tree {
    /// Functions in the order of their names.
    pub(super) functions: Vec<Function>,
    /// The strings of functions, sorted by id.
    pub(super) strings: Vec<StringId>,
    pub(super) nodes: Vec<Node>,
    /// Where samples were taken and why their chains ended: node (`NO_STACK` for none), line, end.
    pub(super) leaves: Vec<(u32, u32, EndReason)>,
    /// By sample: its leaf.
    pub(super) of_sample: Vec<u32>,
}

impl Tree {
    pub(super) fn new(profile: &Profile, inlines: bool) -> Self {
        let all = Functions::new(profile, inlines);
        let (order, rank) = by_name(profile, &all.rows);
        let mut strings: Vec<StringId> =
            all.rows.iter().flat_map(|row| [row.name, row.file, row.module]).flatten().collect();
        strings.sort_unstable();
        strings.dedup();
        let mut tree = Self {
            functions: order.iter().filter_map(|&at| all.rows.get(at as usize)).copied().collect(),
            strings,
            nodes: Vec::new(),
            leaves: Vec::new(),
            of_sample: Vec::with_capacity(profile.samples.len()),
        };
        let of_stack = tree.fill_nodes(profile, &all, &rank, inlines);
        tree.fill_leaves(profile, &of_stack);
        tree
    }

    /// Makes the nodes; gives for each stack its innermost node and line.
    fn fill_nodes(
        &mut self,
        profile: &Profile,
        all: &Functions,
        rank: &[u32],
        inlines: bool,
    ) -> Vec<(u32, u32)> {
        let weights = weights(profile);
        let mut index: HashMap<(u32, u32, u8), u32> = HashMap::new();
        let mut lines: HashMap<(u32, u32), u64> = HashMap::new();
        let mut of_stack: Vec<(u32, u32)> = Vec::with_capacity(profile.stacks.len());
        for (stack, &weight) in profile.stacks.iter().zip(&weights) {
            let outside = of_stack.get(stack.parent as usize).copied();
            let (mut node, mut line) = outside.unwrap_or((NO_STACK, 0));
            let frame = profile.frames.get(stack.frame as usize);
            if let Some((frame, location)) =
                frame.and_then(|row| Some((row, profile.locations.get(row.location as usize)?)))
            {
                let rows = functions(profile, location, inlines);
                let module = location.module.and_then(|id| profile.modules.get(id.index()));
                let kind = module.map(|module| module.kind);
                let nowhere = matches!(kind, Some(ModuleKind::Anonymous) | None);
                let guess = matches!(
                    frame.found_by,
                    FoundBy::FramePointer | FoundBy::Joined | FoundBy::Guess
                );
                for (depth, at) in all.at(frame.location).iter().enumerate().rev() {
                    let inlined = rows.get(depth).is_some_and(|row| row.inlined);
                    let flags = [
                        (inlined, INLINED),
                        (guess, GUESSED),
                        (frame.kernel, KERNEL),
                        (nowhere && !frame.kernel, ANONYMOUS),
                    ];
                    let flags =
                        flags.iter().filter(|flag| flag.0).fold(0, |all, flag| all | flag.1);
                    let function = rank.get(at.function as usize).copied().unwrap_or(0);
                    node = *index.entry((node, function, flags)).or_insert_with(|| {
                        self.nodes.push(Node { parent: node, function, flags, line: 0, lines: 0 });
                        self.nodes.len() as u32 - 1
                    });
                    line = at.line;
                    *lines.entry((node, line)).or_default() += weight;
                }
            }
            of_stack.push((node, line));
        }
        self.fill_lines(lines);
        of_stack
    }

    /// Gives each node the line of most samples; of several, the first.
    fn fill_lines(&mut self, lines: HashMap<(u32, u32), u64>) {
        let mut most: Vec<(u64, u32)> = vec![(0, 0); self.nodes.len()];
        for ((node, line), weight) in lines {
            let (Some(row), Some(best)) =
                (self.nodes.get_mut(node as usize), most.get_mut(node as usize))
            else {
                continue;
            };
            if line == 0 {
                continue;
            }
            row.lines += 1;
            if row.line == 0
                || (weight, std::cmp::Reverse(line)) > (best.0, std::cmp::Reverse(best.1))
            {
                *best = (weight, line);
                row.line = line;
            }
        }
    }

    fn fill_leaves(&mut self, profile: &Profile, of_stack: &[(u32, u32)]) {
        let mut index: HashMap<(u32, u32, EndReason), u32> = HashMap::new();
        for sample in &profile.samples {
            let (node, line) =
                of_stack.get(sample.stack as usize).copied().unwrap_or((NO_STACK, 0));
            let leaf = (node, line, sample.end);
            let at = *index.entry(leaf).or_insert_with(|| {
                self.leaves.push(leaf);
                self.leaves.len() as u32 - 1
            });
            self.of_sample.push(at);
        }
    }
}

/// The functions in the order of their names, and by function its place in it.
fn by_name(profile: &Profile, rows: &[Function]) -> (Vec<u32>, Vec<u32>) {
    let text = |id: Option<StringId>| id.map_or(&[][..], |id| profile.strings.get(id));
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.sort_by_key(|&at| {
        rows.get(at as usize).map(|row| (text(row.name), text(row.file), text(row.module)))
    });
    let mut rank = vec![0; rows.len()];
    for (place, &at) in order.iter().enumerate() {
        if let Some(slot) = rank.get_mut(at as usize) {
            *slot = place as u32;
        }
    }
    (order, rank)
}

/// By stack: the samples that have it, whole or as their outer part.
fn weights(profile: &Profile) -> Vec<u64> {
    let mut weights = vec![0_u64; profile.stacks.len()];
    for sample in &profile.samples {
        if let Some(weight) = weights.get_mut(sample.stack as usize) {
            *weight += 1;
        }
    }
    for (at, stack) in profile.stacks.iter().enumerate().rev() {
        let parent = stack.parent as usize;
        if parent < at {
            weights[parent] += weights[at];
        }
    }
    weights
}
