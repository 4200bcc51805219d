//! A finished profile as bytes, for caches on disk.
//!
//! The bytes are little-endian and not aligned:
//!
//! ```text
//!   version          u32, STORED_VERSION
//!   strings          omitted strings u64, ends [u32], bytes [u8]
//!   recording        fields of RecordingInfo
//!   events           [EventRow]
//!   off-CPU event    event id or 0 u16, whether it is extra u8
//!   modules          [ModuleRow]
//!   inlines          [InlineRow], 25 bytes each
//!   locations        [LocationRow], 39 bytes each
//!   frames           [FrameRow], 7 bytes each
//!   stacks           [StackRow], 8 bytes each
//!   layouts          [[ModuleBias]], 13 bytes each
//!   threads          [ThreadRow]
//!   samples          [SampleRow], 36 bytes each
//!   summary          fields of Summary
//!
//!   [X]              number of values u64, the values
//!   text             [u8]
//!   id               index + 1, 0 for none
//!   optional value   1 and the value, or 0; then zeros if all values have the same size
//!   enum             index in the list of its values u8
//! ```
//!
//! The macro `encoding` next to a type states the order of its fields. A part refers only to rows of parts before it, and
//! a stack to stacks before it.

mod error;
mod parts;
mod sink;
#[cfg(test)]
mod tests;

pub use error::StoredError;

use crate::encoding::RowCounts;
use crate::id::StackId;
use crate::profile::Profile;
use crate::quality::Summary;
use crate::tables::{FieldTable, LocationRow, StackRow, Strings, Table};
use parts::Parts;
use sink::Sink;
use std::io;

/// Version of the layout of stored profiles. It is raised for each change of a field, an enum or an order.
pub const STORED_VERSION: u32 = 1;

impl Profile {
    /// Writes the profile as bytes for [`Self::restore`]. Returns false, and writes nothing, for a profile with
    /// requested fields, labels, spans or branches, which has no stored form.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn store(&self, out: &mut dyn io::Write) -> io::Result<bool> {
        let Self {
            recording,
            strings,
            events,
            off_cpu,
            off_cpu_is_extra,
            modules,
            inlines,
            locations,
            frames,
            stacks,
            layouts,
            threads,
            samples,
            fields,
            summary,
        } = self;
        if *fields != FieldTable::default() {
            return Ok(false);
        }
        let mut sink = Sink::new(out);
        sink.put(&STORED_VERSION)?;
        sink.put(strings)?;
        sink.put(recording)?;
        sink.put_rows(events)?;
        sink.put(off_cpu)?;
        sink.put(off_cpu_is_extra)?;
        sink.put_rows(modules)?;
        sink.put_rows(inlines)?;
        sink.put_rows(locations)?;
        sink.put_rows(frames)?;
        sink.put_rows(stacks)?;
        sink.put_rows(layouts)?;
        sink.put_rows(threads)?;
        sink.put_rows(samples)?;
        sink.put(summary)?;
        Ok(true)
    }

    /// Returns the profile of bytes from [`Self::store`]. All its ids name rows. Other damage can go unnoticed, so the
    /// caller compares a checksum first.
    ///
    /// # Errors
    /// Another version, truncated or invalid bytes, ids without rows, and bytes after the profile.
    pub fn restore(bytes: &[u8]) -> Result<Self, StoredError> {
        let mut parts = Parts::new(bytes);
        let found = parts.next("version")?;
        if found != STORED_VERSION {
            return Err(StoredError::Version { found });
        }
        let strings: Strings = parts.next("strings")?;
        parts.counts.strings = strings.len();
        let recording = parts.next("recording")?;
        let events: Table<_, _> = parts.next("events")?;
        parts.counts.events = events.len();
        let off_cpu = parts.next("off-CPU event")?;
        let off_cpu_is_extra = parts.next("off-CPU event")?;
        let modules: Table<_, _> = parts.next("modules")?;
        parts.counts.modules = modules.len();
        let inlines: Table<_, _> = parts.next("inlines")?;
        parts.counts.inlines = inlines.len() + 1;
        let locations: Table<_, _> = parts.next_if("locations", have_inlines)?;
        parts.counts.locations = locations.len();
        let frames: Table<_, _> = parts.next("frames")?;
        parts.counts.frames = frames.len();
        // Parents are in the same table, which `are_a_tree` checks.
        parts.counts.stacks = usize::MAX;
        let stacks: Table<_, _> = parts.next_if("stacks", are_a_tree)?;
        parts.counts.stacks = stacks.len();
        let layouts: Table<_, _> = parts.next("layouts")?;
        parts.counts.layouts = layouts.len();
        let threads: Table<_, _> = parts.next("threads")?;
        parts.counts.threads = threads.len();
        let samples = parts.next("samples")?;
        let summary = parts.next_if("summary", has_each_event)?;
        parts.finish()?;
        Ok(Self {
            recording,
            strings,
            events,
            off_cpu,
            off_cpu_is_extra,
            modules,
            inlines,
            locations,
            frames,
            stacks,
            layouts,
            threads,
            samples,
            fields: FieldTable::default(),
            summary,
        })
    }
}

/// Returns true if the functions of each location are in the table.
fn have_inlines<I>(locations: &Table<I, LocationRow>, counts: &RowCounts) -> bool {
    locations.iter().all(|location| location.inlines().end < counts.inlines)
}

/// Returns true if each parent precedes its children.
fn are_a_tree(stacks: &Table<StackId, StackRow>, _: &RowCounts) -> bool {
    let mut rows = stacks.iter().enumerate();
    rows.all(|(index, row)| row.parent.is_none_or(|parent| parent.index() < index))
}

/// Returns true if the filter of a summary has the times of each event.
fn has_each_event(summary: &Summary, counts: &RowCounts) -> bool {
    summary.applied_filter.as_ref().is_none_or(|filter| filter.covers(counts.events))
}
