//! Feature sections of a rewritten recording.
//!
//! Source: `tools/perf/util/header.c`, the functions `write_*`.

use std::collections::BTreeMap;

use perf_data::{BuildIdEntry, CpuMode, Endian, Event, Feature, Features, Head};
use profile::query::without_arguments;

use super::container::{attr_bytes, attr_size};
use super::fields::Fields;
use crate::anonymous::Pseudonyms;

/// Features of data that the new file does not contain: compressed records, further files, hardware traces.
const GONE: [Feature; 3] = [Feature::Compressed, Feature::DirectoryFormat, Feature::Auxtrace];

/// Returns the sections by feature bit. Without pseudonyms and in the same byte order, all sections are copied.
/// Otherwise, only sections without names, or with known names, are written field by field.
pub(super) fn sections(
    head: &Head,
    events: &[Event],
    names: Option<&Pseudonyms>,
) -> BTreeMap<u16, Vec<u8>> {
    let features = head.features();
    let mut sections = BTreeMap::new();
    if names.is_none() && head.endian() == Endian::Little {
        let kept = features.bits().filter(|&bit| !GONE.iter().any(|gone| gone.bit() == bit));
        let kept = kept.filter_map(|bit| Some((bit, features.section(bit)?.to_vec())));
        sections.extend(kept);
    } else {
        add_texts(&mut sections, &features, names);
        add_numbers(&mut sections, &features);
    }
    if !features.build_ids.is_empty() {
        sections.insert(Feature::BuildId.bit(), build_ids(&features.build_ids, names));
    }
    sections.insert(Feature::EventDesc.bit(), event_desc(events, names));
    sections
}

fn add_texts(
    sections: &mut BTreeMap<u16, Vec<u8>>,
    features: &Features<'_>,
    names: Option<&Pseudonyms>,
) {
    let mut add = |feature: Feature, text: &[u8]| {
        let mut section = Fields::section();
        section.string(text);
        sections.insert(feature.bit(), section.take());
    };
    for (feature, text) in [
        (Feature::Version, features.version),
        (Feature::Arch, features.arch),
        (Feature::CpuDescription, features.cpu_description),
        (Feature::CpuId, features.cpu_id),
    ] {
        text.into_iter().for_each(|text| add(feature, text));
    }
    let own = |text: &[u8]| names.map_or_else(|| text.to_vec(), |names| names.word(text));
    for (feature, text) in
        [(Feature::Hostname, features.hostname), (Feature::OsRelease, features.os_release)]
    {
        text.into_iter().for_each(|text| add(feature, &own(text)));
    }
    if !features.command_line.is_empty() {
        let words = features.command_line.iter().map(|word| own(word));
        let section = command_line(words.collect());
        sections.insert(Feature::CommandLine.bit(), section);
    }
}

/// Replaces the command line by one without the arguments of the recorded program.
pub(super) fn omit_arguments(sections: &mut BTreeMap<u16, Vec<u8>>, head: &Head) {
    let words = &head.features().command_line;
    if !words.is_empty() {
        let kept = without_arguments(words).into_iter().map(<[u8]>::to_vec);
        sections.insert(Feature::CommandLine.bit(), command_line(kept.collect()));
    }
}

/// Returns the section of a command line.
///
/// Source: `write_cmdline`: the number of words, then each one.
pub(super) fn command_line(words: Vec<Vec<u8>>) -> Vec<u8> {
    let mut section = Fields::section();
    section.u32(words.len() as u32);
    for word in words {
        section.string(&word);
    }
    section.take()
}

fn add_numbers(sections: &mut BTreeMap<u16, Vec<u8>>, features: &Features<'_>) {
    let mut add = |feature: Feature, write: &dyn Fn(&mut Fields)| {
        let mut section = Fields::section();
        write(&mut section);
        sections.insert(feature.bit(), section.take());
    };
    if let Some(count) = features.cpu_count {
        add(Feature::CpuCount, &|out| {
            out.u32(count.available).u32(count.online);
        });
    }
    let words = [
        (Feature::TotalMemory, features.total_memory_kib),
        (Feature::ClockId, features.clock_resolution_ns),
    ];
    for (feature, word) in words {
        let Some(word) = word else { continue };
        add(feature, &|out| {
            out.u64(word);
        });
    }
    if let Some((first, last)) = features.sample_time {
        add(Feature::SampleTime, &|out| {
            out.u64(first.0).u64(last.0);
        });
    }
    if let Some(clock) = features.clock_data {
        const VERSION: u32 = 1;
        add(Feature::ClockData, &|out| {
            out.u32(VERSION).u32(clock.clockid).u64(clock.wall_ns).u64(clock.time.0);
        });
    }
    if features.branch_stack {
        add(Feature::BranchStack, &|_| {});
    }
}

/// Source: `write_buildid` in `tools/perf/util/build-id.c`.
fn build_ids(entries: &[BuildIdEntry<'_>], names: Option<&Pseudonyms>) -> Vec<u8> {
    const NAME_ALIGN: usize = 64;
    const HAS_SIZE: u16 = 1 << 15;
    const FIXED: usize = 8 + 4 + 24;
    let mut section = Fields::section();
    for entry in entries {
        let Some(id) = entry.build_id else { continue };
        let name = names.map_or_else(|| entry.name.to_vec(), |names| names.mapped(entry.name));
        let size = FIXED + (name.len() + 1).next_multiple_of(NAME_ALIGN);
        let Ok(size) = u16::try_from(size) else { continue };
        let mode = match entry.cpu_mode {
            CpuMode::Unknown => CpuMode::User,
            mode => mode,
        };
        let exact = if entry.exact { HAS_SIZE } else { 0 };
        section.u32(0).u16(mode.bits() | exact).u16(size).i32(entry.pid.0);
        let mut bytes = [0; 20];
        for (to, from) in bytes.iter_mut().zip(id.as_bytes()) {
            *to = *from;
        }
        let length = if entry.exact { id.as_bytes().len() as u32 } else { 0 };
        section.bytes(&bytes).u32(length).text(&name, NAME_ALIGN);
    }
    section.take()
}

/// Source: `write_event_desc`.
fn event_desc(events: &[Event], names: Option<&Pseudonyms>) -> Vec<u8> {
    let size = attr_size(events);
    let mut section = Fields::section();
    section.u32(events.len() as u32).u32(size as u32);
    for event in events {
        section.bytes(&attr_bytes(event, size)).u32(event.ids.len() as u32);
        let name = event.name.as_bytes();
        let name = names.map_or_else(|| name.to_vec(), |names| names.event(event.attr.kind, name));
        section.string(&name).u64s(event.ids.iter().copied());
    }
    section.take()
}
