//! Feature sections: each kind, and damaged ones.

use address::Arch;

use super::builder::{Attr, Bytes, File, data_at, le, patch, round};
use super::read_file::{ReadFile, list, open};
use crate::{Endian, Finding, MachineSource};

fn with(features: Vec<(u16, Vec<u8>)>) -> Vec<u8> {
    File {
        features,
        ..File::new(Attr { ids: vec![5, 6], ..Attr::default() }, round(Endian::Little))
    }
    .build()
}

#[test]
fn strings_and_numbers() {
    for endian in [Endian::Little, Endian::Big] {
        let new = || Bytes::new(endian);
        let features = vec![
            (1, b"\x17\x08Dtracing".to_vec()),
            (3, new().string("host").data),
            (4, new().string("6.18.44").data),
            (5, new().string("7.2.13").data),
            (6, new().string("s390x").data),
            (7, new().halves(&[8, 4]).data),
            (8, new().string("cpu").data),
            (9, new().string("id").data),
            (10, new().u64(1024).data),
            (11, new().u32(2).string("perf").string("record").data),
            (15, Vec::new()),
            (19, Vec::new()),
            (21, new().words(&[1, 2]).data),
            (23, new().u64(1).data),
            (24, new().u64(0).data),
            (27, new().halves(&[1, 1, 3, 5, 4096]).data),
            (29, new().halves(&[1, 4]).words(&[100, 50]).data),
            (33, new().halves(&[22, 7]).data),
            (34, new().u32(256).data),
            (200, b"new".to_vec()),
        ];
        let bytes = File { features, ..File::new(Attr::default(), round(endian)) }.build();
        let recording = open(&bytes);
        let features = recording.features();
        let strings = [features.hostname, features.os_release, features.version, features.arch];
        assert_eq!(strings, [&b"host"[..], b"6.18.44", b"7.2.13", b"s390x"].map(Some));
        assert_eq!(
            (features.cpu_description, features.cpu_id),
            (Some(&b"cpu"[..]), Some(&b"id"[..]))
        );
        assert_eq!(features.cpu_count.map(|count| (count.available, count.online)), Some((8, 4)));
        assert_eq!(
            (features.total_memory_kib, features.clock_resolution_ns),
            (Some(1024), Some(1))
        );
        assert_eq!(features.command_line, [&b"perf"[..], b"record"]);
        assert!(features.branch_stack && features.stat);
        assert_eq!(features.sample_time.map(|(first, last)| (first.0, last.0)), Some((1, 2)));
        assert_eq!(features.compressed.map(|info| (info.kind, info.mmap_len)), Some((1, 4096)));
        assert_eq!(
            features.clock_data.map(|clock| (clock.clockid, clock.wall_ns, clock.time.0)),
            Some((4, 100, 50))
        );
        assert_eq!((features.directory_version, features.cache_line), (Some(0), Some(256)));
        assert_eq!((features.unknown, features.section(200)), (1, Some(&b"new"[..])));
        assert_eq!(features.tracing_data, Some(&b"\x17\x08Dtracing"[..]));
        let machine = recording.machine();
        assert_eq!(
            (machine.arch, machine.source, machine.endian),
            (Some(Arch::S390x), MachineSource::ElfMachine, endian)
        );
    }
}

#[test]
fn topologies_and_lists() {
    let topology = le()
        .u32(1)
        .string("0-1")
        .u32(2)
        .string("0")
        .string("1")
        .halves(&[0, 0, 1, 0])
        .u32(1)
        .string("0-1");
    let bytes = with(vec![
        (7, le().halves(&[2, 2]).data),
        (13, topology.halves(&[3, 4]).data),
        (14, le().halves(&[1, 0]).words(&[100, 50]).string("0-1").data),
        (16, le().halves(&[1, 8]).string("intel_pt").data),
        (17, le().u32(1).string("").halves(&[0, 2]).data),
        (18, le().words(&[1, 0x100, 64]).data),
        (20, le().halves(&[1, 1, 1, 64, 32, 8]).string("Data").string("32K").string("0").data),
        (22, le().words(&[1, 4096, 1, 0, 3, 65, 7, 1]).data),
        (25, le().halves(&[1, 4, 3]).u64(1).raw(b"infodat").data),
        (26, le().halves(&[1, 9, 2]).raw(b"bt").data),
        (28, le().u32(1).string("branches").string("32").data),
        (30, le().u32(1).string("cpu_core").string("0-7").data),
        (31, le().halves(&[1, 1]).string("a").string("b").string("cpu").data),
        (32, le().halves(&[17, 1, 0, 1, 2]).string("MC").string("3").string("0-1").data),
    ]);
    let recording = open(&bytes);
    let features = recording.features();
    let topology = features.cpu_topology.as_ref().expect("a topology");
    assert_eq!((topology.cores.len(), topology.threads.len(), topology.dies.len()), (1, 2, 1));
    assert_eq!(
        topology.locations.iter().map(|cpu| (cpu.core, cpu.die)).collect::<Vec<_>>(),
        [(0, 3), (1, 4)]
    );
    assert_eq!((features.numa_nodes[0].total_kib, features.numa_nodes[0].cpus), (100, &b"0-1"[..]));
    assert_eq!(
        (features.pmu_mappings[0].kind, features.pmu_mappings[0].name),
        (8, &b"intel_pt"[..])
    );
    assert_eq!((features.groups[0].members, features.auxtrace_index[0].offset), (2, 0x100));
    assert_eq!((features.caches[0].ways, features.caches[0].size), (8, &b"32K"[..]));
    let memory = features.memory_topology.as_ref().expect("a topology");
    assert_eq!(memory.nodes[0].bitmap.iter().collect::<Vec<_>>(), [7, 1]);
    assert_eq!(
        (features.bpf_programs[0].info, features.bpf_programs[0].data),
        (&b"info"[..], &b"dat"[..])
    );
    assert_eq!((features.btf[0].id, features.btf[0].data), (9, &b"bt"[..]));
    assert_eq!(features.cpu_pmu_caps, [(&b"branches"[..], &b"32"[..])]);
    assert_eq!(
        (features.hybrid_nodes[0].pmu, features.pmu_caps[0].pmu),
        (&b"cpu_core"[..], &b"cpu"[..])
    );
    assert_eq!((features.cpu_domains[0].domain, features.cpu_domains[0].name), (2, &b"MC"[..]));
}

#[test]
fn event_names_come_from_event_desc() {
    let desc = le()
        .halves(&[1, 136])
        .raw(&Attr::default().bytes(Endian::Little, 136))
        .u32(2)
        .string("my-clock:u");
    let bytes = with(vec![(12, desc.words(&[5, 6]).data)]);
    assert_eq!(open(&bytes).events()[0].name, "my-clock:u");
    assert_eq!(open(&with(Vec::new())).events()[0].name, "cpu-clock");
}

#[test]
fn damaged_features_are_left_out() {
    let mut bytes = with(vec![(3, le().u32(99).raw(b"host").data), (4, le().string("6.1").data)]);
    let table = data_at(&bytes) + 8;
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(
        (recording.features().hostname, recording.features().os_release),
        (None, Some(&b"6.1"[..]))
    );
    assert_eq!(
        list(&recording.findings),
        [(1, Finding::FeatureIgnored { feature: 3, offset: table as u64 + 32, size: 8 })]
    );
    patch(&mut bytes, table + 16, u64::MAX);
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(recording.features().os_release, None);
    bytes.truncate(table + 20);
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(recording.findings.iter().map(|group| group.count).collect::<Vec<_>>(), [2]);
}

#[test]
fn big_endian_bitmap_of_a_32_bit_recorder() {
    let features = vec![(3, Bytes::new(Endian::Big).string("host").data)];
    let mut bytes = File { features, ..File::new(Attr::default(), round(Endian::Big)) }.build();
    bytes[72..80].copy_from_slice(&[0, 0, 0, 8, 0, 0, 0, 0]);
    assert_eq!(open(&bytes).features().hostname, Some(&b"host"[..]));
}

#[test]
fn kinds_of_recordings_that_are_named() {
    let bytes = with(vec![(24, le().u64(1).data), (129, b"clockid\0monotonic\0".to_vec())]);
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(
        list(&recording.findings),
        [(1, Finding::Simpleperf), (1, Finding::DirectoryRecording { version: 1 })]
    );
    assert_eq!(recording.features().simpleperf_meta, [(&b"clockid"[..], &b"monotonic"[..])]);
}
