//! The call tree as indented lines. An only child has the same indentation as its parent, so that deep stacks remain
//! readable.

use std::cmp::Reverse;
use std::io;

use options::{TopFormat, Weight};
use profile::Profile;
use profile::query::WeightUnit;
use profile::query::engine::{
    CallLabel, EventChoice, Filter, Index, Selection, TreeRow, TreeShape, tree,
};

use super::labels;
use super::look::ConsoleLook;
use super::short_names::ShortNames;
use super::top_waits::parts;
use super::tree_rows::TreeRows;
use crate::printer::Printer;
use crate::render::numbers::share;
use crate::render::width::{columns, cut_middle, cut_start, wrapped_text};

/// Prints the call tree.
#[derive(Debug)]
pub struct TreeTable {
    /// Whether inlined functions are separate functions.
    pub inlines: bool,
    /// Weight of a sample.
    pub weight: Weight,
    /// Whether the innermost functions are the roots, with their callers below them.
    pub bottom_up: bool,
    /// Whether stacks without their root are shown unchanged, instead of under one `[truncated]`.
    pub keep_unrooted: bool,
    /// Share of the total, from 0 to 1, below which branches are omitted.
    pub min_share: f64,
    /// Maximum number of lines; 0 for all.
    pub limit: usize,
    /// Output format, for people or for programs.
    pub format: TopFormat,
    /// Appearance of the table.
    pub look: ConsoleLook,
}

impl Printer for TreeTable {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let index = Index::new(profile, self.inlines);
        let (event, filter) = (EventChoice::First, Filter::default());
        let selection = Selection::new(profile, &index, self.weight, &event, &filter);
        let selection = selection.map_err(io::Error::other)?;
        let total = selection.total();
        let shape = TreeShape {
            inverted: self.bottom_up,
            truncated: !self.keep_unrooted,
            depth: None,
            least: (self.min_share * total.weight as f64).ceil() as u64,
            most: usize::MAX,
        };
        let (rows, _) = tree(&selection, shape);
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let lines = lines(&rows);
        if self.format != TopFormat::Text {
            return self.print_rows(&selection, (&lines, limit), profile, out);
        }
        let unit = selection.weights().unit();
        let width = labels::cost(unit, total.weight).chars().count().max(7);
        let mut counted = labels::what_is_counted(profile, selection.weights(), total);
        counted.push_str(&parts(&selection));
        let mut text = wrapped_text(&counted, self.look.width, 2);
        text.push('\n');
        let heading = self.look.heading();
        let unit_name = labels::unit(unit);
        if !rows.is_empty() {
            let shares = if self.bottom_up {
                format!("{:>7}", "share")
            } else {
                format!("{:>9}  {:>7}", "inclusive", "own")
            };
            let what = if self.bottom_up { "function and its callers" } else { "function" };
            let head = format!("{shares}  {unit_name:>width$}  {what}");
            text.push_str(&format!("{heading}{head}{heading:#}\n"));
        }
        let name = |row: &TreeRow| match row.label {
            CallLabel::Function(id) => selection.function(id).name,
            CallLabel::Truncated => None,
        };
        let shown = lines.iter().take(limit).map(|line| name(line.node));
        let names = match self.look.short_names {
            true => ShortNames::new(profile, shown, rows.iter().map(name)),
            false => ShortNames::default(),
        };
        let columns = TreeContext { profile, selection: &selection, names, unit, width };
        for line in lines.iter().take(limit) {
            self.line(&columns, line, &mut text);
        }
        if let Some(rest) = lines.len().checked_sub(limit).filter(|&rest| rest > 0) {
            text.push_str(&self.look.more("", rest, "more line"));
        }
        out.write_all(text.as_bytes())
    }
}

/// A node with the text before its name.
struct TreeLine<'r> {
    node: &'r TreeRow,
    /// Index of the node.
    at: usize,
    indent: String,
}

/// Data that all lines share.
struct TreeContext<'s> {
    profile: &'s Profile,
    selection: &'s Selection<'s>,
    names: ShortNames,
    unit: WeightUnit,
    /// Width of the cost column, in characters.
    width: usize,
}

/// Returns all nodes in the order of lines, with siblings sorted by decreasing cost.
fn lines(rows: &[TreeRow]) -> Vec<TreeLine<'_>> {
    let mut roots = Vec::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    for (at, row) in rows.iter().enumerate() {
        match row.parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(at),
            None => roots.push(at),
        }
    }
    let cost = |&at: &usize| Reverse(rows.get(at).map_or(0, |row| row.inclusive.weight));
    for siblings in children.iter_mut().chain([&mut roots]) {
        siblings.sort_by_key(cost);
    }
    let mut lines = Vec::with_capacity(rows.len());
    // A node, the indentation of its line, and the indentation of the lines below it.
    let mut pending: Vec<(usize, String, String)> =
        roots.iter().rev().map(|&root| (root, String::new(), String::new())).collect();
    while let Some((at, indent, below)) = pending.pop() {
        match children.get(at).map_or(&[][..], Vec::as_slice) {
            [only] => pending.push((*only, format!("{below}└ "), below.clone())),
            children => {
                for (position, &child) in children.iter().enumerate().rev() {
                    let (mark, bar) = if position + 1 == children.len() {
                        ("└─ ", "   ")
                    } else {
                        ("├─ ", "│  ")
                    };
                    pending.push((child, format!("{below}{mark}"), format!("{below}{bar}")));
                }
            }
        }
        lines.extend(rows.get(at).map(|node| TreeLine { node, at, indent }));
    }
    lines
}

impl TreeTable {
    /// Prints the nodes for programs. Parents become the numbers of their rows.
    fn print_rows(
        &self,
        selection: &Selection<'_>,
        (lines, shown): (&[TreeLine<'_>], usize),
        profile: &Profile,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let mut numbers = vec![None; lines.len()];
        for (number, line) in lines.iter().enumerate() {
            if let Some(slot) = numbers.get_mut(line.at) {
                *slot = Some(number);
            }
        }
        let parent = |node: &TreeRow| numbers.get(node.parent?).copied().flatten();
        let nodes = lines.iter().map(|line| (line.node, parent(line.node))).collect();
        let rows = TreeRows { profile, selection, bottom_up: self.bottom_up, nodes, shown };
        match self.format {
            TopFormat::Csv => rows.csv(out),
            _ => rows.json(out),
        }
    }

    fn line(&self, context: &TreeContext<'_>, line: &TreeLine<'_>, text: &mut String) {
        let &TreeContext { profile, selection, ref names, unit, width } = context;
        let node = line.node;
        let total = selection.total().weight;
        let inclusive = share(node.inclusive.weight, total);
        let style = self.look.share(node.inclusive.weight, total);
        let used = if self.bottom_up {
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
        let used = used + width + 4;
        // Deep branches would leave no room for names: the outer part of their indentation is omitted.
        let indent = self.look.remaining(used).map_or_else(
            || line.indent.clone(),
            |room| cut_start(&line.indent, room.saturating_sub(ConsoleLook::LEAST_NAME)),
        );
        let used = used + columns(&indent);
        let (name, module) = match node.label {
            CallLabel::Truncated => ("[truncated]".to_owned(), String::new()),
            CallLabel::Function(id) => {
                let it = selection.function(id);
                let module = labels::module(profile, it.module);
                (labels::marked(profile, &it, selection.marks(), names), module)
            }
        };
        let room = self.look.remaining(used);
        let name = cut_middle(&name, room);
        let faint = self.look.faint();
        text.push_str(&format!("{faint}{indent}{faint:#}{name}"));
        // The module is shown only if it fits.
        let wanted = columns(&name) + columns(&module) + 2;
        if !module.is_empty() && room.is_none_or(|room| wanted <= room) {
            text.push_str(&format!("  {faint}{module}{faint:#}"));
        }
        text.push('\n');
    }
}
