//! Recordings: attributes, records, features, and the file and pipe containers around them.

pub(crate) mod attr;
pub(crate) mod compressed;
pub(crate) mod feature;
pub(crate) mod file;
pub(crate) mod pipe;
pub(crate) mod record;
pub(crate) mod sample;
pub(crate) mod simpleperf;
pub(crate) mod user_record;

#[cfg(test)]
mod container_tests;
#[cfg(test)]
mod tests;

use crate::bytes::{ByteWriter, Endian};

/// Returns header and body of a record, with a size that covers exactly both.
///
/// Source: `struct perf_event_header`, `include/uapi/linux/perf_event.h`.
///
/// # Panics
/// If the record does not fit the 16 bits of its size.
#[must_use]
pub fn record_bytes(endian: Endian, record_type: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(body.len() + 8).expect("a record is shorter than 64 KiB");
    let mut w = ByteWriter::new(endian);
    w.u32(record_type).u16(misc).u16(size).bytes(body);
    w.into_bytes()
}
