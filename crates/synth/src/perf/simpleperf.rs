//! Records of Android's simpleperf: types from 32768 on, with a size of 32 bits.

use crate::bytes::{ByteWriter, Endian};

/// Returns a simpleperf record of any type from 32768 on; the high half of its size replaces `misc`.
///
/// Source: `RecordHeader` in simpleperf's `record.h`.
///
/// ```
/// use synth::{Endian, simpleperf_record};
/// let bytes = simpleperf_record(Endian::Little, 32769, &vec![0; 0x1_2340]);
/// assert_eq!(bytes[..8], [1, 0x80, 0, 0, 1, 0, 0x48, 0x23]);
/// ```
#[must_use]
pub fn simpleperf_record(endian: Endian, record_type: u32, payload: &[u8]) -> Vec<u8> {
    let size = payload.len() + 8;
    let mut w = ByteWriter::new(endian);
    w.u32(record_type).u16((size >> 16) as u16).u16(size as u16).bytes(payload);
    w.into_bytes()
}

/// Returns a record of any size as a sequence of SPLIT (32772) records and one `SPLIT_END` (32773).
///
/// Source: `SplitRecord`, simpleperf's `record.h`.
///
/// # Panics
/// If `part_size` is 0.
#[must_use]
pub fn simpleperf_split(endian: Endian, record: &[u8], part_size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for part in record.chunks(part_size) {
        out.extend(simpleperf_record(endian, 32772, part));
    }
    out.extend(simpleperf_record(endian, 32773, &[]));
    out
}

/// Returns the `META_INFO` feature (bit 129): keys and values, each with a NUL.
#[must_use]
pub fn simpleperf_meta_info(pairs: &[(&str, &str)]) -> Vec<u8> {
    let words = pairs.iter().flat_map(|&(key, value)| [key, value]);
    words.flat_map(|word| word.bytes().chain([0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_parts_join_to_the_record() {
        let bytes = simpleperf_split(Endian::Little, &[1, 2, 3], 2);
        assert_eq!(
            bytes,
            [
                4, 0x80, 0, 0, 0, 0, 10, 0, 1, 2, // first
                4, 0x80, 0, 0, 0, 0, 9, 0, 3, // second
                5, 0x80, 0, 0, 0, 0, 8, 0, // end
            ]
        );
    }

    #[test]
    fn meta_info_is_nul_separated() {
        assert_eq!(simpleperf_meta_info(&[("a", "b"), ("c", "")]), b"a\0b\0c\0\0");
    }
}
