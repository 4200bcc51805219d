//! A real recording in the other byte order: every field is swapped at its width, so its meaning stays the same.

use super::attr::attributes;
use super::features::feature;
use super::fields::{Fields, Order};
use super::header::{header, part, range};
use super::records::record;

/// Swaps a little-endian file as a whole: header, attributes, ids, features and records. Strings and build-ids stay,
/// stack words are swapped, and bits of flags are mirrored.
///
/// # Errors
/// If it contains something that this function does not support.
pub fn big_endian_copy(recording: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = recording.to_vec();
    let header = header(&mut bytes, Order::Swapped)?;
    let attrs = attributes(&mut bytes, header.attrs, header.entry, Order::Swapped)?;
    let data = header.data;
    let mut at = data.start;
    while at < data.end {
        at += record(part(&mut bytes, at..data.end)?, &attrs)
            .map_err(|why| format!("{why} at {at:#x}"))?;
    }
    let mut cpus = 0;
    let mut table = data.end;
    for bit in header.features {
        let place = &mut Fields::new(part(&mut bytes, range(table, 16))?, Order::Swapped);
        let payload = range(place.size()?, place.size()?);
        feature(bit, part(&mut bytes, payload)?, &mut cpus)?;
        table += 16;
    }
    Ok(bytes)
}
