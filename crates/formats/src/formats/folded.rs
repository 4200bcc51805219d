//! Folded stacks, the input of flame graph programs: `comm;outermost;…;innermost weight`, a line for each distinct
//! stack of names.
//!
//! Lines are in preorder of a tree: by comm, complete stacks before `[truncated]` ones, then frame by frame by the
//! bytes of the names, callers before callees. Only samples of one event are counted.

use std::io;

use hashbrown::HashMap;

use crate::facts::{FormatFacts, PLAIN, ShownWeights};
use crate::options::{ChoiceOrValue, StackRoot, StackWeight};
use crate::printer::Printer;
use crate::render::chunks::write_rows;
use crate::render::field_value::value_text;
use crate::render::joined_paths::{JoinedPaths, joined_names};
use crate::render::name_tree::{NameId, NameTree};
use crate::render::text::push_number;
use profile::query::Weights;
use profile::query::engine::{RowValue, ValueColumns};
use profile::{
    LONGEST_REPEATED, Profile, SampleId, SampleRow, StackId, StringId, Table, ThreadId, ThreadRow,
};

/// Prints folded stacks.
#[derive(Debug, Clone)]
pub struct Folded {
    /// Whether inlined functions are separate frames.
    pub inlines: bool,
    /// Whether stacks without their root are shown unchanged, instead of under one `[truncated]` frame.
    pub keep_unrooted: bool,
    /// Weight of a stack.
    pub weight: StackWeight,
    /// Whether kernel functions get the suffix `_[k]`.
    pub kernel_suffix: bool,
    /// Outermost frame of each stack.
    pub root: ChoiceOrValue<StackRoot>,
    /// Whether stacks start with the innermost function, after the root.
    pub reverse: bool,
}

impl Folded {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts {
        weights: ShownWeights::Added,
        ..FormatFacts::text(
            "folded",
            "one line per distinct stack, for flame graphs",
            &[".folded", ".collapsedstack.txt", ".collapsed"],
            PLAIN,
        )
    };
}

impl Printer for Folded {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        self.print_marked(profile, None, |_| LONGEST_REPEATED, out)
    }
}

/// Label of a frame that represents an unknown number of frames.
const GAP: &[u8] = b"[gap]";

impl Folded {
    /// Prints the stacks. `mark` is appended to the names of frames that most of their samples have from other samples.
    /// With a mark, equal stacks may be printed as several lines.
    /// `most` returns the maximum length of a name in bytes, given the number of distinct paths of names.
    pub(crate) fn print_marked(
        &self,
        profile: &Profile,
        mark: Option<&[u8]>,
        most: impl Fn(usize) -> usize,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let mut tree = NameTree::new(profile, self.inlines, self.kernel_suffix);
        let roots = self.roots(profile, &mut tree);
        tree.truncate_labels(most(tree.len()));
        let joined = mark.map(|_| joined_names(profile, &tree));
        let lines = self.lines(profile, &tree, &roots, joined.as_ref());
        let paths = mark.map(|_| self.joined_paths(&tree, &lines)).unwrap_or_default();
        let cost = |row: usize| lines.get(row).map_or(0, |line| u64::from(tree.depth(line.node)));
        write_rows(out, lines.len(), cost, |rows, text| {
            let mut path = Vec::new();
            for line in lines.get(rows).unwrap_or_default() {
                let has_root = self.root != StackRoot::None.into();
                let mut is_empty = !has_root && !line.truncated;
                if has_root {
                    text.extend_from_slice(tree.label(line.comm));
                    text.push(b';');
                }
                if line.truncated {
                    text.extend_from_slice(b"[truncated];");
                }
                self.path(&tree, line.node, &mut path);
                paths.walk((line.comm, line.truncated), &path, |label, joined| {
                    if !text.wants_more() {
                        return;
                    }
                    is_empty = false;
                    let label = tree.label(label);
                    text.extend_from_slice(label);
                    let mark = mark.filter(|_| joined && label != GAP);
                    text.extend_from_slice(mark.unwrap_or_default());
                    text.push(b';');
                });
                if is_empty {
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

/// A line of the output.
struct FoldedLine {
    comm: StringId,
    truncated: bool,
    /// Innermost node in the tree of names.
    node: Option<NameId>,
    /// Number of outermost names that are from other samples; 0 if no mark was requested.
    joined: u32,
    weight: u64,
}

impl Folded {
    /// Returns the paths of the lines, with the weights of frames that are from other samples.
    fn joined_paths(&self, tree: &NameTree, lines: &[FoldedLine]) -> JoinedPaths {
        let mut paths = JoinedPaths::default();
        let mut path = Vec::new();
        for line in lines {
            self.path(tree, line.node, &mut path);
            let (n, joined) = (path.len(), line.joined as usize);
            paths.add((line.comm, line.truncated), &path, line.weight, |place| {
                if self.reverse { place + joined >= n } else { place < joined }
            });
        }
        paths
    }

    /// Returns the distinct stacks with their weights, sorted. `joined` distinguishes equal stacks by the number of
    /// outermost names that are from other samples; it may be empty.
    fn lines(
        &self,
        profile: &Profile,
        tree: &NameTree,
        roots: &Table<SampleId, StringId>,
        joined: Option<&Table<StackId, u32>>,
    ) -> Vec<FoldedLine> {
        let mut weights: HashMap<(StringId, bool, Option<NameId>, u32), u64> = HashMap::new();
        let counted = Weights::new(profile, self.weight);
        for ((_, sample), &root) in profile.samples.entries().zip(roots) {
            let Some(added) = counted.of(sample) else { continue };
            let truncated = !self.keep_unrooted && !sample.end.is_rooted();
            let joined = joined.zip(sample.stack).and_then(|(joined, stack)| joined.get(stack));
            let joined = joined.copied().unwrap_or(0);
            let key = (root, truncated, tree.node_of(sample.stack), joined);
            let weight = weights.entry(key).or_default();
            *weight = weight.saturating_add(added);
        }
        let lines = weights.into_iter().map(|((comm, truncated, node, joined), weight)| {
            FoldedLine { comm, truncated, node, joined, weight }
        });
        let mut lines: Vec<FoldedLine> = lines.collect();
        let ranks = tree.label_ranks();
        let order = tree.order(&ranks);
        if self.reverse {
            let mut path = Vec::new();
            lines.sort_by_cached_key(|line| {
                self.path(tree, line.node, &mut path);
                let rank = |label: &StringId| ranks.get(*label).copied();
                let path = path.iter().map(rank).collect::<Vec<_>>();
                (rank(&line.comm), line.truncated, path, line.joined)
            });
            return lines;
        }
        lines.sort_unstable_by_key(|line| {
            let place = line.node.and_then(|node| order.get(node)).copied();
            (ranks.get(line.comm).copied(), line.truncated, place, line.joined)
        });
        lines
    }

    /// Stores the labels of a stack in `path`, in the order of printing.
    fn path(&self, tree: &NameTree, node: Option<NameId>, path: &mut Vec<StringId>) {
        tree.path(node, path);
        if !self.reverse {
            path.reverse();
        }
    }

    /// Returns the outermost frame of each sample.
    fn roots(&self, profile: &Profile, tree: &mut NameTree) -> Table<SampleId, StringId> {
        let root = match &self.root {
            ChoiceOrValue::Choice(root) => *root,
            ChoiceOrValue::Value(name) => {
                let columns = ValueColumns::named(profile, name);
                let mut known: HashMap<RowValue, StringId> = HashMap::new();
                let samples = profile.samples.entries();
                let values = samples.map(|(id, sample)| columns.of(sample.event, id));
                let mut name = |value| tree.intern(&value_text(profile, value));
                return values.map(|it| *known.entry(it).or_insert_with(|| name(it))).collect();
            }
        };
        let names = profile.threads.iter().map(|thread| Self::root_name(root, profile, thread));
        let threads: Table<ThreadId, StringId> = names.map(|name| tree.intern(&name)).collect();
        let unknown = tree.intern(b"");
        let of = |sample: &SampleRow| threads.get(sample.thread).copied().unwrap_or(unknown);
        profile.samples.iter().map(of).collect()
    }

    fn root_name(root: StackRoot, profile: &Profile, thread: &ThreadRow) -> Vec<u8> {
        let of_process = root == StackRoot::Process;
        let name = if of_process { thread.process } else { thread.comm };
        let mut name = profile.strings.get(name).to_vec();
        if name.is_empty() && matches!(root, StackRoot::Process | StackRoot::Thread) {
            name.extend_from_slice(b"[unknown]");
        }
        match root {
            StackRoot::Comm => {}
            StackRoot::Process => name.extend_from_slice(format!("-{}", thread.pid).as_bytes()),
            StackRoot::Thread => {
                name.extend_from_slice(format!("-{}/{}", thread.pid, thread.tid).as_bytes());
            }
            StackRoot::None => name.clear(),
        }
        name
    }
}
