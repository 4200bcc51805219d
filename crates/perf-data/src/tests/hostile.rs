//! Hostile recordings: their cost is proportional to their size, and the sound parts are read.

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use budget::{Budget, Limit, Resource};
use synth::{
    CompressedKind, Compressor, Endian, EventAttr, PerfDataBuilder, SampleBuilder, UserRecord,
    attr_flag, sample_type, simpleperf_meta_info, simpleperf_record,
};

use super::builder::Bytes;
use super::read_file::list;
use super::session::{OPTIONS, file, read};
use crate::{Error, Finding, Findings, Input, Session, SessionOptions, TracingData, visit_records};

fn small() -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
    let flags = attr_flag::SAMPLE_ID_ALL;
    it.event("cycles", EventAttr { sample_type, flags, ..EventAttr::default() }, &[1]);
    it
}

/// Samples with the given times, as compressed records of `chunk` bytes.
fn packed(times: std::ops::RangeInclusive<u64>, chunk: usize) -> Vec<u8> {
    let mut it = small();
    for time in times {
        it.sample(&SampleBuilder::at(0x1000, 1, 1, time));
    }
    Compressor::new(Endian::Little, CompressedKind::Compressed2).pack(&it.take_records(), chunk)
}

/// A compressed record of `n` equal samples.
fn equal(n: usize) -> PerfDataBuilder {
    let mut it = small();
    it.sample(&SampleBuilder::at(0x1000, 1, 1, 5));
    let records = it.take_records().repeat(n);
    let data = zstd::encode_all(&records[..], 3).expect("memory");
    it.user_record(&UserRecord::Compressed { data: &data });
    it
}

fn with(resource: Resource, limit: u64) -> SessionOptions {
    let limit = Limit { base: limit, per_byte: 0, most: limit };
    SessionOptions { budget: Budget::default().with(resource, limit), ..*OPTIONS }
}

fn kinds(findings: &Findings) -> Vec<(u64, &'static str)> {
    list(findings).iter().map(|(count, finding)| (*count, finding.kind())).collect()
}

#[test]
fn packed_records_are_counted() {
    let mut it = small();
    it.raw_bytes(&packed(1..=1_000, 4_000));
    it.sample(&SampleBuilder::at(0x1000, 1, 1, 2_000));
    let (found, _, findings) = read(file(&it.build()), with(Resource::PackedRecords, 300));
    let times: Vec<_> = found.samples.iter().map(|sample| sample.0).collect();
    assert_eq!(times, (1..=300).chain([2_000]).collect::<Vec<_>>());
    assert_eq!(kinds(&findings)[0], (1, "limit-reached"));
    let (found, _, findings) = read(file(&it.build()), *OPTIONS);
    assert_eq!((found.samples.len(), kinds(&findings)), (1_001, Vec::new()));
}

#[test]
fn unpacked_bytes_are_counted() {
    let mut it = equal(20_000);
    it.sample(&SampleBuilder::at(0x1000, 1, 1, 200_000));
    let (found, _, findings) = read(file(&it.build()), with(Resource::RecordBytes, 1 << 16));
    assert!(found.samples.len() < 20_000, "{}", found.samples.len());
    assert_eq!(found.samples.last().map(|sample| sample.0), Some(200_000));
    assert!(kinds(&findings).contains(&(1, "limit-reached")));
}

/// The blocks expanded from one compressed record are contiguous.
#[test]
fn a_record_is_unpacked_block_by_block() {
    let n = 300_000;
    let it = equal(n);
    let options = SessionOptions { expansion_bytes: 64 << 20, pending_bytes: 1 << 30, ..*OPTIONS };
    let (found, _, findings) = read(file(&it.build()), options);
    assert_eq!(kinds(&findings), []);
    assert_eq!(found.samples.len(), n);
    let mut places = Vec::new();
    let mut findings = Findings::default();
    visit_records(file(&it.build()), &mut findings, &mut |_, record| {
        places.extend(record.inside);
        ControlFlow::Continue(())
    })
    .expect("a recording");
    let size = places[1] - places[0];
    assert!(places.iter().copied().eq((0..n as u64).map(|index| index * size)));
}

/// Counts the bytes read from it.
struct Endless(Arc<AtomicU64>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(0);
        self.0.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        Ok(buffer.len())
    }
}

#[test]
fn what_is_no_recording_is_not_read() {
    let read = Arc::new(AtomicU64::new(0));
    let input = Input::Stream(Box::new(Endless(Arc::clone(&read))));
    let error = Session::open(input, *OPTIONS, &mut Findings::default()).expect_err("zeros");
    assert_eq!(error, Error::NotPerfData { found: [0; 8] });
    assert!(read.load(Ordering::Relaxed) <= 4096);
}

/// Ids of events between all samples: each addition would sort all ids.
#[test]
fn ids_do_not_come_for_ever() {
    const EVENT_ID: u32 = 32_774;
    let mut it = small();
    it.raw_feature(129, &simpleperf_meta_info(&[("simpleperf_version", "1")]));
    for index in 0..50_u64 {
        let words = [1, 0, 100 + index];
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        it.raw_bytes(&simpleperf_record(Endian::Little, EVENT_ID, &body));
        it.sample(&SampleBuilder::at(0x1000, 1, 1, index + 1));
    }
    let mut findings = Findings::default();
    let mut session = Session::open(file(&it.build()), *OPTIONS, &mut findings).expect("a file");
    let mut samples = 0;
    while let Some(batch) = session.next_batch(&mut findings) {
        samples += batch.samples().len();
    }
    assert_eq!(samples, 50);
    assert_eq!(session.head().events()[0].ids.len(), 1 + 16);
    let ignored = |(count, finding): &(u64, Finding)| {
        matches!(finding, Finding::IdsIgnored { .. }).then_some(*count)
    };
    assert_eq!(list(&findings).iter().find_map(ignored), Some(34));
}

#[test]
fn fields_that_overlap_are_left_out() {
    let mut text = String::from("name: x\nID: 5\nformat:\n");
    for index in 0..100 {
        text += &format!("field:u8 a{index}[64];offset:0;size:64;\n");
        text += &format!("field:__data_loc char[] t{index};offset:{};size:4;\n", 64 + 4 * index);
    }
    let sized = |it: Bytes, text: &str| it.u64(text.len() as u64).raw(text.as_bytes());
    let it = Bytes::new(crate::Endian::Little);
    let it = it.raw(b"\x17\x08\x44tracing0.6\0").raw(&[0, 8]).u32(4096);
    let it = sized(it.raw(b"header_page\0"), "");
    let it = sized(it.raw(b"header_event\0"), "").u32(0).u32(1);
    let bytes = sized(it.raw(b"sys\0").u32(1), &text).data;
    let data = TracingData::parse(&bytes).expect("tracing data");
    let format = data.format(5).expect("a format");
    assert_eq!((format.fields.len(), format.overlapping), (101, 99));
    // Each text claims all of the first 200 bytes, so the limit permits two.
    let mut raw = vec![1; 64];
    raw.extend((0..100).flat_map(|_| (200_u32 << 16).to_le_bytes()));
    assert_eq!(format.values(&raw, data.endian()).count(), 1 + 2);
}
