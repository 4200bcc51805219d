//! Contents of stored files, checked against the manifest.

use std::io::{self, Read};
use std::ops::Range;

use host::{CountedBytes, NewContent, Reads};

use super::BundleContent;
use crate::error::Error;
use crate::manifest::{Hasher, StoredContent};

/// Reads a stored file. Memory is allocated for the stored ranges only, as they arrive.
pub(super) fn read_content(
    entry: &mut tar::Entry<'_, impl Read>,
    stored: &StoredContent,
) -> Result<BundleContent, Error> {
    let differs = |what| Error::Content { name: stored.name.clone(), what };
    if entry.size() != stored.size {
        return Err(differs("its size"));
    }
    let size = address(stored.size).ok_or_else(|| differs("its size"))?;
    let kept =
        stored.stored_ranges().iter().fold(0, |sum: u64, it| sum.saturating_add(it.end - it.start));
    let counted = CountedBytes::new(kept);
    let mut new = NewContent::new(size)?;
    let mut hasher = Hasher::default();
    let mut at = 0;
    for Range { start, end } in stored.stored_ranges() {
        skip(entry, start - at)?;
        let part = address(start).zip(address(end)).and_then(|(start, end)| new.part(start..end));
        let part = part.ok_or_else(|| differs("its size"))?;
        entry.read_exact(part)?;
        hasher.add(part);
        at = end;
    }
    skip(entry, stored.size - at)?;
    if hasher.finish() != stored.sha256 {
        return Err(differs("its bytes"));
    }
    let holes = stored.holes.iter().filter_map(|&(from, to)| Some(address(from)?..address(to)?));
    let (bytes, reads): (_, Reads) = new.finish(&holes.collect::<Vec<_>>())?;
    Ok(BundleContent { bytes, reads: Some(reads), counted })
}

fn address(offset: u64) -> Option<usize> {
    usize::try_from(offset).ok()
}

/// Skips a hole; its bytes are ignored, even if they are not zero.
fn skip(entry: &mut impl Read, len: u64) -> io::Result<()> {
    let skipped = io::copy(&mut entry.take(len), &mut io::sink())?;
    if skipped == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
