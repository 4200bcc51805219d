//! Stacks and their components: locations, functions, mappings.

use profile::query::functions;
use profile::{FrameId, FrameRow, InlineRow, Profile, StackId, StackRow, Table};

use super::dictionary::{AttributeValue, Dictionary};
use crate::render::code_ranges::{CodeRangeId, CodeRanges};
use crate::render::encoding::protobuf::ProtoMessage;

/// Indexes of the profile's rows in the dictionary; 0 for rows that are not in it yet.
#[derive(Debug)]
pub(super) struct LocationEncoder<'a> {
    profile: &'a Profile,
    inlines: bool,
    ranges: CodeRanges,
    mappings: Table<CodeRangeId, u64>,
    frames: Table<FrameId, u64>,
    stacks: Table<StackId, u64>,
}

impl<'a> LocationEncoder<'a> {
    pub(super) fn new(profile: &'a Profile, inlines: bool) -> Self {
        let ranges = CodeRanges::new(profile);
        let mappings = Table::from_vec(vec![0; ranges.rows.len()]);
        let frames = Table::from_vec(vec![0; profile.frames.len()]);
        let stacks = Table::from_vec(vec![0; profile.stacks.len()]);
        Self { profile, inlines, ranges, mappings, frames, stacks }
    }

    /// Returns the index of a stack: its locations, innermost first. 0 is the empty stack.
    pub(super) fn stack(&mut self, stack: Option<StackId>, to: &mut Dictionary) -> u64 {
        let Some(id) = stack else { return 0 };
        if let Some(&known @ 1..) = self.stacks.get(id) {
            return known;
        }
        let mut locations = Vec::new();
        let mut next = stack;
        while let Some(node) = next
            && let Some(&StackRow { parent, frame }) = self.profile.stacks.get(node)
        {
            locations.push(self.location(frame, to));
            // Parents precede their children. An inconsistent table ends the stack instead of causing a loop.
            next = parent.filter(|&parent| parent < node);
        }
        let mut row = ProtoMessage::default();
        row.packed(1, locations.iter().copied());
        let index = to.stacks.index(row.bytes());
        if let Some(known) = self.stacks.get_mut(id) {
            *known = index;
        }
        index
    }

    /// Returns the index of a location: an address, and the evidence for the frame.
    fn location(&mut self, id: FrameId, to: &mut Dictionary) -> u64 {
        if let Some(&known @ 1..) = self.frames.get(id) {
            return known;
        }
        let profile = self.profile;
        let Some(&FrameRow { location, found_by, kernel, .. }) = profile.frames.get(id) else {
            return 0;
        };
        let Some(location_row) = profile.locations.get(location) else { return 0 };
        let mut row = ProtoMessage::default();
        let range = self.ranges.of_location.get(location).copied().flatten();
        row.number(1, range.map_or(0, |range| self.mapping(range, to)));
        row.number(2, location_row.relative);
        let lines = functions(profile, location_row, self.inlines);
        if lines.iter().any(|line| line.function.is_some()) {
            for line in lines {
                row.message(3, &self.line(line, to));
            }
        }
        let kind: &[u8] = if kernel { b"kernel" } else { b"native" };
        let attributes = [
            to.attribute("profile.frame.type", AttributeValue::Text(kind)),
            to.attribute(
                "unwind_perf.found_by",
                AttributeValue::Text(found_by.as_str().as_bytes()),
            ),
        ];
        row.packed(4, attributes.into_iter());
        let index = to.locations.index(row.bytes());
        if let Some(known) = self.frames.get_mut(id) {
            *known = index;
        }
        index
    }

    fn line(&self, line: &InlineRow, to: &mut Dictionary) -> ProtoMessage {
        let strings = &self.profile.strings;
        let mut function = ProtoMessage::default();
        let name = line.function.map_or(b"[unknown]".as_slice(), |name| strings.get(name));
        function.number(1, to.string(name));
        function.number(3, line.file.map_or(0, |file| to.string(strings.get(file))));
        let mut row = ProtoMessage::default();
        row.number(1, to.functions.index(function.bytes()));
        row.number(2, line.line.into());
        row.number(3, line.column.into());
        row
    }

    /// Returns the index of a mapping: a part of a module, in stated addresses.
    fn mapping(&mut self, id: CodeRangeId, to: &mut Dictionary) -> u64 {
        if let Some(&known @ 1..) = self.mappings.get(id) {
            return known;
        }
        let Some(range) = self.ranges.rows.get(id) else { return 0 };
        let mut row = ProtoMessage::default();
        row.number(1, range.start());
        row.number(2, range.end());
        row.number(3, range.file_offset());
        if let Some(module) = self.profile.modules.get(range.module) {
            row.number(4, to.string(self.profile.strings.get(module.path)));
            let build_id = module.build_id.map(|id| {
                let text = id.to_string();
                to.attribute(
                    "process.executable.build_id.gnu",
                    AttributeValue::Text(text.as_bytes()),
                )
            });
            row.packed(5, build_id.into_iter());
        }
        let index = to.mappings.index(row.bytes());
        if let Some(known) = self.mappings.get_mut(id) {
            *known = index;
        }
        index
    }
}
