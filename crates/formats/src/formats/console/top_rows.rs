//! The table of the highest costs for programs, as JSON or CSV.
//!
//! ```text
//!   {"schema":"unwind-perf.top","version":1,"by":"function",…,"rows":[
//!   {"function":"hash","mark":"a.c","module":"/bin/app","own_samples":7,…,"inclusive_share":0.35},
//!
//!   function,mark,module,own_samples,own,own_share,inclusive_samples,inclusive,inclusive_share
//!   hash,a.c,/bin/app,7,…
//! ```

use std::io;

use hashbrown::HashMap;
use profile::WaitKind;
use profile::query::engine::{RowKey, TableRow, WaitCosts, all_waits};
use profile::query::event_name;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::row_keys::{Cell, RowKeys, text_of};

/// The table with its column names.
pub(super) struct TopRows<'a> {
    pub(super) keys: &'a RowKeys<'a>,
    pub(super) rows: &'a [TableRow],
    /// Own costs by kind of wait, for times off the processor.
    pub(super) waits: Option<&'a HashMap<RowKey, WaitCosts>>,
    /// True if times off the processor are counted.
    pub(super) is_off_cpu: bool,
    /// Number of rows to show.
    pub(super) shown: usize,
}

/// A row as a JSON object, in the order of the columns.
struct JsonRow<'c> {
    columns: &'c [&'static str],
    cells: Vec<Cell>,
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(&self.cells) {
            map.serialize_entry(column, cell)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Document<'c> {
    schema: &'static str,
    version: u32,
    by: &'c str,
    /// Unit of `own`, `inclusive` and `total`: samples, nanoseconds or events.
    unit: &'static str,
    /// The event of the counted samples; null if all events are counted.
    event: Option<String>,
    samples: u64,
    total: u64,
    /// Part of the total that is not a wait, for times off the processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    preempted: Option<u64>,
    rows: Vec<JsonRow<'c>>,
    /// Number of omitted rows.
    left_out: usize,
}

impl TopRows<'_> {
    /// Prints a JSON object and a line feed.
    pub(super) fn json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let columns = self.columns();
        let (weights, total) = (self.keys.selection.weights(), self.keys.selection.total());
        let event = weights.event().map(|event| text_of(event_name(self.keys.profile, event)));
        let rows = self.rows.iter().take(self.shown);
        let document = Document {
            schema: "unwind-perf.top",
            version: 1,
            by: self.keys.by.as_str(),
            unit: weights.unit().as_str(),
            event,
            samples: total.samples,
            total: total.weight,
            preempted: self
                .is_off_cpu
                .then(|| all_waits(self.keys.selection).of(WaitKind::Preempted)),
            rows: rows.map(|row| JsonRow { columns: &columns, cells: self.cells(row) }).collect(),
            left_out: self.rows.len().saturating_sub(self.shown),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        out.write_all(b"\n")
    }

    /// Prints CSV with a header.
    ///
    /// Source: RFC 4180, with line feeds.
    pub(super) fn csv(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns())?;
        for row in self.rows.iter().take(self.shown) {
            let fields = self.cells(row).into_iter().map(|cell| match cell {
                Cell::Text(text) => text,
                Cell::Number(number) => number.to_string(),
                Cell::Count(count) => count.to_string(),
                Cell::Share(share) => format!("{share:.6}"),
                Cell::Null => String::new(),
            });
            writer.write_record(fields)?;
        }
        writer.flush()
    }

    fn columns(&self) -> Vec<&'static str> {
        let costs = ["own_samples", "own", "own_share"];
        let inclusive = ["inclusive_samples", "inclusive", "inclusive_share"];
        let waits = self.waits.map_or(&[][..], |_| &["own_preempted", "own_wait"]);
        let of_key = self.keys.columns().iter().chain(&costs).chain(&inclusive).chain(waits);
        of_key.copied().collect()
    }

    fn cells(&self, row: &TableRow) -> Vec<Cell> {
        let mut cells = self.keys.cells(row.key);
        for cost in [row.own, row.inclusive] {
            let share = cost.weight as f64 / self.keys.selection.total().weight.max(1) as f64;
            cells.extend([Cell::Count(cost.samples), Cell::Count(cost.weight), Cell::Share(share)]);
        }
        if let Some(waits) = self.waits {
            let costs = waits.get(&row.key).copied().unwrap_or_default();
            let kind = costs.most().map(|kind| Cell::Text(kind.to_string()));
            cells.push(Cell::Count(costs.of(WaitKind::Preempted)));
            cells.push(kind.unwrap_or(Cell::Null));
        }
        cells
    }
}
