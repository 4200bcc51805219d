//! Tests of the layout of files and streams.

use super::attr::{EventAttr, sample_type};
use super::compressed::{CompressedKind, Compressor};
use super::feature::Feature;
use super::file::PerfDataBuilder;
use super::pipe::PipeLayout;
use super::record::Record;
use super::sample::SampleBuilder;
use super::user_record::UserRecord;
use crate::bytes::Endian;

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn small(endian: Endian) -> PerfDataBuilder {
    let mut recording = PerfDataBuilder::new(endian);
    let attr = EventAttr { sample_type: sample_type::IP, ..EventAttr::default() }.sized(64);
    recording.event("cycles", attr, &[0x77]);
    recording.sample(&SampleBuilder { ip: 0x1234, ..SampleBuilder::default() });
    recording.feature(&Feature::TotalMem(0x55)).raw_feature(129, b"xyz");
    recording
}

#[test]
fn file_header_and_parts() {
    let file = small(Endian::Little).build_file();
    let bytes = &file.bytes;
    // Header 104, one id, one attribute of 64 + 16, a record of 16, two table rows, payloads.
    assert_eq!((file.attrs.clone(), file.data.clone()), (112..192, 192..208));
    assert_eq!(bytes.len(), 208 + 32 + 8 + 3);
    let header: Vec<u64> = (8..104).step_by(8).map(|at| u64_at(bytes, at)).collect();
    assert_eq!(header, [104, 80, 112, 80, 192, 16, 0, 0, 1 << 10, 0, 1 << 1, 0]);
    assert_eq!(u64_at(bytes, 104), 0x77);
    assert_eq!((u64_at(bytes, 176), u64_at(bytes, 184)), (104, 8));
    assert_eq!(file.records, [192]);
    assert_eq!(bytes[192..208], [9, 0, 0, 0, 2, 0, 16, 0, 0x34, 0x12, 0, 0, 0, 0, 0, 0]);
    let table: Vec<u64> = (208..240).step_by(8).map(|at| u64_at(bytes, at)).collect();
    assert_eq!(table, [240, 8, 248, 3]);
    assert_eq!(file.features, [(10, 240..248), (129, 248..251)]);
    assert_eq!(&bytes[248..], b"xyz");
}

#[test]
fn big_endian_header() {
    let bytes = small(Endian::Big).build();
    assert_eq!(bytes[..24], *b"2ELIFREP\0\0\0\0\0\0\0\x68\0\0\0\0\0\0\0\x50");
    assert_eq!(bytes[72..80], [0, 0, 0, 0, 0, 0, 4, 0]);
}

#[test]
fn narrow_bitmap_of_a_32_bit_recorder() {
    let mut recording = small(Endian::Big);
    recording.layout.narrow_bitmap = true;
    let bytes = recording.build();
    assert_eq!(bytes[72..76], [0, 0, 4, 0]);
    assert_eq!(bytes[72 + 16..72 + 20], [0, 0, 0, 2]);
}

#[test]
fn killed_recorder_leaves_bits_but_no_features() {
    let mut recording = small(Endian::Little);
    recording.layout.finished = false;
    let file = recording.build_file();
    assert_eq!(file.bytes.len(), 208);
    assert_eq!((u64_at(&file.bytes, 40), u64_at(&file.bytes, 48)), (192, 0));
    assert_eq!(u64_at(&file.bytes, 72), 1 << 10);
}

#[test]
fn attributes_behind_everything_and_spare_slots() {
    let mut recording = small(Endian::Little);
    recording.layout.attrs_after_data = true;
    recording.layout.spare_feature_slots = 1;
    let file = recording.build_file();
    assert_eq!(file.data, 104..120);
    assert_eq!(file.features, [(10, 168..176), (129, 176..179)]);
    assert_eq!(file.attrs, 192..272);
    assert_eq!((u64_at(&file.bytes, 24), u64_at(&file.bytes, 256)), (192, 184));
}

#[test]
fn old_header_without_bitmap() {
    let mut recording = small(Endian::Little);
    recording.layout.header_size = 72;
    recording.layout.magic = Some(*b"PERFFILE");
    recording.layout.stated_attr_size = Some(100);
    let file = recording.build_file();
    assert_eq!(file.bytes.len(), 72 + 8 + 80 + 16);
    assert_eq!((u64_at(&file.bytes, 8), u64_at(&file.bytes, 16)), (72, 100));
    assert_eq!(&file.bytes[..8], b"PERFFILE");
}

#[test]
fn pipe_stream() {
    let mut recording = small(Endian::Little);
    recording.user_record(&UserRecord::FinishedRound);
    let layout = PipeLayout { trailing_text: b"[ done".to_vec(), ..PipeLayout::default() };
    let bytes = recording.build_pipe(&layout);
    // (type, size) of each record: features, end mark, attribute, name, sample, round.
    let mut at = 16;
    let mut heads = Vec::new();
    while at + 8 <= bytes.len() {
        let size = u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]);
        heads.push((bytes[at], size));
        at += usize::from(size);
    }
    assert_eq!(heads, [(80, 24), (80, 19), (80, 16), (64, 80), (78, 32), (9, 16), (68, 8)]);
    assert_eq!(&bytes[at..], b"[ done");
}

#[test]
fn compressed_records_hold_the_same_bytes() {
    let mut recording = small(Endian::Little);
    recording.record(&Record::Switch { out: false });
    let plain = recording.take_records();
    assert_eq!(plain.len(), 24);
    let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed);
    recording.raw_bytes(&compressor.pack(&plain, 20));
    let stream = recording.record_stream();
    // 20 bytes with the frame header, then 4 bytes: the second record straddles the chunks.
    assert_eq!((stream[0], stream[6], stream[37], stream[43]), (81, 37, 81, 15));
    assert_eq!([&stream[17..37], &stream[48..52]].concat(), plain);
}

#[test]
fn names_and_strings_of_features() {
    let mut recording = small(Endian::Little);
    recording.describe_events();
    let file = recording.build_file();
    let (bit, range) = file.features[1].clone();
    let desc = &file.bytes[range];
    assert_eq!((bit, desc.len()), (12, 4 + 4 + 64 + 4 + 4 + 64 + 8));
    assert_eq!(desc[..12], [1, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(desc[72..87], *b"\x01\0\0\0\x40\0\0\0cycles\0");
    assert_eq!(u64_at(desc, 144), 0x77);
}

#[test]
fn payloads_of_list_features() {
    let le = Endian::Little;
    let cmdline = Feature::Cmdline(&["perf", "record"]).encode(le);
    assert_eq!(
        (cmdline.len(), cmdline[0], cmdline[4], &cmdline[8..12]),
        (140, 2, 64, b"perf".as_slice())
    );
    let pmus = Feature::PmuMappings(&[(4, "cpu")]).encode(le);
    assert_eq!(pmus[..15], *b"\x01\0\0\0\x04\0\0\0\x40\0\0\0cpu");
    let groups = Feature::GroupDesc(&[("g", 1, 2)]).encode(le);
    assert_eq!((groups.len(), groups[72], groups[76]), (80, 1, 2));
    let memory = Feature::MemTopology { block_size: 9, nodes: &[(0, 3, &[7])] }.encode(le);
    let words: Vec<u64> = (0..56).step_by(8).map(|at| u64_at(&memory, at)).collect();
    assert_eq!(words, [1, 9, 1, 0, 3, 64, 7]);
    let clock = Feature::ClockData { clockid: 1, wall_clock_ns: 2, clockid_ns: 3 }.encode(le);
    assert_eq!((clock[0], clock[4], u64_at(&clock, 8), u64_at(&clock, 16)), (1, 1, 2, 3));
    let packed = Feature::Compressed { level: 1, ratio: 2, mmap_len: 3 }.encode(le);
    assert_eq!(packed, [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(Feature::Auxtrace(&[(5, 6)]).encode(le).len(), 24);
    assert_eq!(Feature::BranchStack.encode(le), []);
}
