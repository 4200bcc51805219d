//! A document of plain text and columns. The elements of columns are rendered in parallel when the document is written.

use std::io;
use std::ops::Range;

use crate::render::chunks::write_chunks;
use crate::render::encoding::json_writer::JsonWriter;
pub(super) use crate::render::encoding::json_writer::push_string as string;
use crate::render::text::push_hex;
pub(super) use crate::render::text::push_number as number;

/// Elements that a thread renders at a time.
const CHUNK: usize = 1 << 13;

/// Chunks, of some ten kilobytes each, that a thread renders before it waits for the others.
const PER_THREAD: usize = 12;

/// Holds a document until it is written. The caller ensures that it is valid JSON.
#[derive(Default)]
pub(super) struct JsonDocument<'a> {
    columns: Vec<(Vec<u8>, Elements<'a>)>,
    /// Text after the last column.
    pub(super) text: JsonWriter,
}

/// Appends the elements of a range of rows, with commas between them.
type Render<'a> = Box<dyn Fn(Range<usize>, &mut Vec<u8>) + Sync + 'a>;

/// The elements of an array.
struct Elements<'a> {
    length: usize,
    render: Render<'a>,
}

/// A unit of rendering.
enum JsonPart<'d> {
    Text(&'d [u8]),
    Elements(&'d Elements<'d>, Range<usize>),
}

impl<'a> JsonDocument<'a> {
    /// Appends `[…]` with an element for each index below `length`.
    pub(super) fn elements(
        &mut self,
        length: usize,
        element: impl Fn(&mut Vec<u8>, usize) + Sync + 'a,
    ) {
        let render = move |rows: Range<usize>, text: &mut Vec<u8>| {
            for row in rows {
                if row > 0 {
                    text.push(b',');
                }
                element(text, row);
            }
        };
        self.text.text.push(b'[');
        let column = Elements { length, render: Box::new(render) };
        self.columns.push((std::mem::take(&mut self.text).into_bytes(), column));
        self.text.text.push(b']');
    }

    /// Starts a table: `"name":{"length":…`.
    pub(super) fn table(&mut self, name: &str, length: usize) {
        self.text.line().key(name).begin_object();
        self.text.key("length").number(length);
    }

    /// Appends a column of the table: `,"name":[…]`.
    pub(super) fn column<T: Sync>(
        &mut self,
        name: &str,
        rows: &'a [T],
        element: impl Fn(&mut Vec<u8>, &T) + Sync + 'a,
    ) {
        self.text.key(name);
        self.elements(rows.len(), move |text, row| {
            if let Some(row) = rows.get(row) {
                element(text, row);
            }
        });
    }

    /// Ends the table.
    pub(super) fn end_table(&mut self) {
        self.text.end_object();
    }

    /// Writes the whole document.
    pub(super) fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let parts = self.columns.iter().flat_map(|(before, column)| {
            let starts = (0..column.length).step_by(CHUNK);
            let elements = starts.map(move |start| {
                JsonPart::Elements(column, start..column.length.min(start.saturating_add(CHUNK)))
            });
            std::iter::once(JsonPart::Text(before)).chain(elements)
        });
        let parts = parts.chain(std::iter::once(JsonPart::Text(&self.text.text)));
        write_chunks(out, parts, PER_THREAD, |part, text| match part {
            JsonPart::Text(known) => text.extend_from_slice(known),
            JsonPart::Elements(column, rows) => (column.render)(rows.clone(), text),
        })
    }
}

/// Appends a number or `null`.
#[inline]
pub(super) fn number_or_null(
    out: &mut Vec<u8>,
    value: Option<impl itoa::Integer + Copy + TryInto<u64>>,
) {
    match value {
        Some(value) => number(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// Appends `true` or `false`.
#[inline]
pub(super) fn boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends `"0x…"`.
#[inline]
pub(super) fn address(out: &mut Vec<u8>, address: u64) {
    out.extend_from_slice(b"\"0x");
    push_hex(out, address);
    out.push(b'"');
}
