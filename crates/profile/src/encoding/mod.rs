//! The encoding of rows as little-endian bytes, for profiles on disk. Ids are checked as they are decoded.
//!
//! The macro [`encoding`] lists the fields of a row next to its type. A field that is missing there is a compile error.

mod containers;
mod decoder;
mod row_macros;
mod scalars;

pub(crate) use decoder::{Decoder, RowCounts, encode_bytes, encode_rows};
pub(crate) use row_macros::{encoding, enum_encoding};

/// A value with an encoding.
pub(crate) trait Encoding: Clone + Send + Sync {
    /// Number of encoded bytes; the minimum number if [`Self::IS_FIXED`] is false. At least 1.
    const BYTES: usize;
    /// Whether all values have the same number of bytes.
    const IS_FIXED: bool;
    /// The same as [`Self::BYTES`] for an optional value.
    const OPTION_BYTES: usize = 1 + if Self::IS_FIXED { Self::BYTES } else { 0 };

    /// Appends the encoding.
    fn encode(&self, out: &mut Vec<u8>);

    /// Returns the next value; `None` if the bytes are truncated or invalid, or an id names no row.
    fn decode(decoder: &mut Decoder<'_>) -> Option<Self>;

    /// Appends the encoding of an optional value.
    #[inline]
    fn encode_option(value: Option<&Self>, out: &mut Vec<u8>) {
        value.is_some().encode(out);
        match value {
            Some(value) => value.encode(out),
            None if Self::IS_FIXED => out.resize(out.len() + Self::BYTES, 0),
            None => {}
        }
    }

    /// Returns the next optional value; `None` as for [`Self::decode`].
    #[inline]
    fn decode_option(decoder: &mut Decoder<'_>) -> Option<Option<Self>> {
        if bool::decode(decoder)? {
            return Self::decode(decoder).map(Some);
        }
        let padding = if Self::IS_FIXED { Self::BYTES } else { 0 };
        decoder.slice(padding)?.iter().all(|&byte| byte == 0).then_some(None)
    }
}
