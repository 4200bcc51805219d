//! The merge: rows of the slices become the tables of the profile, in sample order.

use address::{ById as _, FieldKind};
use perf_data::{FieldColumn, Head, SampleType};
use profile::{
    BranchRow, EdgeId, EdgeRow, EventId, FieldValue, FrameId, LocationId, Profile, RowId as _,
    SampleId, StackId, StackRow,
};

use crate::branches::SliceBranch;
use crate::driver::node_index::NodeIndex;
use crate::redactor::Redactor;
use crate::repair::repaired::RepairedSlice;
use crate::slice::counts::SliceCounts;
use crate::slice::frame_key::FrameKey;
use crate::slice::intern::InternTable;
use crate::slice::layout::{LayoutMerge, Layouts};
use crate::slice::related::SharedMemory;
use crate::values::ValueTexts;

/// Tables that grow slice by slice, and the indexes of their rows.
#[derive(Debug, Default)]
pub(crate) struct MergedTables {
    pub(crate) profile: Profile,
    locations: InternTable<FrameKey, LocationId>,
    frames: InternTable<FrameKey, FrameId>,
    stacks: NodeIndex,
    layouts: Layouts,
    edges: InternTable<EdgeRow, EdgeId>,
    pub(crate) undecoded: u64,
    pub(crate) late_maps: u64,
    pub(crate) shared_memory: SharedMemory,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
    pub(crate) unplaced: u64,
    pub(crate) missing_fields: u64,
    pub(crate) dropped_stacks: u64,
    /// Replaces values by hashes, if requested.
    pub(super) redactor: Option<Redactor>,
}

impl MergedTables {
    /// Returns empty tables. With a key, values are replaced by hashes.
    pub(crate) fn new(key: Option<&str>) -> Self {
        Self { redactor: key.map(Redactor::new), ..Self::default() }
    }

    /// Appends the rows of a slice.
    pub(crate) fn add(&mut self, slice: &RepairedSlice) {
        let frames: Vec<_> = slice.frames.iter().map(|key| self.frame(*key)).collect();
        let mut stacks = Vec::with_capacity(slice.stacks.len());
        for row in &slice.stacks {
            // Invariant of a slice: a row comes after its parent, and its frame exists.
            let Some(&frame) = frames.by_id(row.frame) else { break };
            let parent = row.parent.and_then(|parent| stacks.by_id(parent).copied());
            stacks.push(self.stack(StackRow { parent, frame }));
        }
        let first = self.profile.samples.len();
        let Profile { fields, strings, .. } = &mut self.profile;
        let mut texts = ValueTexts::new(strings, self.redactor.as_ref());
        for value in &slice.values {
            let sample = SampleId::from_index(first + value.sample as usize);
            if let Some((event, text)) = value.as_printed() {
                fields.push_text(event, sample, texts.intern(text));
                continue;
            }
            let column = value.column as usize;
            match value.interned(&mut texts) {
                Ok(value) => fields.push(column, sample, value),
                Err(reason) => fields.push_unlabelled(column, sample, reason),
            }
        }
        self.add_branches(first, slice);
        let mut merging = LayoutMerge::new(&slice.layouts);
        for row in &slice.samples {
            let stack = row.stack.and_then(|stack| stacks.by_id(stack).copied());
            let Profile { samples, layouts, .. } = &mut self.profile;
            let layout = merging.next(row.layout.as_u32(), &mut self.layouts, layouts);
            let mut row = *row;
            (row.stack, row.layout) = (stack, layout);
            samples.push(row);
        }
        self.count(&slice.counts);
    }

    /// Appends the branches of a slice whose first sample has that index.
    fn add_branches(&mut self, first: usize, slice: &RepairedSlice) {
        let table = &mut self.profile.fields.branches;
        for (sample, branches) in slice.branches.iter() {
            let row = |edge, SliceBranch { cycles, outcome, .. }: &SliceBranch| BranchRow {
                edge,
                cycles: *cycles,
                outcome: *outcome,
            };
            let rows: Vec<_> = branches
                .iter()
                .map(|it| row(self.edges.intern(it.edge, || table.edges.push(it.edge)), it))
                .collect();
            table.push(SampleId::from_index(first + sample as usize), rows.into_iter());
        }
    }

    /// Notes the events whose samples have only an address.
    pub(crate) fn note_single(&mut self, head: &Head) {
        for (event, index) in head.events().iter().zip(0..) {
            let has = |field| event.attr.sample_type.has(field);
            if !has(SampleType::CALLCHAIN) && !has(SampleType::STACK_USER) {
                self.profile.fields.branches.add_single(EventId::new(index));
            }
        }
    }

    /// Adds columns for fields.
    pub(crate) fn add_columns(&mut self, columns: &[FieldColumn]) {
        let Profile { fields, strings, .. } = &mut self.profile;
        for column in columns {
            let event = EventId::new(column.event);
            let kind = shown_kind(self.redactor.as_ref(), column.kind);
            fields.add_column(Some(event), strings.intern(&column.name), kind);
        }
    }

    /// Adds columns for labels, which come before those for fields.
    pub(crate) fn add_labels(&mut self, labels: &[(String, FieldKind)]) {
        let Profile { fields, strings, .. } = &mut self.profile;
        for (name, kind) in labels {
            let kind = shown_kind(self.redactor.as_ref(), *kind);
            fields.add_column(None, strings.intern(name.as_bytes()), kind);
        }
    }

    /// Adds columns for variables, which come between those for labels and fields.
    pub(crate) fn add_variables(&mut self, names: &[String]) {
        let Profile { fields, strings, .. } = &mut self.profile;
        for name in names {
            fields.add_variable(strings.intern(name.as_bytes()));
        }
    }

    /// Sets the types of the columns of variables.
    pub(crate) fn settle_variables(&mut self) {
        let Profile { fields, strings, .. } = &mut self.profile;
        fields.settle_variables(|value| match value {
            FieldValue::Signed(number) => {
                FieldValue::Text(strings.intern(number.to_string().as_bytes()))
            }
            FieldValue::Unsigned(number) => {
                FieldValue::Text(strings.intern(number.to_string().as_bytes()))
            }
            FieldValue::Text(_) | FieldValue::List(_) => value,
        });
    }

    fn count(&mut self, slice: &SliceCounts) {
        let summary = &mut self.profile.summary;
        summary.frames += slice.n_frames;
        summary.stack_needs.add(&slice.needs);
        self.undecoded += slice.undecoded;
        self.late_maps += slice.late_maps;
        self.shared_memory.add(slice.shared_memory);
        self.cache_hits += slice.cache_hits;
        self.cache_misses += slice.cache_misses;
        self.unplaced += slice.unplaced;
        self.missing_fields += slice.missing_fields;
        self.dropped_stacks += slice.dropped_stacks;
    }

    #[inline]
    fn stack(&mut self, row: StackRow) -> StackId {
        self.stacks.intern(row, &mut self.profile.stacks)
    }

    #[inline]
    fn frame(&mut self, key: FrameKey) -> FrameId {
        let Profile { locations, frames, .. } = &mut self.profile;
        self.frames.intern(key, || {
            let add = || locations.push(key.location());
            let location = self.locations.intern(key.of_location(), add);
            frames.push(key.frame(location))
        })
    }

    /// Empties the tables; the counters keep their values, except `unplaced`.
    pub(crate) fn reset(&mut self) {
        let Self { undecoded, late_maps, shared_memory, cache_hits, cache_misses, .. } = *self;
        let (missing_fields, dropped_stacks) = (self.missing_fields, self.dropped_stacks);
        *self = Self {
            undecoded,
            late_maps,
            shared_memory,
            cache_hits,
            cache_misses,
            missing_fields,
            dropped_stacks,
            redactor: self.redactor.take(),
            ..Self::default()
        };
    }

    /// Size of the tables, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.locations.heap_bytes()
            + self.frames.heap_bytes()
            + self.stacks.heap_bytes()
            + self.edges.heap_bytes()
            + self.profile.heap_bytes()
    }
}

/// Returns the type of the values of a column; hashes are text.
fn shown_kind(redactor: Option<&Redactor>, kind: FieldKind) -> FieldKind {
    if redactor.is_some() { FieldKind::Text } else { kind }
}
