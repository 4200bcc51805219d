//! Container of a rewritten recording: the data section changes its length, and everything after it moves.
//!
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`.

use address::BuildId;
use anyhow::{Context as _, bail};
use perf_data::{Feature, RecordKind};

/// Offsets of the sections of a plain little-endian file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileLayout {
    data: (usize, usize),
}

/// Size of the header with its feature bits, in bytes.
const HEADER: usize = 104;
/// Offset of the data section's size in the header, in bytes.
const DATA_SIZE: usize = 48;
/// Offset of the feature bits, in bytes.
const FEATURES: usize = 72;

impl FileLayout {
    pub(crate) fn read(bytes: &[u8]) -> anyhow::Result<Self> {
        if !bytes.starts_with(b"PERFILE2") {
            bail!("only plain little-endian perf.data files can be rewritten");
        }
        let word = |at: usize| word(bytes, at).context("the header is cut off");
        if word(8)? < HEADER as u64 {
            bail!(
                "a pipe recording cannot be rewritten; let perf inject or perf record write a file first"
            );
        }
        if Self::has_feature(bytes, Feature::Auxtrace) {
            bail!("recordings with hardware traces cannot be rewritten");
        }
        let start = usize::try_from(word(40)?)?;
        let size = usize::try_from(word(DATA_SIZE)?)?;
        let end = start.checked_add(size).filter(|&end| size > 0 && end <= bytes.len());
        let end = end.context("the data section is not complete; its recorder was stopped")?;
        Ok(Self { data: (start, end) })
    }

    /// Returns true if the header states a feature.
    pub(crate) fn has_feature(bytes: &[u8], feature: Feature) -> bool {
        has_bit(bytes, usize::from(feature.bit()))
    }

    /// Returns the file without a feature: its bit and its row in the table. Its section remains as unused bytes.
    pub(crate) fn without_feature(bytes: &[u8], feature: Feature) -> Option<Vec<u8>> {
        if !Self::has_feature(bytes, feature) {
            return Some(bytes.to_vec());
        }
        let layout = Self::read(bytes).ok()?;
        let bit = usize::from(feature.bit());
        let mut patched = bytes.to_vec();
        *patched.get_mut(FEATURES + bit / 8)? &= !(1 << (bit % 8));
        let before = (0..bit).filter(|&bit| has_bit(bytes, bit));
        let row = layout.data.1 + before.count() * 16;
        // Sections keep their offsets: the table leaves a hole at its end.
        let end = layout.data.1 + n_features(bytes)? * 16;
        patched.get(row..end)?;
        patched.copy_within(row + 16..end, row);
        patched.get_mut(end - 16..end)?.fill(0);
        Some(patched)
    }

    /// Returns the end of the record at `position`.
    pub(crate) fn end_of(&self, bytes: &[u8], position: u64) -> Option<usize> {
        let start = usize::try_from(position).ok()?;
        let size =
            bytes.get(start + 6..start + 8)?.first_chunk().map(|size| u16::from_le_bytes(*size))?;
        let end = start.checked_add(usize::from(size))?;
        (self.data.0 <= start && end <= self.data.1 && size >= 8).then_some(end)
    }

    /// Returns the kinds of the records, up to damage.
    pub(crate) fn kinds(&self, bytes: &[u8]) -> impl Iterator<Item = RecordKind> {
        let mut at = self.data.0;
        std::iter::from_fn(move || {
            let kind = bytes.get(at..)?.first_chunk().map(|kind| u32::from_le_bytes(*kind))?;
            at = self.end_of(bytes, at as u64)?;
            Some(RecordKind(kind))
        })
    }

    /// Returns the file with `inserted` (position and bytes, sorted by position) and with `build_ids` set in the
    /// `MMAP2` records at their positions.
    pub(crate) fn write(
        &self,
        bytes: &[u8],
        inserted: &[(usize, Vec<u8>)],
        build_ids: &[(usize, BuildId)],
    ) -> Option<Vec<u8>> {
        let mut patched = bytes.to_vec();
        for &(position, id) in build_ids {
            set_build_id(&mut patched, position, id)?;
        }
        let mut data = Vec::with_capacity(self.data.1 - self.data.0);
        let mut at = self.data.0;
        for (position, record) in inserted {
            data.extend(patched.get(at..*position)?);
            data.extend(record);
            at = *position;
        }
        data.extend(patched.get(at..self.data.1)?);
        self.with_data(bytes, &data)
    }

    /// Returns the file with another data section, and moves everything after it: attributes, event types, their ids
    /// and the features.
    pub(crate) fn with_data(&self, bytes: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let (start, end) = self.data;
        let mut patched = bytes.to_vec();
        let data_size = data.len() as u64;
        patched.get_mut(DATA_SIZE..DATA_SIZE + 8)?.copy_from_slice(&data_size.to_le_bytes());
        let attr_size = usize::try_from(word(bytes, 16)?).ok()?;
        let attrs = usize::try_from(word(bytes, 24)?).ok()?;
        let n_attrs = usize::try_from(word(bytes, 32)?).ok()?.checked_div(attr_size)?;
        let ids = (0..n_attrs.min(1 << 16)).map(|index| attrs + (index + 1) * attr_size - 16);
        let table = (0..n_features(bytes)?).map(|index| end + index * 16);
        for at in [24, 56].into_iter().chain(ids).chain(table) {
            let offset = word(bytes, at)?;
            if offset >= end as u64 {
                let moved = (offset - end as u64).checked_add((start + data.len()) as u64)?;
                patched.get_mut(at..at + 8)?.copy_from_slice(&moved.to_le_bytes());
            }
        }
        let mut out = Vec::with_capacity(patched.len() - (end - start) + data.len());
        out.extend(patched.get(..start)?);
        out.extend(data);
        out.extend(patched.get(end..)?);
        Some(out)
    }
}

/// Returns a feature bit of the header; false if it is cut off.
fn has_bit(bytes: &[u8], bit: usize) -> bool {
    bytes.get(FEATURES + bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 != 0)
}

/// Returns the number of features.
fn n_features(bytes: &[u8]) -> Option<usize> {
    let bits = bytes.get(FEATURES..FEATURES + 32)?;
    Some(bits.iter().map(|byte| byte.count_ones() as usize).sum())
}

/// Writes a build-id into an `MMAP2` record in place of device and inode.
///
/// Source: the comment on `PERF_RECORD_MMAP2` and `PERF_RECORD_MISC_MMAP_BUILD_ID` in
/// `include/uapi/linux/perf_event.h`.
fn set_build_id(bytes: &mut [u8], position: usize, id: BuildId) -> Option<()> {
    const MISC_BUILD_ID: u8 = 0x40;
    let record = bytes.get_mut(position..position.checked_add(64)?)?;
    if *record.first_chunk()? != RecordKind::MMAP2.0.to_le_bytes() {
        return None;
    }
    *record.get_mut(5)? |= MISC_BUILD_ID;
    record.get_mut(40..64)?.copy_from_slice(&build_id_union(id));
    Some(())
}

/// Returns a build-id in the form of `MMAP2`: size, three reserved bytes, twenty bytes.
pub(crate) fn build_id_union(id: BuildId) -> [u8; 24] {
    let mut field = [0; 24];
    field[0] = id.as_bytes().len() as u8;
    for (to, from) in field.iter_mut().skip(4).zip(id.as_bytes()) {
        *to = *from;
    }
    field
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}
