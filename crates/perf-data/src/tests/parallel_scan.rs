//! Parallel scan: batches, counts and findings equal those of a sequential scan, for all inputs.

use std::time::Duration;

use proptest::prelude::*;
use synth::{Endian, EventAttr, PerfDataBuilder, Record, SampleBuilder, SampleId, UserRecord};

use super::session::{OPTIONS, file};
use crate::{
    EagerBatches, Finding, Findings, NextBatch, RecordEntry, RecordKind, SampleEntry, ScanOptions,
    Session, SessionOptions,
};

/// Output of a session for a file: its batches, counts and findings.
#[derive(Debug, PartialEq)]
struct Outcome {
    batches: Vec<(Vec<SampleEntry>, Vec<RecordEntry>)>,
    is_disordered: bool,
    counts: Vec<(RecordKind, u64, u64)>,
    skipped_bytes: u64,
    findings: Vec<(u64, Vec<Finding>)>,
}

/// Reads a file eagerly, and once more without if it ends in disorder. Threads scan `chunk_bytes` at a time.
fn outcome(bytes: &[u8], threads: usize, chunk_bytes: usize) -> Outcome {
    let eager = Some(EagerBatches { first_bytes: 2048, most_bytes: 8192 });
    let scan = Some(ScanOptions { threads, chunk_bytes });
    let first = read(bytes, SessionOptions { eager, scan, ..*OPTIONS });
    if !first.is_disordered {
        return first;
    }
    let again = read(bytes, SessionOptions { scan, ..*OPTIONS });
    assert!(!again.is_disordered);
    Outcome { is_disordered: true, ..again }
}

fn read(bytes: &[u8], options: SessionOptions) -> Outcome {
    let mut findings = Findings::default();
    let mut session = Session::open(file(bytes), options, &mut findings).expect("a recording");
    let mut batches = Vec::new();
    let is_disordered = loop {
        match session.next_batch_within(Duration::MAX, &mut findings) {
            NextBatch::Batch(batch) => {
                batches.push((batch.samples().to_vec(), batch.record_entries().to_vec()));
            }
            end => break matches!(end, NextBatch::Disordered),
        }
    };
    let counts = session.counts();
    Outcome {
        batches,
        is_disordered,
        counts: counts.iter().map(|(kind, it)| (kind, it.records, it.bytes)).collect(),
        skipped_bytes: counts.skipped_bytes,
        findings: findings.iter().map(|it| (it.count, it.examples.to_vec())).collect(),
    }
}

/// Compares the results with and without threads.
fn check(bytes: &[u8]) -> Outcome {
    let alone = outcome(bytes, 0, 1);
    for (threads, chunk_bytes) in [(1, 1), (1, 1000), (2, 333), (3, 700), (5, 4096)] {
        assert_eq!(
            outcome(bytes, threads, chunk_bytes),
            alone,
            "{threads} threads, {chunk_bytes} bytes"
        );
    }
    alone
}

/// Rounds of the buffers of two processors with the given stacks, interleaved with other kinds of records.
fn recording(endian: Endian, stack: impl Fn(u64) -> Vec<u8>) -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(endian);
    it.event("cycles:u", EventAttr::dwarf(0x00ff_0fff), &[7]);
    it.describe_events();
    for round in 0..30_u64 {
        let start = 1000 + round * 100;
        for at in [0, 20, 40, 60, 10, 30, 50_u64] {
            let (time, tid) = (start + at, 20 + at as i32);
            let id = SampleId::at(20, tid as u32, time + 1);
            let sample = SampleBuilder::at(0x40_0000 + time, 20, tid as u32, time);
            it.sample(&sample.with_regs(&[round; 20]).with_stack(&stack(time)));
            it.record_at(&Record::Comm { pid: 20, tid: 21, comm: b"name", exec: false }, id);
        }
        it.record_at(&Record::Lost { id: 7, lost: 2 }, SampleId::at(20, 20, start + 70));
        it.user_record(&UserRecord::FinishedRound);
    }
    it
}

/// Encodes a stack of eight-byte words.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn what_is_found_ahead_is_what_is_there() {
    for endian in [Endian::Little, Endian::Big] {
        let outcome = check(&recording(endian, |time| vec![time as u8; 200]).build());
        assert!(outcome.batches.len() > 5, "{}", outcome.batches.len());
        let samples: Vec<_> = outcome.batches.iter().flat_map(|batch| &batch.0).collect();
        assert_eq!(samples.len(), 210);
        assert!(samples.is_sorted_by_key(|sample| (sample.time, sample.position)));
        let records: Vec<_> = outcome.batches.iter().flat_map(|batch| &batch.1).collect();
        assert_eq!(records.len(), 240);
        assert_eq!(outcome.findings.len(), 1, "{:?}", outcome.findings);
    }
}

/// A stack can resemble records: long rows of headers of samples, maps and rounds, and whole records of this recording.
#[test]
fn records_in_stacks_are_none() {
    let header = |kind: u64, size: u64| kind | 2 << 32 | size << 48;
    let row = |kind: u64, size: u64| words(&vec![header(kind, size); 120]);
    let copied = recording(Endian::Little, |_| vec![0; 16]).take_records();
    let stacks =
        [row(9, 8), row(9, 64), row(10, 80), row(68, 8), row(7, 48), copied[..4000].to_vec()];
    for stack in stacks {
        let outcome = check(&recording(Endian::Little, |_| stack.clone()).build());
        let samples: usize = outcome.batches.iter().map(|batch| batch.0.len()).sum();
        assert_eq!((samples, outcome.skipped_bytes), (210, 0));
        let rounds = outcome.counts.iter().find(|count| count.0 == RecordKind::FINISHED_ROUND);
        assert_eq!(rounds.map(|count| count.1), Some(30));
        let records: usize = outcome.batches.iter().map(|batch| batch.1.len()).sum();
        assert_eq!(records, 240);
    }
}

/// A late record is detected wherever it is found, with a time and without.
#[test]
fn late_records_end_eager_reading() {
    for time in [0, 1001] {
        let mut it = recording(Endian::Little, |_| vec![1; 400]);
        let comm = Record::Comm { pid: 20, tid: 22, comm: b"late", exec: false };
        it.record_at(&comm, SampleId::at(20, 22, time));
        let outcome = check(&it.build());
        assert!(outcome.is_disordered);
        let batches: Vec<_> = outcome.batches.iter().map(|it| (it.0.len(), it.1.len())).collect();
        assert_eq!(batches, [(210, 241)]);
    }
}

/// Records that need individual treatment stay in order: of unknown type, without time, or too short.
#[test]
fn unusual_records_are_looked_at() {
    let mut it = recording(Endian::Little, |_| vec![2; 100]);
    let records = it.take_records();
    let at = |word: u64| records.windows(8).step_by(8).position(|it| it == word.to_le_bytes());
    let round = at(68 | 8 << 48).expect("a round") * 8 + 8;
    let odd =
        [vec![40_u64 | 16 << 48, 0], vec![9 | 2 << 32 | 8 << 48], vec![10 | 32 << 48, 1, 2, 3]];
    for _ in 0..20 {
        it.raw_bytes(&records[..round]);
        odd.iter().for_each(|record| {
            it.raw_bytes(&words(record));
        });
    }
    let outcome = check(&it.build());
    let findings: Vec<_> = outcome.findings.iter().map(|it| (it.0, it.1[0].kind())).collect();
    assert_eq!(findings, [(20, "events-lost"), (20, "unknown-record"), (40, "short-record")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Damage gives the same findings with and without threads.
    #[test]
    fn damage_is_found_all_the_same(
        harm in prop::collection::vec((0..1_000_000_usize, any::<u8>()), 1..12),
        cut in 0..2_000_usize,
    ) {
        let mut bytes = recording(Endian::Little, |time| vec![time as u8; 64]).build();
        let len = bytes.len() - 300;
        for (at, byte) in harm {
            bytes[300 + at % len] = byte;
        }
        bytes.truncate(bytes.len() - cut);
        let mut findings = Findings::default();
        if Session::open(file(&bytes), *OPTIONS, &mut findings).is_ok() {
            check(&bytes);
        }
    }
}
