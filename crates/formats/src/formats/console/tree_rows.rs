//! The call tree for programs, as JSON or CSV: a row for each node, parents before their children.
//!
//! ```text
//!   {"schema":"unwind-perf.tree","version":1,"bottom_up":false,…,"rows":[
//!   {"parent":null,"depth":0,"function":"main","mark":null,"module":"/bin/app","own_samples":0,…}
//! ```

use std::io;

use profile::Profile;
use profile::query::engine::{CallLabel, Selection, TreeRow};
use profile::query::{Cost, event_name};
use serde::Serialize;

use super::row_keys::text_of;

/// Nodes in the order of their rows.
pub(super) struct TreeRows<'a> {
    pub(super) profile: &'a Profile,
    pub(super) selection: &'a Selection<'a>,
    pub(super) bottom_up: bool,
    /// Each node with the row of its parent.
    pub(super) nodes: Vec<(&'a TreeRow, Option<usize>)>,
    /// Number of rows to show.
    pub(super) shown: usize,
}

#[derive(Serialize)]
struct Row {
    parent: Option<usize>,
    depth: usize,
    /// Null if it is unknown.
    function: Option<String>,
    mark: Option<String>,
    module: Option<String>,
    own_samples: u64,
    own: u64,
    own_share: f64,
    inclusive_samples: u64,
    inclusive: u64,
    inclusive_share: f64,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    version: u32,
    bottom_up: bool,
    /// Unit of `own`, `inclusive` and `total`: samples, nanoseconds or events.
    unit: &'static str,
    /// The event of the counted samples.
    event: Option<String>,
    samples: u64,
    total: u64,
    rows: Vec<Row>,
    /// Number of omitted rows.
    left_out: usize,
}

impl TreeRows<'_> {
    /// Prints a JSON object and a line feed.
    pub(super) fn json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let (weights, total) = (self.selection.weights(), self.selection.total());
        let document = Document {
            schema: "unwind-perf.tree",
            version: 1,
            bottom_up: self.bottom_up,
            unit: weights.unit().as_str(),
            event: weights.event().map(|event| text_of(event_name(self.profile, event))),
            samples: total.samples,
            total: total.weight,
            rows: self.rows().collect(),
            left_out: self.nodes.len().saturating_sub(self.shown),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        out.write_all(b"\n")
    }

    /// Prints CSV with a header.
    ///
    /// Source: RFC 4180, with line feeds.
    pub(super) fn csv(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        for row in self.rows() {
            writer.serialize(row).map_err(io::Error::other)?;
        }
        writer.flush()
    }

    fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        self.nodes.iter().take(self.shown).map(|&(node, parent)| self.row(node, parent))
    }

    fn row(&self, node: &TreeRow, parent: Option<usize>) -> Row {
        let text = |id| text_of(self.profile.strings.get(id));
        let (function, mark, module) = match node.label {
            CallLabel::Truncated => (Some("[truncated]".to_owned()), None, None),
            CallLabel::Function(id) => {
                let it = self.selection.function(id);
                let mark = self.selection.marks().of(&it).map(str::to_owned);
                (it.name.map(text), mark, it.module.map(text))
            }
        };
        let total = self.selection.total().weight.max(1) as f64;
        let share = |cost: Cost| cost.weight as f64 / total;
        let (own, inclusive) = (node.own, node.inclusive);
        Row {
            parent,
            depth: node.depth,
            function,
            mark,
            module,
            own_samples: own.samples,
            own: own.weight,
            own_share: share(own),
            inclusive_samples: inclusive.samples,
            inclusive: inclusive.weight,
            inclusive_share: share(inclusive),
        }
    }
}
