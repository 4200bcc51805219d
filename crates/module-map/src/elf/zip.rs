//! ELF files that are stored, not compressed, in a zip archive and mapped from there: libraries in Android packages.

use std::ops::Range;

/// Where in the archive the entry lies that holds the byte at `offset`, if that entry is stored.
///
/// Source: APPNOTE.TXT, 4.3.7 local file header, 4.3.12 central directory, 4.3.16 its end record.
pub(crate) fn stored_entry(archive: &[u8], offset: u64) -> Option<Range<usize>> {
    const CENTRAL: usize = 46;
    const LOCAL: usize = 30;
    let end = end_record(archive)?;
    let mut at = u32_at(archive, end + 16)? as usize;
    let n = u16_at(archive, end + 10)?;
    for _ in 0..n {
        let header = archive.get(at..at.checked_add(CENTRAL)?)?;
        if !header.starts_with(b"PK\x01\x02") {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|field| u16_at(header, field).unwrap_or(0));
        let stored = u16_at(header, 10)? == 0;
        let size = u32_at(header, 20)? as usize;
        let local = u32_at(header, 42)? as usize;
        at = at
            .checked_add(CENTRAL + usize::from(name) + usize::from(extra) + usize::from(comment))?;
        if !stored {
            continue;
        }
        let data = local
            .checked_add(LOCAL)?
            .checked_add(usize::from(u16_at(archive, local.checked_add(26)?)?))?
            .checked_add(usize::from(u16_at(archive, local.checked_add(28)?)?))?;
        let range = data..data.checked_add(size)?;
        if range.contains(&usize::try_from(offset).ok()?) && range.end <= archive.len() {
            return Some(range);
        }
    }
    None
}

/// The end record is the last thing in the file but for a comment of up to 64 KiB.
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
