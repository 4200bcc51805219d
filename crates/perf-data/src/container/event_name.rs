//! Event names derived from attributes, for recordings without names.
//!
//! Source: `tools/perf/util/evsel.c`, the tables of event names; `enum perf_hw_id`, `enum perf_sw_ids`,
//! `enum perf_hw_cache_id` of `include/uapi/linux/perf_event.h`. Host and guest modifiers are omitted.

use std::fmt::Write;

use super::feature_types::PmuMapping;
use crate::event::EventAttr;

const HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

const SOFTWARE: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

const CACHES: [&str; 7] = ["L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"];
const OPERATIONS: [(&str, &str); 3] =
    [("load", "loads"), ("store", "stores"), ("prefetch", "prefetches")];

/// Returns the name of the event, with its modifiers (`:u`, `:kpp`). `pmus` is sorted by id.
pub(crate) fn derived_name(attr: &EventAttr, pmus: &[PmuMapping<'_>]) -> String {
    let listed = |names: &[&str]| {
        names.get(usize::try_from(attr.config).ok()?).map(|name| (*name).to_owned())
    };
    let mut name = match attr.kind {
        // The upper half is the id of the PMU on hybrid machines.
        0 => HARDWARE
            .get((attr.config & 0xffff_ffff) as usize)
            .map_or_else(|| "unknown-hardware".to_owned(), |name| (*name).to_owned()),
        1 => listed(&SOFTWARE).unwrap_or_else(|| "unknown-software".to_owned()),
        2 => format!("tracepoint:{}", attr.config),
        3 => cache_name(attr.config),
        4 => format!("raw 0x{:x}", attr.config),
        5 => breakpoint_name(attr),
        kind => match pmus.binary_search_by_key(&kind, |pmu| pmu.kind).ok().map(|at| &pmus[at]) {
            Some(pmu) => {
                format!("{}/config=0x{:x}/", String::from_utf8_lossy(pmu.name), attr.config)
            }
            None => format!("pmu-{kind}/config=0x{:x}/", attr.config),
        },
    };
    add_modifiers(&mut name, attr);
    name
}

/// `L1-dcache-load-misses`: cache, operation and result are bytes 0, 1 and 2 of the number.
fn cache_name(config: u64) -> String {
    let byte = |index: u64| (config >> (8 * index) & 0xff) as usize;
    match (CACHES.get(byte(0)), OPERATIONS.get(byte(1)), byte(2)) {
        (Some(cache), Some((_, plural)), 0) => format!("{cache}-{plural}"),
        (Some(cache), Some((operation, _)), 1) => format!("{cache}-{operation}-misses"),
        _ => "unknown-cache".to_owned(),
    }
}

/// `mem:0x401000:rw`.
fn breakpoint_name(attr: &EventAttr) -> String {
    let mut name = format!("mem:0x{:x}:", attr.config1);
    for (bit, letter) in [(1, 'r'), (2, 'w'), (4, 'x')] {
        if attr.bp_type & bit != 0 {
            name.push(letter);
        }
    }
    name
}

fn add_modifiers(name: &mut String, attr: &EventAttr) {
    let flags = attr.flags;
    let mut modifiers = String::new();
    if flags.exclude_kernel() || flags.exclude_user() || flags.exclude_hv() {
        let rings =
            [(flags.exclude_kernel(), 'k'), (flags.exclude_user(), 'u'), (flags.exclude_hv(), 'h')];
        modifiers.extend(rings.iter().filter(|(excluded, _)| !excluded).map(|(_, letter)| letter));
    }
    modifiers.extend((0..flags.precise_ip()).map(|_| 'p'));
    if !modifiers.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(name, ":{modifiers}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::AttrFlags;

    fn name(kind: u32, config: u64, flags: u64) -> String {
        let attr = EventAttr { kind, config, flags: AttrFlags(flags), ..EventAttr::default() };
        derived_name(&attr, &[PmuMapping { kind: 8, name: b"intel_pt" }])
    }

    #[test]
    fn names_by_kind() {
        assert_eq!(name(0, 0, 0), "cycles");
        assert_eq!(name(0, 0x4_0000_0001, 0), "instructions");
        assert_eq!(name(0, 77, 0), "unknown-hardware");
        assert_eq!(name(1, 1, 1 << 5 | 1 << 6), "task-clock:u");
        assert_eq!(name(1, 0, 0), "cpu-clock");
        assert_eq!(name(2, 314, 0), "tracepoint:314");
        assert_eq!(name(3, 0x1_0000, 0), "L1-dcache-load-misses");
        assert_eq!(name(3, 0x0102, 0), "LLC-stores");
        assert_eq!(name(3, 0xff, 0), "unknown-cache");
        assert_eq!(name(4, 0x1c2, 2 << 15), "raw 0x1c2:pp");
        assert_eq!(name(8, 0x300, 0), "intel_pt/config=0x300/");
        assert_eq!(name(9, 1, 0), "pmu-9/config=0x1/");
    }

    #[test]
    fn breakpoints() {
        let attr = EventAttr { kind: 5, config1: 0x40_1000, bp_type: 3, ..EventAttr::default() };
        assert_eq!(derived_name(&attr, &[]), "mem:0x401000:rw");
    }
}
