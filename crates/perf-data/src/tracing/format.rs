//! Format of a tracepoint: the fields of its raw data, according to the kernel's description, and their values.
//!
//! ```text
//!   name: sched_switch
//!   ID: 372
//!   format:
//!    field:unsigned short common_type; offset:0; size:2; signed:0;      the common fields, an empty line
//!
//!    field:char prev_comm[16]; offset:8; size:16; signed:0;
//!    field:__data_loc char[] name; offset:24; size:4; signed:0;
//!   print fmt: …
//! ```
//!
//! Source: `kernel/trace/trace_events.c`, `f_show`;
//! `include/trace/stages/stage2_data_offsets.h` for fields of varying length.
//! Such a field is a word: the upper half is the length of the value, the lower half its offset
//! in the data, or (`__rel_loc`) after the word.

use crate::bytes::{Endian, FieldReader};

/// Maximum number of values of an array that are decoded. Tracepoints have a few.
const MOST_VALUES: usize = 1 << 10;

/// Layout of the raw data of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFormat<'d> {
    /// Subsystem, such as `sched`.
    pub system: &'d [u8],
    /// Tracepoint in the subsystem, such as `sched_switch`.
    pub name: &'d [u8],
    /// Fields in their order, without the common ones (`common_…`) and those that overlap others.
    pub fields: Vec<TraceField<'d>>,
    /// Number of fields omitted because they overlap others. The kernel has none; each would repeat the same bytes.
    pub overlapping: usize,
    /// Text after `print fmt:`, from which [`super::PrintFormat`] is parsed; empty if there is none.
    pub print: &'d [u8],
}

/// A field of a tracepoint's raw data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceField<'d> {
    /// Name.
    pub name: &'d [u8],
    /// Kind of value, from the C type, such as `char[]` or `unsigned long`.
    pub kind: TraceKind,
    /// Offset in the raw data, in bytes.
    pub offset: usize,
    /// Size in the raw data, in bytes.
    pub size: usize,
    /// True if its numbers are signed.
    pub signed: bool,
    /// Size of one number in bytes; for other than arrays, the size of the field.
    pub element: usize,
}

/// Storage of a field in the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceKind {
    /// One number.
    Number,
    /// Characters.
    Text,
    /// Several numbers.
    Array,
    /// Text (true) or numbers elsewhere in the data, at an offset from its start.
    Located(bool),
    /// Text (true) or numbers elsewhere in the data, at an offset from the end of the field.
    Relative(bool),
}

/// Value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceValue<'d> {
    /// A signed number and its size in bytes.
    Signed(i64, usize),
    /// An unsigned number and its size in bytes.
    Unsigned(u64, usize),
    /// Text; includes bytes after a NUL.
    Text(&'d [u8]),
    /// Several numbers.
    List(Vec<Self>),
}

/// Maximum number of empty fields retained; tracepoints have one, for the data that follows.
const MOST_EMPTY: usize = 16;

impl<'d> TraceFormat<'d> {
    /// Parses the text of a format; returns it with its id. Malformed lines are skipped.
    pub(crate) fn parse(system: &'d [u8], text: &'d [u8]) -> Option<(u64, Self)> {
        let mut format = Self { system, name: &[], fields: Vec::new(), overlapping: 0, print: &[] };
        let mut id = None;
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            let (line, after) = rest.split_at_checked(end)?;
            if let Some(name) = line.strip_prefix(b"name: ") {
                format.name = name.trim_ascii();
            } else if let Some(number) = line.strip_prefix(b"ID: ") {
                id = number_of(number);
            } else if let Some(field) = line.trim_ascii_start().strip_prefix(b"field:") {
                let field = TraceField::parse(field);
                format.fields.extend(field.filter(|field| !field.name.starts_with(b"common_")));
            } else if let Some(print) = rest.strip_prefix(b"print fmt:") {
                format.print = print;
                break;
            }
            rest = after.get(1..).unwrap_or_default();
        }
        format.leave_out_overlapping();
        id.map(|id| (id, format))
    }

    fn leave_out_overlapping(&mut self) {
        let mut order: Vec<usize> = (0..self.fields.len()).collect();
        let place = |&at: &usize| self.fields.get(at).map(|field| (field.offset, at));
        order.sort_by_key(place);
        let (mut end, mut empty) = (0, 0);
        let mut keep = vec![false; self.fields.len()];
        for at in order {
            let (Some(field), Some(keep)) = (self.fields.get(at), keep.get_mut(at)) else {
                continue;
            };
            if field.size == 0 {
                empty += 1;
                *keep = empty <= MOST_EMPTY;
            } else if field.offset >= end {
                end = field.offset.saturating_add(field.size);
                *keep = true;
            }
        }
        let all = self.fields.len();
        let mut keep = keep.into_iter();
        self.fields.retain(|_| keep.next() == Some(true));
        self.overlapping = all - self.fields.len();
    }

    /// Returns the values of the fields in the raw data of a sample. Fields outside of the data are omitted.
    /// Fields of varying length are omitted once their total size exceeds the size of the data.
    pub fn values<'r>(
        &self,
        raw: &'r [u8],
        endian: Endian,
    ) -> impl Iterator<Item = (&'d [u8], TraceValue<'r>)> {
        let mut room = raw.len();
        self.fields.iter().filter_map(move |field| {
            let value = field.value(raw, endian)?;
            if field.is_located() {
                room = room.checked_sub(value.bytes(field.element))?;
            }
            Some((field.name, value))
        })
    }
}

impl TraceValue<'_> {
    /// Returns the size of the value in the data; the numbers of a list have `element` bytes each.
    pub(crate) const fn bytes(&self, element: usize) -> usize {
        match self {
            Self::Signed(_, bytes) | Self::Unsigned(_, bytes) => *bytes,
            Self::Text(text) => text.len(),
            Self::List(values) => values.len().saturating_mul(element),
        }
    }
}

impl<'d> TraceField<'d> {
    /// Returns true if the value is elsewhere in the data, where other fields can have theirs.
    pub(crate) const fn is_located(&self) -> bool {
        matches!(self.kind, TraceKind::Located(_) | TraceKind::Relative(_))
    }

    /// Creates a field for a signed number of `size` bytes at an offset.
    pub(crate) const fn number_at(offset: usize, size: usize) -> Self {
        Self { name: &[], kind: TraceKind::Number, offset, size, signed: true, element: size }
    }

    /// Parses a line after `field:`.
    fn parse(line: &'d [u8]) -> Option<Self> {
        let mut parts = line.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let declaration = parts.next()?;
        let (mut offset, mut size, mut signed) = (None, None, false);
        for part in parts {
            if let Some(number) = part.strip_prefix(b"offset:") {
                offset = number_of(number);
            } else if let Some(number) = part.strip_prefix(b"size:") {
                size = number_of(number);
            } else if let Some(number) = part.strip_prefix(b"signed:") {
                signed = number_of(number)? != 0;
            }
        }
        let offset = usize::try_from(offset?).ok()?;
        let size = usize::try_from(size?).ok()?;
        // `char prev_comm[16]`, `__data_loc char[] name`, `unsigned long args[6]`, `struct x * p`.
        let (head, array) = match declaration.iter().position(|&byte| byte == b'[') {
            Some(at) => {
                let rest = declaration.get(at + 1..)?;
                let close = rest.iter().position(|&byte| byte == b']')?;
                let count = number_of(rest.get(..close)?);
                let name_after = rest.get(close + 1..)?.trim_ascii();
                (declaration.get(..at)?, Some((count, name_after)))
            }
            None => (declaration, None),
        };
        let (word, location) = [&b"__data_loc "[..], b"__rel_loc "]
            .into_iter()
            .find_map(|word| Some((head.strip_prefix(word)?, Some(word))))
            .unwrap_or((head, None));
        let (kind_text, name) = match array {
            Some((_, name)) if !name.is_empty() => (word.trim_ascii(), name),
            _ => {
                let start = word.iter().rposition(|&b| b == b' ' || b == b'*' || b == b'\t')? + 1;
                (word.get(..start)?.trim_ascii(), word.get(start..)?)
            }
        };
        let text = is_character(kind_text) && (array.is_some() || location.is_some());
        let count = array.and_then(|(count, _)| count).and_then(|n| usize::try_from(n).ok());
        let element = match (location, count) {
            (Some(_), _) => element_size(kind_text),
            (None, Some(count)) if count > 0 => (size / count).max(1),
            // Formats of probes do not state the count: `field:s32 list[]`.
            (None, _) if array.is_some() => element_size(kind_text),
            _ => size,
        };
        let kind = match location {
            Some(b"__data_loc ") => TraceKind::Located(text),
            Some(_) => TraceKind::Relative(text),
            None if text => TraceKind::Text,
            None if array.is_some() => TraceKind::Array,
            None => TraceKind::Number,
        };
        Some(Self { name, kind, offset, size, signed, element })
    }

    /// Returns the bytes of a text or an array in the raw data of a sample; `None` if they are outside.
    pub(crate) fn bytes<'r>(&self, raw: &'r [u8], endian: Endian) -> Option<&'r [u8]> {
        match self.value(raw, endian)? {
            TraceValue::Text(bytes) => Some(bytes),
            _ => raw.get(self.offset..self.offset.checked_add(self.size)?),
        }
    }

    /// Returns the value in the raw data of a sample; `None` if it is outside of them, or of an unsupported size.
    #[must_use]
    pub fn value<'r>(&self, raw: &'r [u8], endian: Endian) -> Option<TraceValue<'r>> {
        let end = self.offset.checked_add(self.size)?;
        let bytes = raw.get(self.offset..end)?;
        let located = |base: usize| {
            let word = FieldReader::new(bytes, endian).u32()?;
            let start = base.checked_add((word & 0xffff) as usize)?;
            raw.get(start..start.checked_add((word >> 16) as usize)?)
        };
        match self.kind {
            TraceKind::Number => self.number(bytes, endian),
            TraceKind::Text => Some(TraceValue::Text(bytes)),
            TraceKind::Array => self.list(bytes, endian),
            TraceKind::Located(true) => Some(TraceValue::Text(located(0)?)),
            TraceKind::Located(false) => self.list(located(0)?, endian),
            TraceKind::Relative(true) => Some(TraceValue::Text(located(end)?)),
            TraceKind::Relative(false) => self.list(located(end)?, endian),
        }
    }

    fn list<'r>(&self, bytes: &[u8], endian: Endian) -> Option<TraceValue<'r>> {
        let numbers = bytes.chunks_exact(self.element.max(1)).take(MOST_VALUES);
        numbers
            .map(|bytes| self.number(bytes, endian))
            .collect::<Option<Vec<_>>>()
            .map(TraceValue::List)
    }

    fn number<'r>(&self, bytes: &[u8], endian: Endian) -> Option<TraceValue<'r>> {
        let mut cursor = FieldReader::new(bytes, endian);
        let (unsigned, signed) = match bytes.len() {
            1 => cursor.u8().map(|value| (value.into(), i64::from(value as i8)))?,
            2 => cursor.u16().map(|value| (value.into(), i64::from(value as i16)))?,
            4 => cursor.u32().map(|value| (value.into(), i64::from(value as i32)))?,
            8 => cursor.u64().map(|value| (value, value as i64))?,
            _ => return None,
        };
        Some(if self.signed {
            TraceValue::Signed(signed, bytes.len())
        } else {
            TraceValue::Unsigned(unsigned, bytes.len())
        })
    }
}

fn number_of(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

fn is_character(kind: &[u8]) -> bool {
    let kind = kind.strip_prefix(b"const ").unwrap_or(kind);
    matches!(kind, b"char" | b"unsigned char" | b"signed char")
}

/// Returns the element size of an array whose length the format does not state, in bytes.
fn element_size(kind: &[u8]) -> usize {
    let has = |word: &[u8]| kind.windows(word.len().max(1)).any(|window| window == word);
    if has(b"64") || has(b"long") || has(b"*") {
        8
    } else if has(b"16") || has(b"short") {
        2
    } else if has(b"u8") || has(b"s8") || has(b"int8") || has(b"char") || has(b"bool") {
        1
    } else {
        4
    }
}
