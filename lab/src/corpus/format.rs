//! Counts records by the format's rules: header, sizes, and the payloads outside of them. It handles neither damage nor
//! compression, and stops at unknown data.
//!
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`; simpleperf's `record.h`.

use super::{Counts, Read};

const TRACING_DATA: u64 = 66;
const AUXTRACE: u64 = 71;
const COMPRESSED: [u64; 2] = [81, 83];
/// Types that recorders do not pad to eight bytes.
const UNPADDED: [u64; 7] = [65, 66, 67, 74, 78, 80, 81];
/// First of simpleperf's own types, with a size in two halves.
const SIMPLEPERF: u64 = 32768;

/// Counts the records of a file or pipe stream.
pub(super) fn count(bytes: &[u8]) -> Read {
    let mut counts = Counts::new();
    let end = walk(bytes, &mut counts);
    Read { counts, end: end.map(str::to_owned) }
}

/// Reader of numbers in the byte order of the recording.
struct Numbers<'d> {
    bytes: &'d [u8],
    big: bool,
}

impl Numbers<'_> {
    fn get(&self, at: usize, len: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(len)?)?;
        let digits = bytes.iter().map(|&byte| u64::from(byte));
        let join = |value, byte| value << 8 | byte;
        Some(if self.big { digits.fold(0, join) } else { digits.rev().fold(0, join) })
    }
}

/// Counts the records; returns the reason if it ends early.
fn walk(bytes: &[u8], counts: &mut Counts) -> Option<&'static str> {
    let is_v1 = bytes.starts_with(b"PERFFILE");
    if !is_v1 && !bytes.starts_with(b"PERFILE2") && !bytes.starts_with(b"2ELIFREP") {
        return Some("no recording");
    }
    let big = bytes.starts_with(b"2ELIFREP") || is_v1 && bytes.get(8) == Some(&0);
    let numbers = Numbers { bytes, big };
    let word = |at| numbers.get(at, 8).and_then(|word| usize::try_from(word).ok());
    let (mut at, end) = if word(8) == Some(16) {
        (16, bytes.len())
    } else {
        let (Some(start), Some(size)) = (word(40), word(48)) else { return Some("header cut") };
        (start, start.saturating_add(size))
    };
    while at < end {
        let header = [numbers.get(at, 4), numbers.get(at + 4, 2), numbers.get(at + 6, 2)];
        let [Some(kind), Some(misc), Some(size)] = header else { return Some("cut") };
        let size = if kind >= SIMPLEPERF { misc << 16 | size } else { size };
        if COMPRESSED.contains(&kind) {
            return Some("compressed");
        }
        let payload = match kind {
            TRACING_DATA => numbers.get(at + 8, 4),
            AUXTRACE => numbers.get(at + 8, 8),
            _ => Some(0),
        };
        let whole = payload.and_then(|payload| usize::try_from(size.checked_add(payload)?).ok());
        let is_padded = size % 8 == 0 || UNPADDED.contains(&kind) || kind >= SIMPLEPERF;
        match whole.and_then(|whole| at.checked_add(whole)) {
            Some(next) if kind > 0 && size >= 8 && is_padded && next <= end.min(bytes.len()) => {
                at = next
            }
            _ => return Some("stops at damage"),
        }
        *counts.entry(kind).or_default() += 1;
    }
    None
}
