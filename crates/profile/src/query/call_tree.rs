//! The tree of calls, from the outermost functions inwards or from the innermost outwards, as far as its branches cost
//! enough.

use hashbrown::HashMap;

use crate::id::StackId;
use crate::profile::Profile;
use crate::query::functions::{FunctionId, Functions};
use crate::query::top::Cost;
use crate::query::weights::Weights;

/// Which tree is wanted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TreeOptions {
    /// Whether inlined functions are functions of their own.
    pub inlines: bool,
    /// Whether the innermost functions are the roots, and their callers below them.
    pub bottom_up: bool,
    /// Whether stacks that do not reach their root stand beside the others, and not under one [`CallLabel::Truncated`].
    pub keep_unrooted: bool,
    /// The share of all, from 0 to 1, below which branches are left out.
    pub min_share: f64,
}

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallLabel {
    /// Stacks that do not reach their root.
    Truncated,
    /// A function.
    Function(FunctionId),
}

crate::row_ids! {
    /// A row of [`CallTree::nodes`].
    pub CallId(u32);
}

/// A node: a function, called by those above it (or, from the bottom up, calling them).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallNode {
    /// What it stands for.
    pub label: CallLabel,
    /// Samples that end here: in a tree from the top down those in which the function ran itself.
    pub own: Cost,
    /// Samples that pass here.
    pub inclusive: Cost,
    /// The nodes below it, those that cost most first.
    pub children: Vec<CallId>,
}

/// The tree.
#[derive(Debug)]
pub struct CallTree {
    /// The functions of the profile.
    pub functions: Functions,
    /// The nodes; one stands before those below it.
    pub nodes: crate::Table<CallId, CallNode>,
    /// The roots, those that cost most first.
    pub roots: Vec<CallId>,
    /// All samples that were counted.
    pub total: Cost,
}

/// Stacks that are alike, on their way down.
struct Path {
    labels: std::ops::Range<usize>,
    cost: Cost,
}

impl CallTree {
    /// The tree of the samples that `weights` counts.
    #[must_use]
    pub fn new(profile: &Profile, weights: &Weights, options: TreeOptions) -> Self {
        let functions = Functions::new(profile, options.inlines);
        let (labels, paths, total) = paths(profile, weights, &functions, options);
        let mut tree = Self { functions, nodes: crate::Table::new(), roots: Vec::new(), total };
        let min = options.min_share * total.weight as f64;
        // Branches whose nodes are not made yet: whose children they are, how deep, and the paths through them.
        let mut pending = vec![(None, 0, (0..paths.len()).collect::<Vec<_>>())];
        while let Some((parent, depth, members)) = pending.pop() {
            for (label, cost, own, members) in branches(&labels, &paths, &members, depth) {
                if (cost.weight as f64) < min {
                    continue;
                }
                let node = CallNode { label, own, inclusive: cost, children: Vec::new() };
                let id = tree.nodes.push(node);
                match parent.and_then(|parent| tree.nodes.get_mut(parent)) {
                    Some(parent) => parent.children.push(id),
                    None => tree.roots.push(id),
                }
                pending.push((Some(id), depth + 1, members));
            }
        }
        tree
    }
}

/// A node to be: what it stands for, what passes it, what ends there, and the paths that pass it.
type Branch = (CallLabel, Cost, Cost, Vec<usize>);

/// Parts paths by their label at a depth; those that cost most first, of equal ones the one seen first.
fn branches(labels: &[CallLabel], paths: &[Path], members: &[usize], depth: usize) -> Vec<Branch> {
    let mut index: HashMap<CallLabel, usize> = HashMap::new();
    let mut branches: Vec<Branch> = Vec::new();
    for &member in members {
        let Some(path) = paths.get(member) else { continue };
        let place = path.labels.start + depth;
        if place >= path.labels.end {
            continue;
        }
        let Some(&label) = labels.get(place) else { continue };
        let at = *index.entry(label).or_insert_with(|| {
            branches.push((label, Cost::default(), Cost::default(), Vec::new()));
            branches.len() - 1
        });
        if let Some((_, cost, own, members)) = branches.get_mut(at) {
            cost.add(path.cost);
            if place + 1 == path.labels.end {
                own.add(path.cost);
            }
            members.push(member);
        }
    }
    branches.sort_by_key(|(_, cost, ..)| std::cmp::Reverse(cost.weight));
    branches
}

/// The distinct stacks as labels in the order of the tree, with what they cost.
fn paths(
    profile: &Profile,
    weights: &Weights,
    functions: &Functions,
    options: TreeOptions,
) -> (Vec<CallLabel>, Vec<Path>, Cost) {
    let mut index: HashMap<(Option<StackId>, bool), usize> = HashMap::new();
    let mut groups: Vec<((Option<StackId>, bool), Cost)> = Vec::new();
    let mut total = Cost::default();
    for (id, sample) in profile.samples.entries() {
        let Some(weight) = weights.of(id, sample) else { continue };
        let whole = options.bottom_up || options.keep_unrooted || sample.end.is_rooted();
        let key = (sample.stack, !whole);
        let at = *index.entry(key).or_insert_with(|| {
            groups.push((key, Cost::default()));
            groups.len() - 1
        });
        let cost = Cost { samples: 1, weight };
        total.add(cost);
        if let Some((_, sum)) = groups.get_mut(at) {
            sum.add(cost);
        }
    }
    let (mut labels, mut paths, mut path) = (Vec::new(), Vec::new(), Vec::new());
    for ((stack, truncated), cost) in groups {
        let start = labels.len();
        labels.extend(truncated.then_some(CallLabel::Truncated));
        functions.path(profile, stack, &mut path);
        let of_path = path.iter().map(|at| CallLabel::Function(at.function));
        if options.bottom_up {
            labels.extend(of_path);
        } else {
            labels.extend(of_path.rev());
        }
        paths.push(Path { labels: start..labels.len(), cost });
    }
    (labels, paths, total)
}
