//! Attribute section of a file: attribute and ids of each event.
//!
//! Source: `tools/perf/util/header.c`, `perf_session__read_header`, `read_attr`.

use super::header::FileHeader;
use crate::bytes::{Endian, FieldReader, Words};
use crate::error::Error;
use crate::event::{Event, EventAttr, EventLayout, FIRST_SIZE, KNOWN_SIZE, MAX_IDS};
use crate::finding::{Finding, Findings};

/// Size in bytes of the offset and size of the ids after each attribute.
const IDS_ENTRY: usize = 16;

/// Reads the attribute section. The names of the events are set later.
pub(crate) fn read_events(
    bytes: &[u8],
    container: &FileHeader,
    findings: &mut Findings,
) -> Result<Vec<Event>, Error> {
    let section = &bytes[container.attrs.clone()];
    let offset = container.attrs.start as u64;
    let stride = stride(section, container, findings);
    let no_events =
        Error::NoEvents { offset, size: section.len() as u64, attr_size: container.attr_size };
    let stride = stride.ok_or(no_events)?;
    let count = section.len() / stride;
    if count > usize::from(u16::MAX) {
        return Err(Error::TooManyEvents { offset, found: count as u64 });
    }
    // Id lists may overlap in hostile files; together they may not be larger than the file.
    let mut id_budget = bytes.len().min(MAX_IDS * 8);
    let mut events = Vec::new();
    for (index, entry) in (0_u16..).zip(section.chunks_exact(stride)) {
        let Some(attr) = EventAttr::parse(&entry[..stride - IDS_ENTRY], container.endian) else {
            break;
        };
        if attr.effective_size() > KNOWN_SIZE {
            findings.push(Finding::NewerAttr { event: index, size: attr.size });
        }
        if attr.sample_type.unknown() != 0 {
            findings.push(Finding::UnknownSampleBits {
                event: index,
                bits: attr.sample_type.unknown(),
            });
        }
        let ids = read_ids(bytes, entry, &attr, container.endian)
            .filter(|ids| ids.len() * 8 <= id_budget);
        let ids = ids.map_or_else(
            || {
                let at = stride - IDS_ENTRY;
                let offset = container.endian.u64_at(entry, at).unwrap_or_default();
                let size = container.endian.u64_at(entry, at + 8).unwrap_or_default();
                findings.push(Finding::IdsIgnored { event: index, offset, size });
                Vec::new()
            },
            |ids| ids.iter().collect::<Vec<_>>(),
        );
        id_budget -= ids.len() * 8;
        events.push(Event { attr, ids, name: String::new(), layout: EventLayout::new(&attr) });
    }
    if events.is_empty() { Err(no_events) } else { Ok(events) }
}

/// Returns the distance of two entries: as stated in the header, otherwise by the stated size of the first attribute.
fn stride(section: &[u8], container: &FileHeader, findings: &mut Findings) -> Option<usize> {
    let fits = |stride: usize| stride >= FIRST_SIZE + IDS_ENTRY && stride <= section.len();
    let stated = usize::try_from(container.attr_size).ok()?;
    if fits(stated) && section.len().is_multiple_of(stated) {
        return Some(stated);
    }
    let own =
        EventAttr::parse(section, container.endian)?.effective_size().checked_add(IDS_ENTRY)?;
    if fits(own) && section.len().is_multiple_of(own) {
        findings.push(Finding::AttrStride { stated: container.attr_size, used: own as u64 });
        return Some(own);
    }
    fits(stated).then_some(stated)
}

/// Returns the ids of an entry. Its last 16 bytes locate them. If those are invalid, the 16 bytes after the stated size
/// of the attribute do: an old `perf inject` wrote the two apart.
fn read_ids<'d>(
    bytes: &'d [u8],
    entry: &[u8],
    attr: &EventAttr,
    endian: Endian,
) -> Option<Words<'d>> {
    let at_end = entry.len() - IDS_ENTRY;
    [at_end, attr.effective_size()].into_iter().find_map(|at| {
        let mut cursor = FieldReader::new(entry.get(at..)?, endian);
        let offset = usize::try_from(cursor.u64()?).ok()?;
        let size = usize::try_from(cursor.u64()?).ok()?;
        if !size.is_multiple_of(8) {
            return None;
        }
        if size == 0 {
            return Some(Words::new(&[], endian));
        }
        let ids = bytes.get(offset..)?.get(..size)?;
        Some(Words::new(ids, endian))
    })
}
