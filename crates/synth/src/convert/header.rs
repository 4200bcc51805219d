//! The header of a file: ranges of its parts.
//!
//! Source: `tools/perf/util/header.h`, `struct perf_file_header`.

use std::ops::Range;

use super::fields::{Fields, Order, Unknown};

const FILE_SIZE: u64 = 104;
const PIPE_SIZE: u64 = 16;

/// Ranges of the parts of a file.
#[derive(Clone, Debug)]
pub(super) struct RecordingHeader {
    /// Size of an attribute with its ids, in bytes.
    pub(super) entry: usize,
    /// Table of attributes.
    pub(super) attrs: Range<usize>,
    /// Data section.
    pub(super) data: Range<usize>,
    /// Bits of the features in the file.
    pub(super) features: Vec<u16>,
}

/// Reads the header of a little-endian recording in file form.
pub(super) fn header(recording: &mut [u8], order: Order) -> Result<RecordingHeader, Unknown> {
    if !recording.starts_with(b"PERFILE2") {
        return Err("no little-endian recording in file form".into());
    }
    let size = recording.get(8..16).and_then(|size| size.first_chunk());
    match size.map(|size| u64::from_le_bytes(*size)) {
        Some(FILE_SIZE) => {}
        Some(PIPE_SIZE) => return Err("a recording in pipe form".into()),
        _ => return Err("a header of another size".into()),
    }
    let it = &mut Fields::new(recording.get_mut(..FILE_SIZE as usize).ok_or("no header")?, order);
    it.u64s(2)?;
    let entry = it.size()?;
    let mut section = || Ok::<_, Unknown>(range(it.size()?, it.size()?));
    let (attrs, data, _types) = (section()?, section()?, section()?);
    let mut features = Vec::new();
    for word in 0..4 {
        let bits = it.u64()?;
        features.extend((0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| 64 * word + bit));
    }
    Ok(RecordingHeader { entry, attrs, data, features })
}

/// Returns the range of `len` bytes at `start`.
pub(super) fn range(start: usize, len: usize) -> Range<usize> {
    start..start.saturating_add(len)
}

/// Returns a part of the recording.
pub(super) fn part(bytes: &mut [u8], range: Range<usize>) -> Result<&mut [u8], Unknown> {
    bytes.get_mut(range.clone()).ok_or_else(|| format!("{range:?} lies outside"))
}
