//! Names of events, from the features.
//!
//! Source: `tools/perf/util/header.c`, `evlist__set_event_name`.

use super::event_name::derived_name;
use super::feature_types::EventDesc;
use super::features::Features;
use crate::event::{Event, EventAttr};
use crate::tracing::TracingData;

/// Names the events: by `EVENT_DESC` (matched by id, otherwise by index), by simpleperf's list,
/// by the tracing data, or by the attribute.
pub(crate) fn name_events(events: &mut [Event], features: &Features<'_>) {
    let descs = &features.event_descs;
    // Hostile files can have many entries of each kind; binary search limits the cost.
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
    let mut tracepoints = Tracepoints { bytes: features.tracing_data, data: None };
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
                let given = simpleperf_names.binary_search_by_key(&key, |named| named.0).ok();
                given
                    .map(|at| String::from_utf8_lossy(simpleperf_names[at].1).into_owned())
                    .or_else(|| tracepoints.name(&event.attr))
                    .unwrap_or_else(|| derived_name(&event.attr, &pmus))
            }
        };
    }
}

/// Tracing data, parsed at the first tracepoint.
struct Tracepoints<'d> {
    bytes: Option<&'d [u8]>,
    data: Option<TracingData<'d>>,
}

impl Tracepoints<'_> {
    fn name(&mut self, attr: &EventAttr) -> Option<String> {
        if !attr.is_tracepoint() {
            return None;
        }
        if let Some(bytes) = self.bytes.take() {
            self.data = TracingData::parse(bytes);
        }
        self.data.as_ref()?.event_name(attr.config)
    }
}

/// Returns simpleperf's names of events by kind and number, from lines of the form `name,kind,number`.
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
