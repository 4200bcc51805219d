//! The columns of the page: what they are called, how wide they are, and their bytes.

use std::io;

use profile::{EventId, Profile, Table};

use super::tree::{NodeId, PageTree, PlaceId};

/// What stands for "none" in columns of numbers. `data/columns.js` has the same.
pub(crate) const NONE: u32 = u32::MAX;

/// Bytes of a column that are collected before they are compressed.
const FLUSH_SIZE: usize = 1 << 16;

/// How many bytes a number of a column takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    U8,
    U16,
    U32,
    F64,
}

impl Width {
    /// The name that the page knows.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::F64 => "f64",
        }
    }

    /// What holds numbers below a limit.
    const fn of(limit: usize) -> Self {
        match limit {
            0..=0x100 => Self::U8,
            0x101..=0x1_0000 => Self::U16,
            _ => Self::U32,
        }
    }
}

/// A column: its name, its width, and how many numbers it has.
pub(super) type Shape = (&'static str, Width, usize);

/// How the columns of samples are stated.
pub(super) struct PageColumns {
    /// All columns, in order.
    pub(super) shapes: Vec<Shape>,
    /// The first sample's time, in nanoseconds of the recording's clock.
    pub(super) origin: u64,
    /// Nanoseconds of a unit of time: the whole recording fits into 32 bits.
    pub(super) unit: u64,
    /// By event: the period that all its samples have; `None` where they differ or have none.
    pub(super) fixed: Table<EventId, Option<u64>>,
    periods: bool,
}

impl PageColumns {
    pub(super) fn new(profile: &Profile, tree: &PageTree) -> Self {
        let times = || profile.samples.iter().filter_map(|sample| sample.time()).map(|time| time.0);
        let (origin, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        // One less than what stands for no end.
        let unit = ((last - origin) / (u64::from(u32::MAX) - 2)) + 1;
        let (fixed, periods) = fixed_periods(profile);
        let (nodes, leaves, n) = (tree.nodes.len(), tree.leaves.len(), profile.samples.len());
        let places = tree.places.len();
        let mut shapes = vec![
            ("parent", Width::U32, nodes),
            ("func", Width::U32, nodes),
            ("line", Width::U32, nodes),
            ("flags", Width::U8, nodes),
            ("leafNode", Width::U32, leaves),
            ("leafPlace", Width::U32, leaves),
            ("leafEnd", Width::U8, leaves),
            ("placeLow", Width::U32, places),
            ("placeHigh", Width::U32, places),
            ("time", Width::U32, n),
            ("thread", Width::of(profile.threads.len()), n),
            ("leaf", Width::U32, n),
            ("event", Width::of(profile.events.len()), n),
        ];
        if periods {
            shapes.push(("period", Width::F64, n));
        }
        Self { shapes, origin, unit, fixed, periods }
    }

    fn width(&self, name: &str) -> Width {
        let shape = self.shapes.iter().find(|shape| shape.0 == name);
        shape.map_or(Width::U32, |shape| shape.1)
    }

    /// The columns, in the order of the head, each filled up to 8 bytes.
    pub(super) fn write(
        &self,
        profile: &Profile,
        tree: &PageTree,
        sink: &mut dyn io::Write,
    ) -> io::Result<()> {
        let nodes = &tree.nodes;
        let node = |id: Option<NodeId>| u64::from(id.map_or(NONE, NodeId::as_u32));
        let place = |id: Option<PlaceId>| u64::from(id.map_or(NONE, PlaceId::as_u32));
        column(sink, Width::U32, nodes.iter().map(|row| node(row.parent)))?;
        column(sink, Width::U32, nodes.iter().map(|row| u64::from(row.function.as_u32())))?;
        column(sink, Width::U32, nodes.iter().map(|row| u64::from(row.line)))?;
        column(sink, Width::U8, nodes.iter().map(|row| u64::from(row.flags)))?;
        column(sink, Width::U32, tree.leaves.iter().map(|leaf| node(leaf.node)))?;
        column(sink, Width::U32, tree.leaves.iter().map(|leaf| place(leaf.place)))?;
        column(sink, Width::U8, tree.leaves.iter().map(|leaf| leaf.end as u64))?;
        column(sink, Width::U32, tree.places.iter().map(|address| address & u64::from(NONE)))?;
        column(sink, Width::U32, tree.places.iter().map(|address| address >> 32))?;
        let samples = &profile.samples;
        let mut before = 0;
        let deltas = samples.iter().map(|sample| {
            let now = sample.time().map_or(before, |time| (time.0 - self.origin) / self.unit);
            let now = now.max(before);
            std::mem::replace(&mut before, now).abs_diff(now)
        });
        column(sink, Width::U32, deltas)?;
        let threads = samples.iter().map(|sample| u64::from(sample.thread.as_u32()));
        column(sink, self.width("thread"), threads)?;
        column(sink, Width::U32, tree.of_sample.iter().map(|leaf| u64::from(leaf.as_u32())))?;
        let events = samples.iter().map(|sample| u64::from(sample.event.as_u32()));
        column(sink, self.width("event"), events)?;
        if self.periods {
            let periods = samples.iter().map(|sample| sample.period().unwrap_or(1) as f64);
            column(sink, Width::F64, periods.map(f64::to_bits))?;
        }
        Ok(())
    }
}

/// By event: the period of all its samples; and whether periods of any event differ. A sample without one counts 1.
fn fixed_periods(profile: &Profile) -> (Table<EventId, Option<u64>>, bool) {
    let mut fixed: Table<EventId, Option<u64>> = Table::from_vec(vec![None; profile.events.len()]);
    for sample in &profile.samples {
        if let (Some(period), Some(known @ None)) = (sample.period(), fixed.get_mut(sample.event)) {
            *known = Some(period);
        }
    }
    let differ = profile.samples.iter().any(|sample| {
        let known = fixed.get(sample.event).copied().flatten();
        known.is_some() && known != sample.period()
    });
    if differ {
        fixed.iter_mut().for_each(|known| *known = None);
    }
    (fixed, differ)
}

/// Writes a column: the low bytes of each number, the lowest first.
pub(crate) fn column(
    sink: &mut dyn io::Write,
    width: Width,
    values: impl Iterator<Item = u64>,
) -> io::Result<()> {
    let size = match width {
        Width::U8 => 1,
        Width::U16 => 2,
        Width::U32 => 4,
        Width::F64 => 8,
    };
    let mut bytes = Vec::with_capacity(FLUSH_SIZE + 8);
    let mut length = 0;
    for value in values {
        bytes.extend_from_slice(value.to_le_bytes().get(..size).unwrap_or_default());
        length += size;
        if bytes.len() >= FLUSH_SIZE {
            sink.write_all(&bytes)?;
            bytes.clear();
        }
    }
    bytes.resize(bytes.len() + (8 - length % 8) % 8, 0);
    sink.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be_and_filled_up() {
        let widths = [0, 256, 257, 65_536, 65_537].map(|limit| Width::of(limit).name());
        assert_eq!(widths, ["u8", "u8", "u16", "u16", "u32"]);
        let mut bytes = Vec::new();
        column(&mut bytes, Width::U16, [1, 0x203, 0x1_0004].into_iter()).unwrap();
        assert_eq!(bytes, [1, 0, 3, 2, 4, 0, 0, 0]);
    }
}
