//! Folded stacks, the input of flame graph programs: `comm;outermost;…;innermost weight`, a line for each distinct
//! stack of names.
//!
//! Lines come in the order of a tree: by comm, complete stacks before `[truncated]` ones, then frame by frame by the
//! bytes of the names, a caller before what it calls.

use std::io;

use hashbrown::HashMap;

use crate::options::{StackRoot, StackWeight};
use crate::printer::Printer;
use crate::render::chunks::write_rows;
use crate::render::name_tree::{NameId, NameTree};
use crate::render::text::push_number;
use profile::{Profile, SampleRow, StringId, Table, ThreadId, ThreadRow};

/// Prints folded stacks.
#[derive(Debug, Clone, Copy)]
pub struct Folded {
    /// Whether inlined functions are frames of their own.
    pub inlines: bool,
    /// Whether incomplete stacks stand beside the complete ones, and not under one `[truncated]` frame.
    pub keep_unrooted: bool,
    /// What a stack weighs.
    pub weight: StackWeight,
    /// Whether kernel functions get the suffix `_[k]`.
    pub kernel_suffix: bool,
    /// What stands outside of all functions.
    pub root: StackRoot,
    /// Whether stacks begin with the innermost function, after the root.
    pub reverse: bool,
}

impl Printer for Folded {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let mut tree = NameTree::new(profile, self.inlines, self.kernel_suffix);
        let comms: Table<ThreadId, StringId> = profile
            .threads
            .iter()
            .map(|thread| tree.intern(&self.root_name(profile, thread)))
            .collect();
        let unknown = tree.intern(b"");
        let comm = |sample: &SampleRow| comms.get(sample.thread).copied().unwrap_or(unknown);
        let lines = self.lines(profile, &tree, comm);
        let cost = |row: usize| lines.get(row).map_or(0, |line| u64::from(tree.depth(line.node)));
        write_rows(out, lines.len(), cost, |rows, text| {
            let mut path = Vec::new();
            for line in lines.get(rows).unwrap_or_default() {
                let start = text.len();
                if self.root != StackRoot::None {
                    text.extend_from_slice(tree.label(line.comm));
                    text.push(b';');
                }
                if line.truncated {
                    text.extend_from_slice(b"[truncated];");
                }
                self.path(&tree, line.node, &mut path);
                for &label in &path {
                    text.extend_from_slice(tree.label(label));
                    text.push(b';');
                }
                if text.len() == start {
                    text.extend_from_slice(b"[no frames];");
                }
                text.pop();
                text.push(b' ');
                push_number(text, line.weight);
                text.push(b'\n');
            }
        })
    }
}

/// A line to be printed.
struct FoldedLine {
    comm: StringId,
    truncated: bool,
    /// The innermost node of the name tree.
    node: Option<NameId>,
    weight: u64,
}

impl Folded {
    /// The distinct stacks with their weights, sorted.
    fn lines(
        &self,
        profile: &Profile,
        tree: &NameTree,
        comm: impl Fn(&SampleRow) -> StringId,
    ) -> Vec<FoldedLine> {
        let mut weights: HashMap<(StringId, bool, Option<NameId>), u64> = HashMap::new();
        for sample in profile.samples.iter() {
            let truncated = !self.keep_unrooted && !sample.end.is_complete();
            let weight =
                weights.entry((comm(sample), truncated, tree.node_of(sample.stack))).or_default();
            *weight = weight.saturating_add(self.weight_of(sample));
        }
        let lines = weights.into_iter().map(|((comm, truncated, node), weight)| FoldedLine {
            comm,
            truncated,
            node,
            weight,
        });
        let mut lines: Vec<FoldedLine> = lines.collect();
        let ranks = tree.label_ranks();
        let order = tree.order(&ranks);
        if self.reverse {
            let mut path = Vec::new();
            lines.sort_by_cached_key(|line| {
                self.path(tree, line.node, &mut path);
                let rank = |label: &StringId| ranks.get(*label).copied();
                (rank(&line.comm), line.truncated, path.iter().map(rank).collect::<Vec<_>>())
            });
            return lines;
        }
        lines.sort_unstable_by_key(|line| {
            let place = line.node.and_then(|node| order.get(node)).copied();
            (ranks.get(line.comm).copied(), line.truncated, place)
        });
        lines
    }

    /// Puts the labels of a stack into `path`, in the order of printing.
    fn path(&self, tree: &NameTree, node: Option<NameId>, path: &mut Vec<StringId>) {
        tree.path(node, path);
        if !self.reverse {
            path.reverse();
        }
    }

    fn root_name(&self, profile: &Profile, thread: &ThreadRow) -> Vec<u8> {
        let mut name = profile.strings.get(thread.comm).to_vec();
        if name.is_empty() && matches!(self.root, StackRoot::Process | StackRoot::Thread) {
            name.extend_from_slice(b"[unknown]");
        }
        match self.root {
            StackRoot::Comm => {}
            StackRoot::Process => name.extend_from_slice(format!("-{}", thread.pid).as_bytes()),
            StackRoot::Thread => {
                name.extend_from_slice(format!("-{}/{}", thread.pid, thread.tid).as_bytes());
            }
            StackRoot::None => name.clear(),
        }
        name
    }

    fn weight_of(&self, sample: &SampleRow) -> u64 {
        match self.weight {
            StackWeight::Samples => 1,
            StackWeight::Period => sample.period.unwrap_or(1),
        }
    }
}
