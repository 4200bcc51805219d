//! The tree of calls as indented lines. Where a node has one child only, that stands below it without further
//! indentation, so that deep stacks stay readable.

use std::io;

use profile::Profile;
use profile::query::{CallId, CallLabel, CallTree, FunctionMarks, TreeOptions, Weight, Weights};

use super::labels;
use super::look::ConsoleLook;
use crate::printer::Printer;
use crate::render::numbers::{counted, share};

/// Prints the tree of calls.
#[derive(Debug, Clone, Copy)]
pub struct TreeTable {
    /// What a sample weighs.
    pub weight: Weight,
    /// Which tree.
    pub options: TreeOptions,
    /// The most lines; 0 for all.
    pub limit: usize,
    /// How it looks.
    pub look: ConsoleLook,
}

impl Printer for TreeTable {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let weights = Weights::new(profile, self.weight);
        let tree = CallTree::new(profile, &weights, self.options);
        let unit = weights.unit();
        let width = labels::cost(unit, tree.total.weight).chars().count().max(7);
        let mut text = labels::what_is_counted(profile, &weights, tree.total);
        text.push('\n');
        let heading = self.look.heading();
        let unit_name = labels::unit(unit);
        if !tree.roots.is_empty() {
            let shares = if self.options.bottom_up {
                format!("{:>7}", "share")
            } else {
                format!("{:>9}  {:>7}", "inclusive", "own")
            };
            let what = if self.options.bottom_up { "function and its callers" } else { "function" };
            let head = format!("{shares}  {unit_name:>width$}  {what}");
            text.push_str(&format!("{heading}{head}{heading:#}\n"));
        }
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let lines = lines(&tree);
        let marks = FunctionMarks::new(profile, &tree.functions.rows);
        for line in lines.iter().take(limit) {
            self.line(profile, (&tree, &marks), line, (unit, width), &mut text);
        }
        if let Some(rest) = lines.len().checked_sub(limit).filter(|&rest| rest > 0) {
            let faint = self.look.faint();
            let rest = counted(rest as u64, "more line");
            text.push_str(&format!("{faint}{rest}; --limit 0 shows all{faint:#}\n"));
        }
        out.write_all(text.as_bytes())
    }
}

/// A node with what stands in front of its name.
struct Line {
    node: CallId,
    indent: String,
}

/// All nodes in the order of lines.
fn lines(tree: &CallTree) -> Vec<Line> {
    let mut lines = Vec::with_capacity(tree.nodes.len());
    // A node, the indentation of its line, and that of the lines below it.
    let mut pending: Vec<(CallId, String, String)> =
        tree.roots.iter().rev().map(|&root| (root, String::new(), String::new())).collect();
    while let Some((id, indent, below)) = pending.pop() {
        let children = tree.nodes.get(id).map_or(&[][..], |node| &node.children);
        match children {
            [only] => pending.push((*only, format!("{below}└ "), below.clone())),
            _ => {
                for (place, &child) in children.iter().enumerate().rev() {
                    let (mark, bar) = if place + 1 == children.len() {
                        ("└─ ", "   ")
                    } else {
                        ("├─ ", "│  ")
                    };
                    pending.push((child, format!("{below}{mark}"), format!("{below}{bar}")));
                }
            }
        }
        lines.push(Line { node: id, indent });
    }
    lines
}

impl TreeTable {
    fn line(
        &self,
        profile: &Profile,
        (tree, marks): (&CallTree, &FunctionMarks),
        line: &Line,
        (unit, width): (profile::query::WeightUnit, usize),
        text: &mut String,
    ) {
        let Some(node) = tree.nodes.get(line.node) else { return };
        let total = tree.total.weight;
        let inclusive = share(node.inclusive.weight, total);
        let style = self.look.share(node.inclusive.weight, total);
        let used = if self.options.bottom_up {
            text.push_str(&format!("{style}{inclusive:>7}{style:#}"));
            7
        } else {
            let own =
                if node.own.weight == 0 { String::new() } else { share(node.own.weight, total) };
            let own_style = self.look.share(node.own.weight, total);
            text.push_str(&format!(
                "{style}{inclusive:>9}{style:#}  {own_style}{own:>7}{own_style:#}"
            ));
            18
        };
        text.push_str(&format!("  {:>width$}  ", labels::cost(unit, node.inclusive.weight)));
        let used = used + width + 4 + line.indent.chars().count();
        let (name, module) = match node.label {
            CallLabel::Truncated => ("[truncated]".to_owned(), String::new()),
            CallLabel::Function(id) => match tree.functions.rows.get(id) {
                Some(it) => {
                    (labels::marked(profile, it, marks), labels::module(profile, it.module))
                }
                None => ("[unknown]".to_owned(), String::new()),
            },
        };
        let room = self.look.left(used);
        let name = labels::cut(&name, room);
        let faint = self.look.faint();
        text.push_str(&format!("{faint}{}{faint:#}{name}", line.indent));
        // The module stands there where it has room.
        let wanted = name.chars().count() + module.chars().count() + 2;
        if !module.is_empty() && room.is_none_or(|room| wanted <= room) {
            text.push_str(&format!("  {faint}{module}{faint:#}"));
        }
        text.push('\n');
    }
}
