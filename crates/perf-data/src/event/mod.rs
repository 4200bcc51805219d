//! The events of a recording: attribute, ids and name of each, from the attribute section.
//!
//! Source: `tools/perf/util/header.c`, `perf_session__read_header`, `read_attr`.

mod attr;
mod identity;
mod layout;

pub use attr::{AttrFlags, EventAttr, ReadFormat, SampleType};
pub(crate) use identity::Identity;
pub(crate) use layout::{HEADER_LEN, Layout, recorded_time};

use self::attr::{FIRST_SIZE, KNOWN_SIZE};
use crate::container::{Container, EventDesc, Features, derived_name};
use crate::cursor::{Cursor, Endian, Words};
use crate::error::Error;
use crate::finding::{Finding, Findings};

/// One event that was recorded.
#[derive(Clone, Debug)]
pub struct Event {
    /// What was counted, and what its samples carry.
    pub attr: EventAttr,
    /// The ids that its records carry, one for each CPU or thread it was opened on.
    pub ids: Vec<u64>,
    /// The name the user gave, as in `cycles:u`; where the recording has none, one made from the attribute.
    pub name: String,
    pub(crate) layout: Layout,
}

/// Size in bytes of the place and size of the ids behind each attribute.
const IDS_ENTRY: usize = 16;

/// Reads the attribute section; names are still missing.
pub(crate) fn read_events(
    bytes: &[u8],
    container: &Container,
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
    let mut id_budget = bytes.len();
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
        events.push(Event { attr, ids, name: String::new(), layout: Layout::new(&attr) });
    }
    if events.is_empty() { Err(no_events) } else { Ok(events) }
}

/// Bytes from one entry to the next: as the header says, else as the first attribute says of itself.
fn stride(section: &[u8], container: &Container, findings: &mut Findings) -> Option<usize> {
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

/// The ids of an entry: placed by its last 16 bytes, or, where those are nonsense, by the 16 bytes behind the size
/// that the attribute states of itself (an old `perf inject` wrote the two apart).
fn read_ids<'d>(
    bytes: &'d [u8],
    entry: &[u8],
    attr: &EventAttr,
    endian: Endian,
) -> Option<Words<'d>> {
    let at_end = entry.len() - IDS_ENTRY;
    [at_end, attr.effective_size()].into_iter().find_map(|at| {
        let mut cursor = Cursor::new(entry.get(at..)?, endian);
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

/// Names the events: by `EVENT_DESC` (matched by id, else by place), else from the attribute.
pub(crate) fn name_events(events: &mut [Event], features: &Features<'_>) {
    let descs = &features.event_descs;
    // Hostile files have many of all; look-ups by bisection keep the cost in proportion.
    let ids = |(index, desc): (usize, &EventDesc<'_>)| {
        desc.ids.iter().map(move |&id| (id, index)).collect::<Vec<_>>()
    };
    let mut by_id: Vec<(u64, usize)> = descs.iter().enumerate().flat_map(ids).collect();
    by_id.sort_unstable();
    by_id.dedup_by_key(|entry| entry.0);
    let mut pmus = features.pmu_mappings.clone();
    pmus.sort_by_key(|pmu| pmu.kind);
    let by_place = descs.len() == events.len();
    let simpleperf_names = simpleperf_names(features);
    for (index, event) in events.iter_mut().enumerate() {
        let found =
            event.ids.first().and_then(|id| by_id.binary_search_by_key(id, |entry| entry.0).ok());
        let of_event = found.and_then(|at| descs.get(by_id[at].1));
        let at_place =
            descs.get(index).filter(|desc| by_place && desc.attr.config == event.attr.config);
        event.name = match of_event.or(at_place) {
            Some(desc) if !desc.name.is_empty() => String::from_utf8_lossy(desc.name).into_owned(),
            _ => {
                let key = (event.attr.kind, event.attr.config);
                let given = simpleperf_names.binary_search_by_key(&key, |named| named.0);
                given.map_or_else(
                    |_| derived_name(&event.attr, &pmus),
                    |at| String::from_utf8_lossy(simpleperf_names[at].1).into_owned(),
                )
            }
        };
    }
}

/// The names that simpleperf gave to events, by kind and number; a line `name,kind,number` for each.
///
/// Source: simpleperf's `cmd_record.cpp`, `DumpMetaInfoFeature`.
fn simpleperf_names<'d>(features: &Features<'d>) -> Vec<((u32, u64), &'d [u8])> {
    let meta = features.simpleperf_meta.iter().find(|(key, _)| *key == b"event_type_info");
    let lines = meta.map_or(&[][..], |meta| meta.1).split(|&byte| byte == b'\n');
    let named = |line: &'d [u8]| {
        let mut parts = line.rsplitn(3, |&byte| byte == b',');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
        let (config, kind) = (number()?, number()?);
        Some(((u32::try_from(kind).ok()?, config), parts.next()?))
    };
    let mut names: Vec<_> = lines.filter_map(named).collect();
    names.sort_by_key(|named| named.0);
    names.dedup_by_key(|named| named.0);
    names
}
