//! The dictionary: tables of rows that profiles reference by index. The first row of each is the zero value, encoded as
//! zero bytes. Rows are distinct, and every other row is referenced.

use crate::render::truncation::in_table;
use profile::Strings;

use crate::render::encoding::protobuf::ProtoMessage;

/// Fields of `ProfilesDictionary`.
mod field {
    pub(super) const MAPPING: u32 = 1;
    pub(super) const LOCATION: u32 = 2;
    pub(super) const FUNCTION: u32 = 3;
    pub(super) const LINK: u32 = 4;
    pub(super) const STRING: u32 = 5;
    pub(super) const ATTRIBUTE: u32 = 6;
    pub(super) const STACK: u32 = 7;
}

/// A table of distinct encoded rows, starting with the zero value.
#[derive(Debug)]
pub(super) struct EncodedTable {
    rows: Strings,
}

impl Default for EncodedTable {
    fn default() -> Self {
        let mut rows = Strings::default();
        rows.intern(b"");
        Self { rows }
    }
}

impl EncodedTable {
    /// Returns the index of a row.
    pub(super) fn index(&mut self, row: &[u8]) -> u64 {
        self.rows.intern(row).as_u32().into()
    }
}

/// All tables. The table of links contains only the zero value: samples belong to no span.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    strings: EncodedTable,
    attributes: EncodedTable,
    pub(super) mappings: EncodedTable,
    pub(super) locations: EncodedTable,
    pub(super) functions: EncodedTable,
    pub(super) stacks: EncodedTable,
}

impl Dictionary {
    /// Returns the index of a string. Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn string(&mut self, text: &[u8]) -> u64 {
        self.strings.index(String::from_utf8_lossy(&in_table(text)).as_bytes())
    }

    /// Returns the index of an attribute.
    pub(super) fn attribute(&mut self, key: &str, value: AttributeValue<'_>) -> u64 {
        let mut row = ProtoMessage::default();
        row.number(1, self.string(key.as_bytes()));
        row.message(2, &value.encoded());
        self.attributes.index(row.bytes())
    }

    /// Returns the encoded dictionary.
    pub(super) fn encoded(&self) -> ProtoMessage {
        let mut message = ProtoMessage::default();
        for (field, rows) in [
            (field::MAPPING, &self.mappings),
            (field::LOCATION, &self.locations),
            (field::FUNCTION, &self.functions),
            (field::LINK, &EncodedTable::default()),
            (field::STRING, &self.strings),
            (field::ATTRIBUTE, &self.attributes),
            (field::STACK, &self.stacks),
        ] {
            for row in rows.rows.iter() {
                message.string(field, row);
            }
        }
        message
    }
}

/// The value of an attribute.
#[derive(Debug, Clone, Copy)]
pub(super) enum AttributeValue<'a> {
    Text(&'a [u8]),
    Number(i64),
}

impl AttributeValue<'_> {
    /// Returns the `AnyValue`. Strings are written inline, because not all receivers look them up in the dictionary.
    pub(super) fn encoded(self) -> ProtoMessage {
        let mut message = ProtoMessage::default();
        match self {
            Self::Text(text) => message.string(1, String::from_utf8_lossy(text).as_bytes()),
            Self::Number(number) => message.present(3, number as u64),
        }
        message
    }
}
