//! Container of a recording: header, attributes with their ids, data, features.
//!
//! Source: `tools/perf/Documentation/perf.data-file-format.txt`; `struct perf_event_attr`.

use std::collections::BTreeMap;

use perf_data::{Event, EventAttr};

use super::fields::Fields;

/// Size of the file header in bytes.
const HEADER: u64 = 104;
/// Sizes of the first and the newest known attribute, in bytes.
const ATTR_SIZES: (usize, usize) = (64, 144);
/// Size of a section descriptor in bytes: offset and size.
const SECTION: u64 = 16;

/// Returns the offset of the data.
pub(super) fn data_start(events: &[Event]) -> u64 {
    let entry_size = attr_size(events) as u64 + SECTION;
    let ids_size: u64 = events.iter().map(|event| event.ids.len() as u64 * 8).sum();
    HEADER + ids_size + entry_size * events.len() as u64
}

/// Returns the bytes of the file.
pub(super) fn file(events: &[Event], data: &[u8], features: &BTreeMap<u16, Vec<u8>>) -> Vec<u8> {
    let mut bytes = beginning(events, data.len() as u64, features.keys().copied());
    let end = bytes.len() as u64 + data.len() as u64;
    bytes.extend_from_slice(data);
    bytes.extend(feature_sections(end, features));
    bytes
}

/// Returns the bytes before the data: header, ids and attributes. A recording without a size is unfinished.
pub(super) fn beginning(
    events: &[Event],
    data_size: u64,
    features: impl IntoIterator<Item = u16>,
) -> Vec<u8> {
    let attr_size = attr_size(events);
    let entry_size = attr_size as u64 + SECTION;
    let attrs_size = entry_size * events.len() as u64;
    let data_at = data_start(events);
    let attrs_at = data_at - attrs_size;
    let mut bits = [0_u64; 4];
    for bit in features {
        if let Some(word) = bits.get_mut(usize::from(bit / 64)) {
            *word |= 1 << (bit % 64);
        }
    }
    let mut out = Fields::section();
    out.bytes(b"PERFILE2").u64s([HEADER, entry_size, attrs_at, attrs_size]);
    out.u64s([data_at, data_size, 0, 0]).u64s(bits);
    out.u64s(events.iter().flat_map(|event| event.ids.iter().copied()));
    let mut ids_at = HEADER;
    for event in events {
        let size = event.ids.len() as u64 * 8;
        out.bytes(&attr_bytes(event, attr_size)).u64s([ids_at, size]);
        ids_at += size;
    }
    out.take()
}

/// Returns the table of the feature sections and the sections, which begin at the offset `start`.
pub(super) fn feature_sections(start: u64, features: &BTreeMap<u16, Vec<u8>>) -> Vec<u8> {
    let mut out = Fields::section();
    let mut at = start + SECTION * features.len() as u64;
    for section in features.values() {
        out.u64s([at, section.len() as u64]);
        at += section.len() as u64;
    }
    for section in features.values() {
        out.bytes(section);
    }
    out.take()
}

/// Returns the attribute size in bytes: that of the largest event attribute.
pub(super) fn attr_size(events: &[Event]) -> usize {
    let sizes = events.iter().map(|event| event.attr.size as usize);
    let size = sizes.max().unwrap_or_default().clamp(ATTR_SIZES.0, ATTR_SIZES.1);
    size.next_multiple_of(8)
}

/// Returns the attribute of an event.
pub(super) fn attr_bytes(event: &Event, size: usize) -> Vec<u8> {
    let attr: &EventAttr = &event.attr;
    let mut out = Fields::section();
    out.u32(attr.kind).u32(size as u32).u64(attr.config).u64(attr.sample_period);
    out.u64(attr.sample_type.0).u64(attr.read_format.0).u64(attr.flags.0);
    out.u32(attr.wakeup).u32(attr.bp_type).u64(attr.config1).u64(attr.config2);
    out.u64(attr.branch_sample_type).u64(attr.sample_regs_user).u32(attr.sample_stack_user);
    out.i32(attr.clockid).u64(attr.sample_regs_intr).u32(attr.aux_watermark);
    out.u16(attr.sample_max_stack).u16(0).u32(attr.aux_sample_size).u32(attr.aux_action);
    out.u64(attr.sig_data).u64(attr.config3).u64(attr.config4);
    let mut bytes = out.take();
    bytes.resize(size, 0);
    bytes
}
