//! ELF files stored uncompressed in a zip archive and mapped from there: libraries in Android packages.

use std::ops::Range;

/// Returns the range of the stored entry with the byte at `offset`.
pub(crate) fn stored_entry(archive: &[u8], offset: u64) -> Option<Range<usize>> {
    let offset = usize::try_from(offset).ok()?;
    stored(archive).find(|(_, range)| range.contains(&offset)).map(|(_, range)| range)
}

/// Returns the range of the entry with a name, if it is stored.
pub(crate) fn entry_named(archive: &[u8], name: &[u8]) -> Option<Range<usize>> {
    stored(archive).find(|(found, _)| *found == name).map(|(_, range)| range)
}

/// Returns the names and ranges of the stored entries, up to the first damage.
///
/// Source: APPNOTE.TXT, 4.3.7 local file header, 4.3.12 central directory, 4.3.16 its end record.
fn stored(archive: &[u8]) -> impl Iterator<Item = (&[u8], Range<usize>)> {
    let end = end_record(archive);
    let start = end.and_then(|end| u32_at(archive, end + 16));
    let count = end.and_then(|end| u16_at(archive, end + 10)).unwrap_or(0);
    let mut at = start.unwrap_or(0) as usize;
    let next = move |_| {
        let entry = ZipEntry::at(archive, at)?;
        at = entry.next;
        Some(entry)
    };
    let range = |entry: ZipEntry<'_>| entry.range(archive);
    (0..count).map_while(next).filter_map(move |entry| Some((entry.name, range(entry)?)))
}

/// An entry of the central directory.
struct ZipEntry<'a> {
    name: &'a [u8],
    is_stored: bool,
    size: usize,
    /// Offset of its local header.
    local: usize,
    /// Offset of the next entry.
    next: usize,
}

impl<'a> ZipEntry<'a> {
    fn at(archive: &'a [u8], at: usize) -> Option<Self> {
        const CENTRAL: usize = 46;
        let start = at.checked_add(CENTRAL)?;
        let header = archive.get(at..start)?;
        if !header.starts_with(b"PK\x01\x02") {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|field| u16_at(header, field).unwrap_or(0));
        let name_end = start.checked_add(usize::from(name))?;
        Some(Self {
            name: archive.get(start..name_end)?,
            is_stored: u16_at(header, 10)? == 0,
            size: u32_at(header, 20)? as usize,
            local: u32_at(header, 42)? as usize,
            next: name_end.checked_add(usize::from(extra) + usize::from(comment))?,
        })
    }

    /// Returns the range of its bytes, if it is stored and they are in the archive.
    fn range(&self, archive: &[u8]) -> Option<Range<usize>> {
        const LOCAL: usize = 30;
        let length = |field| Some(usize::from(u16_at(archive, self.local.checked_add(field)?)?));
        let data =
            self.local.checked_add(LOCAL)?.checked_add(length(26)?)?.checked_add(length(28)?)?;
        let range = data..data.checked_add(self.size)?;
        (self.is_stored && range.end <= archive.len()).then_some(range)
    }
}

/// Returns the offset of the end record, which is last in the file except for a comment of up to 64 KiB.
fn end_record(archive: &[u8]) -> Option<usize> {
    const SIZE: usize = 22;
    let last = archive.len().checked_sub(SIZE)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    (first..=last).rev().find(|&at| archive.get(at..at + 4) == Some(b"PK\x05\x06"))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.first_chunk().map(|word| u16::from_le_bytes(*word))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}
