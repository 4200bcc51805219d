//! The same recording in every container gives the same samples and records, in the same order.

use std::io::{Cursor, Write as _};

use synth::{
    CompressedKind, Compressor, Endian, EventAttr, Feature, PerfDataBuilder, PipeLayout, Record,
    SampleBuilder, SampleId, UserRecord,
};

use std::sync::LazyLock;
use std::time::Duration;

use crate::{EagerBatches, Findings, Input, NextBatch, Session, SessionOptions, SharedBytes};

/// Small enough to give several batches.
pub(super) static OPTIONS: LazyLock<SessionOptions> = LazyLock::new(|| SessionOptions {
    batch_bytes: 4096,
    first_bytes: u64::MAX,
    switches: false,
    fallback_arch: None,
    pending_bytes: 1 << 20,
    expansion_bytes: 1 << 20,
    eager: None,
    scan: None,
    live: None,
    read_bytes: 1000,
    ..SessionOptions::default()
});

/// Rounds of samples that are unordered within two rounds, with some COMM records.
pub(super) fn recording(endian: Endian) -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(endian);
    it.event("cycles:u", EventAttr::dwarf(0x00ff_0fff), &[7]);
    it.describe_events();
    it.feature(&Feature::Hostname("host"));
    it.feature(&Feature::Arch("x86_64"));
    for round in 0..40_u64 {
        for at in [3, 1, 2, 0, 5, 4_u64] {
            let time = 1000 + round * 5 + at * 2;
            let (ip, tid) = (0x40_0000 + time, 20 + at as u32);
            let stack = vec![at as u8; 64 + round as usize * 8];
            let sample = SampleBuilder::at(ip, 20, tid, time).with_regs(&[round; 20]);
            it.sample(&sample.with_stack(&stack));
        }
        let comm = Record::Comm { pid: 20, tid: 21, comm: b"name", exec: false };
        it.record_at(&comm, SampleId::at(20, 21, 1000 + round * 5));
        it.user_record(&UserRecord::FinishedRound);
    }
    it
}

/// Output of a session: all samples, all records and the names of the events.
#[derive(Debug, PartialEq)]
pub(super) struct Read {
    pub(super) samples: Vec<(u64, u64, i32, Vec<u8>)>,
    pub(super) records: Vec<(u64, String)>,
    pub(super) names: Vec<String>,
}

pub(super) fn read(input: Input, options: SessionOptions) -> (Read, usize, Findings) {
    let mut findings = Findings::default();
    let mut session = Session::open(input, options, &mut findings).expect("a recording");
    let mut read = Read { samples: Vec::new(), records: Vec::new(), names: Vec::new() };
    let mut batches = 0;
    while let Some(batch) = session.next_batch(&mut findings) {
        batches += 1;
        for entry in batch.samples() {
            let sample = batch.sample(entry).expect("a sample of this batch");
            assert_eq!((sample.damage, sample.time), (None, entry.time));
            let ip = sample.ip.map_or(0, |ip| ip.0);
            let stack = sample.user_stack.map_or_else(Vec::new, |stack| stack.bytes.to_vec());
            read.samples.push((entry.time.0, ip, entry.tid.0, stack));
        }
        assert_eq!(batch.records().count(), batch.record_entries().len());
        for record in batch.records() {
            if matches!(record.record, crate::Record::User(_)) {
                continue;
            }
            read.records.push((record.time.0, format!("{:?}", record.record)));
        }
    }
    read.names = session.head().events().iter().map(|event| event.name.clone()).collect();
    (read, batches, findings)
}

pub(super) fn file(bytes: &[u8]) -> Input {
    Input::File(SharedBytes::from(bytes.to_vec()))
}

pub(super) fn stream(bytes: &[u8]) -> Input {
    Input::Stream(Box::new(Cursor::new(bytes.to_vec())))
}

fn plain(endian: Endian) -> Read {
    let (read, batches, findings) = read(file(&recording(endian).build()), *OPTIONS);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!((batches, read.samples.len(), read.records.len()), (1, 240, 40));
    assert!(read.samples.is_sorted_by_key(|sample| sample.0));
    assert_eq!(read.names, ["cycles:u"]);
    read
}

#[test]
fn pipe_streams_give_what_files_give() {
    for endian in [Endian::Little, Endian::Big] {
        let expected = plain(endian);
        for attrs_first in [false, true] {
            let layout = PipeLayout { attrs_first, ..PipeLayout::default() };
            let bytes = recording(endian).build_pipe(&layout);
            let (from_file, batches, findings) = read(file(&bytes), *OPTIONS);
            assert_eq!((&from_file, batches), (&expected, 1));
            assert!(findings.is_empty(), "{findings:?}");
            let (from_stream, batches, findings) = read(stream(&bytes), *OPTIONS);
            assert_eq!(from_stream, expected);
            assert!(batches > 5, "{batches} batches");
            assert!(findings.is_empty(), "{findings:?}");
        }
    }
}

#[test]
fn eager_reading_gives_the_same_in_several_batches() {
    let even = EagerBatches { first_bytes: 4096, most_bytes: 4096 };
    let growing = EagerBatches { first_bytes: 512, ..even };
    for endian in [Endian::Little, Endian::Big] {
        let counts = [even, growing].map(|eager| {
            let eager = SessionOptions { eager: Some(eager), ..*OPTIONS };
            let (read, batches, findings) = read(file(&recording(endian).build()), eager);
            assert_eq!(read, plain(endian));
            assert!(findings.is_empty(), "{findings:?}");
            batches
        });
        assert!(counts[0] > 5, "{counts:?} batches");
        // The first of the even batches is split in two.
        assert_eq!(counts[1], counts[0] + 1, "{counts:?} batches");
    }
}

/// A recorder may append records of the initial state, without time, or violate the order of its rounds.
#[test]
fn eager_reading_ends_at_a_record_that_comes_too_late() {
    let eager = EagerBatches { first_bytes: 4096, most_bytes: 4096 };
    let eager = SessionOptions { eager: Some(eager), ..*OPTIONS };
    for time in [0, 1001] {
        let mut it = recording(Endian::Little);
        let comm = Record::Comm { pid: 20, tid: 22, comm: b"late", exec: false };
        it.record_at(&comm, SampleId::at(20, 22, time));
        let bytes = it.build();
        let (read, batches, findings) = read(file(&bytes), *OPTIONS);
        assert_eq!(batches, 1);
        assert!(read.records.iter().take(2).any(|(at, text)| *at == time && text.contains("22")));
        assert!(findings.is_empty(), "{findings:?}");

        let mut findings = Findings::default();
        let mut session = Session::open(file(&bytes), eager, &mut findings).expect("a recording");
        let mut next = || session.next_batch_within(Duration::MAX, &mut findings);
        let ends = std::iter::repeat_with(&mut next).find(|it| !matches!(it, NextBatch::Batch(_)));
        assert!(matches!(ends, Some(NextBatch::Disordered)), "{ends:?}");
        assert!(matches!(next(), NextBatch::Disordered));
    }
}

#[test]
fn compressed_records_give_what_plain_ones_give() {
    for endian in [Endian::Little, Endian::Big] {
        let expected = plain(endian);
        for kind in [CompressedKind::Compressed, CompressedKind::Compressed2] {
            // Small chunks, straddled by records, and large ones with many records.
            for chunk in [13, 100, 60_000] {
                let mut compressed = recording(endian);
                let records = compressed.take_records();
                compressed.raw_bytes(&Compressor::new(endian, kind).pack(&records, chunk));
                let (from_file, batches, findings) = read(file(&compressed.build()), *OPTIONS);
                assert_eq!(from_file, expected, "{kind:?} chunks of {chunk}");
                assert!(batches > 5 && findings.is_empty(), "{batches} batches, {findings:?}");
                let pipe = compressed.build_pipe(&PipeLayout::default());
                let (from_stream, _, findings) = read(stream(&pipe), *OPTIONS);
                assert_eq!(from_stream, expected);
                assert!(findings.is_empty(), "{findings:?}");
            }
        }
    }
}

#[test]
fn records_between_compressed_ones_keep_their_place() {
    let expected = plain(Endian::Little);
    let mut source = recording(Endian::Little);
    let records = source.take_records();
    let round = UserRecord::FinishedRound.encode(Endian::Little);
    let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed);
    let mut left = records.as_slice();
    // As recorders write them, ends of rounds are between the compressed records and do not split a record.
    while let Some(end) = left.windows(8).position(|bytes| bytes == round.as_slice()) {
        source.raw_bytes(&compressor.pack(&left[..end], 500)).raw_bytes(&round);
        left = &left[end + 8..];
    }
    let (read, batches, findings) = read(file(&source.build()), *OPTIONS);
    assert_eq!(read, expected);
    assert!(batches > 5 && findings.is_empty(), "{batches} batches, {findings:?}");
}

#[test]
fn directories_give_what_files_give() {
    let expected = plain(Endian::Little);
    let mut source = recording(Endian::Little);
    let records = source.take_records();
    source.feature(&Feature::DirFormat { version: 1 });
    source.user_record(&UserRecord::FinishedInit);
    let round = UserRecord::FinishedRound.encode(Endian::Little);
    // A directory has no rounds; records go to two files in turn.
    let mut parts = [Vec::new(), Vec::new()];
    let mut left = records.as_slice();
    let mut turn = 0;
    while let Some(end) = left.windows(8).position(|bytes| bytes == round.as_slice()) {
        parts[turn % 2].extend_from_slice(&left[..end]);
        left = &left[end + 8..];
        turn += 1;
    }
    let compressed = parts.clone().map(|part| {
        let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed2);
        compressor.pack(&part, 700)
    });
    for parts in [parts, compressed] {
        let mut all: Vec<_> = parts.into_iter().map(SharedBytes::from).collect();
        all.insert(1, SharedBytes::from(Vec::new()));
        let input = Input::Directory { data: SharedBytes::from(source.build()), parts: all };
        let (mut read, batches, findings) = read(input, *OPTIONS);
        // Samples with equal times are in the order of the files.
        read.samples.sort_by_key(|sample| (sample.0, sample.1, sample.2));
        let mut samples = expected.samples.clone();
        samples.sort_by_key(|sample| (sample.0, sample.1, sample.2));
        assert_eq!((read.samples.len(), batches), (samples.len(), 1));
        assert_eq!(sorted(read.samples), sorted(samples));
        assert_eq!(read.records, expected.records);
        assert!(findings.is_empty(), "{findings:?}");
    }
    let (alone, _, findings) = read(file(&source.build()), *OPTIONS);
    assert_eq!(alone.samples, []);
    let kinds: Vec<_> = findings.iter().map(|group| group.examples[0].kind()).collect();
    assert!(kinds.contains(&"directory-recording"), "{kinds:?}");
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort();
    values
}

#[test]
fn recordings_compressed_as_a_whole_give_what_they_hold() {
    let expected = plain(Endian::Little);
    let source = recording(Endian::Little);
    for bytes in [source.build(), source.build_pipe(&PipeLayout::default())] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).expect("to memory");
        let gzip = gzip.finish().expect("to memory");
        let zstd = zstd::stream::encode_all(bytes.as_slice(), 1).expect("to memory");
        for compressed in [&gzip, &zstd] {
            for input in [file(compressed), stream(compressed)] {
                let (read, _, findings) = read(input, *OPTIONS);
                assert_eq!(read, expected);
                assert!(findings.is_empty(), "{findings:?}");
            }
        }
        // Truncated in the middle: the samples before are read.
        let (cut, _, findings) = read(stream(&gzip[..gzip.len() / 2]), *OPTIONS);
        assert!(!cut.samples.is_empty() && cut.samples.len() < 240);
        let kinds: Vec<_> = findings.iter().map(|group| group.examples[0].kind()).collect();
        assert!(kinds.contains(&"stream-broken"), "{kinds:?}");
    }
}
