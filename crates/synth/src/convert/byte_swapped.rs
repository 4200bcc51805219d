//! A real recording in the other byte order: every field swapped at its width, so that it says the same.
//!
//! Source: `tools/perf/util/header.h`, `struct perf_file_header`.

use std::ops::Range;

use super::attr::{Attr, attr};
use super::features::feature;
use super::records::record;
use super::swap::{Swap, Unknown};

/// Turns a little-endian file over as a whole: header, attributes, ids, features and records, in which strings,
/// build-ids and what has no order stay, the words of stacks are turned over, and flags are mirrored.
///
/// # Errors
/// Where it has something that is not known here.
pub fn big_endian_copy(recording: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = recording.to_vec();
    if !bytes.starts_with(b"PERFILE2") {
        return Err("no little-endian recording in file form".into());
    }
    let header = &mut Swap::new(bytes.get_mut(..104).ok_or("no header")?);
    header.u64()?;
    if header.u64()? != 104 {
        return Err("a header of another size".into());
    }
    let entry = header.size()?;
    let mut section = || Ok::<_, Unknown>(range(header.size()?, header.size()?));
    let (attrs, data, _types) = (section()?, section()?, section()?);
    let bits: Vec<u64> = (0..4).map(|_| header.u64()).collect::<Result<_, _>>()?;
    let attrs = attributes(&mut bytes, attrs, entry)?;
    let mut at = data.start;
    while at < data.end {
        at += record(part(&mut bytes, at..data.end)?, &attrs)
            .map_err(|why| format!("{why} at {at:#x}"))?;
    }
    let mut cpus = 0;
    let mut table = data.end;
    for bit in (0..256).filter(|bit| bits[usize::from(bit / 64)] >> (bit % 64) & 1 == 1) {
        let place = &mut Swap::new(part(&mut bytes, table..table + 16)?);
        let payload = range(place.size()?, place.size()?);
        feature(bit, part(&mut bytes, payload)?, &mut cpus)?;
        table += 16;
    }
    Ok(bytes)
}

fn range(start: usize, len: usize) -> Range<usize> {
    start..start.saturating_add(len)
}

fn part(bytes: &mut [u8], range: Range<usize>) -> Result<&mut [u8], Unknown> {
    bytes.get_mut(range.clone()).ok_or_else(|| format!("{range:?} lies outside"))
}

fn attributes(bytes: &mut [u8], section: Range<usize>, entry: usize) -> Result<Vec<Attr>, Unknown> {
    let mut attrs = Vec::new();
    for at in section.step_by(entry.max(1)) {
        let it = &mut Swap::new(part(bytes, at..at + entry)?);
        let mut read = attr(it, entry.checked_sub(16).ok_or("a small attribute")?)?;
        let ids = range(it.size()?, it.size()?);
        let it = &mut Swap::new(part(bytes, ids)?);
        while it.left() > 0 {
            read.ids.push(it.u64()?);
        }
        attrs.push(read);
    }
    Ok(attrs)
}
