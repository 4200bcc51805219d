//! Damaged, late and unusual streams: records retained and findings.

use synth::{
    CompressedKind, Compressor, Endian, EventAttr, Feature, PerfDataBuilder, PipeLayout, Record,
    SampleBuilder, SampleId, UserRecord, attr_flag, sample_type, simpleperf_meta_info,
    simpleperf_record,
};

use super::read_file::list;
use super::session::{OPTIONS, file, read, recording, stream};
use crate::{Error, Finding, Findings, HeaderFault, Input, Session, SessionOptions};

/// IP, TID, TIME and nothing else.
fn small(endian: Endian) -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(endian);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
    let flags = attr_flag::SAMPLE_ID_ALL;
    it.event("cycles", EventAttr { sample_type, flags, ..EventAttr::default() }, &[1]);
    it
}

fn times(input: Input, options: SessionOptions) -> (Vec<u64>, Vec<(u64, Finding)>) {
    let (read, _, findings) = read(input, options);
    (read.samples.iter().map(|sample| sample.0).collect(), list(&findings))
}

fn with_samples(times: impl IntoIterator<Item = u64>) -> PerfDataBuilder {
    let mut it = small(Endian::Little);
    for time in times {
        it.sample(&SampleBuilder::at(0x1000, 1, 1, time));
    }
    it
}

#[test]
fn text_behind_a_stream_is_noted() {
    let text = b"[ perf record: Woken up 1 times to write data ]\n".to_vec();
    let layout = PipeLayout { trailing_text: text.clone(), ..PipeLayout::default() };
    let bytes = with_samples(1..=3).build_pipe(&layout);
    let offset = (bytes.len() - text.len()) as u64;
    let note = Finding::TrailingText { offset, len: text.len() as u64 };
    // In a stream the position excludes the header, which is not part of its records.
    for input in [file(&bytes), stream(&bytes)] {
        assert_eq!(times(input, *OPTIONS), (vec![1, 2, 3], vec![(1, note)]));
    }
}

#[test]
fn a_cut_stream_keeps_its_whole_records() {
    let bytes = with_samples(1..=3).build_pipe(&PipeLayout::default());
    let cut = &bytes[..bytes.len() - 4];
    let offset = bytes.len() as u64 - 32;
    let partial = Finding::PartialRecord { offset, len: 28 };
    assert_eq!(times(stream(cut), *OPTIONS), (vec![1, 2], vec![(1, partial)]));
}

#[test]
fn a_stream_without_events_is_refused() {
    let bytes = b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec();
    let mut findings = Findings::default();
    let error = Session::open(stream(&bytes), *OPTIONS, &mut findings).expect_err("no events");
    assert_eq!(error, Error::NoEventsInStream { len: 0 });
    let error = Session::open(stream(b""), *OPTIONS, &mut findings).expect_err("no bytes");
    assert_eq!(error, Error::EmptyStream);
}

#[test]
fn damaged_compression_ends_only_its_stream() {
    let mut it = small(Endian::Little);
    let sample = |time: u64| SampleBuilder::at(0x1000, 1, 1, time);
    let compressed = with_samples(1..=4).take_records();
    let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed);
    let first = compressor.pack(&compressed[..64], 1000);
    it.raw_bytes(&first);
    it.user_record(&UserRecord::Compressed { data: &[0xff; 16] });
    it.raw_bytes(&compressor.pack(&compressed[64..], 1000));
    it.sample(&sample(9));
    let built = it.build_file();
    let (times, findings) = times(file(&built.bytes), *OPTIONS);
    assert_eq!(times, [1, 2, 9]);
    let kinds: Vec<_> = findings.iter().map(|(count, it)| (*count, it.kind())).collect();
    assert_eq!(kinds, [(1, "bad-compression"), (1, "compressed-record")]);
}

#[test]
fn what_expands_without_measure_is_cut() {
    let mut it = small(Endian::Little);
    let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed2);
    it.raw_bytes(&compressor.pack_run(0, 3 << 20));
    it.sample(&SampleBuilder::at(0x1000, 1, 1, 9));
    let (times, findings) = times(file(&it.build()), *OPTIONS);
    assert_eq!(times, [9]);
    assert!(
        findings
            .iter()
            .any(|(_, it)| matches!(it, Finding::ExpansionTooLarge { limit: 0x10_0000, .. }))
    );
}

#[test]
fn a_tail_that_never_ends_is_reported() {
    let mut it = small(Endian::Little);
    let compressed = with_samples(1..=2).take_records();
    let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed);
    it.raw_bytes(&compressor.pack(&compressed[..40], 1000));
    let (times, findings) = times(file(&it.build()), *OPTIONS);
    assert_eq!(times, [1]);
    assert!(matches!(findings[..], [(1, Finding::PartialRecord { len: 8, .. })]), "{findings:?}");
}

#[test]
fn events_and_build_ids_may_come_late() {
    let mut late = PerfDataBuilder::new(Endian::Little);
    let attr = EventAttr {
        sample_type: sample_type::IDENTIFIER | sample_type::TID | sample_type::TIME,
        flags: attr_flag::SAMPLE_ID_ALL,
        ..EventAttr::default()
    };
    late.event("first", attr.clone(), &[1]);
    let sample = |id: u64, time: u64| SampleBuilder { id, ..SampleBuilder::at(0, 1, 1, time) };
    late.sample(&sample(1, 5));
    late.user_record(&UserRecord::HeaderAttr { attr: &attr, ids: &[2] });
    late.user_record(&UserRecord::EventUpdate { kind: 2, id: 2, payload: b"second\0" });
    late.sample(&sample(2, 6));
    let entry =
        synth::BuildIdEntry { misc: 2, pid: -1, id: &[7; 20], sized: true, name: b"/bin/a" };
    late.user_record(&UserRecord::BuildId(entry));
    let bytes = late.build_pipe(&PipeLayout::default());
    let mut findings = Findings::default();
    let mut session = Session::open(stream(&bytes), *OPTIONS, &mut findings).expect("a stream");
    assert_eq!(session.head().events().len(), 1);
    let batch = session.next_batch(&mut findings).expect("a batch");
    let events: Vec<_> = batch.samples().iter().map(|entry| entry.event).collect();
    assert_eq!(events, [0, 1]);
    assert!(session.next_batch(&mut findings).is_none());
    let head = session.head();
    assert_eq!(
        (head.events()[0].name.as_str(), head.events()[1].name.as_str()),
        ("first", "second")
    );
    let features = head.features();
    assert_eq!((features.build_ids.len(), features.build_ids[0].name), (1, &b"/bin/a"[..]));
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn rounds_that_end_before_the_first_event_lose_nothing() {
    let attr = EventAttr {
        sample_type: sample_type::IDENTIFIER | sample_type::TID | sample_type::TIME,
        ..EventAttr::default()
    };
    let mut it = PerfDataBuilder::new(Endian::Little);
    let id = synth::BuildIdEntry { misc: 2, pid: -1, id: &[7; 20], sized: true, name: b"/bin/a" };
    for _ in 0..2 {
        it.user_record(&UserRecord::BuildId(id));
        it.user_record(&UserRecord::FinishedRound);
    }
    it.user_record(&UserRecord::HeaderAttr { attr: &attr, ids: &[7] });
    let mut bytes = it.build_pipe(&PipeLayout::default());
    let mut late = PerfDataBuilder::new(Endian::Little);
    late.event("first", attr, &[7]);
    late.sample(&SampleBuilder { id: 7, ..SampleBuilder::at(0, 1, 1, 5) });
    bytes.extend(late.take_records());
    // A batch at each round.
    let options = SessionOptions { batch_bytes: 0, ..*OPTIONS };
    for input in [file(&bytes), stream(&bytes)] {
        let (read, batches, findings) = read(input, options);
        assert_eq!((batches, read.samples.len()), (1, 1), "{read:?}");
        assert!(findings.is_empty(), "{findings:?}");
    }
}

#[test]
fn without_rounds_memory_is_bounded_and_nothing_is_lost() {
    let options = SessionOptions { pending_bytes: 320, ..*OPTIONS };
    let bytes = with_samples((0..100).map(|at| 1 + (at ^ 1))).build_pipe(&PipeLayout::default());
    let (read, batches, findings) = read(stream(&bytes), options);
    assert_eq!(read.samples.len(), 100);
    assert!(batches > 10, "{batches} batches");
    let kinds: Vec<_> = findings.iter().map(|group| group.examples[0].kind()).collect();
    assert_eq!(kinds, ["rounds-missing"]);
    assert!(read.samples.is_sorted_by_key(|sample| sample.0));
}

#[test]
fn damage_in_a_stream_is_passed_over() {
    let mut it = with_samples(1..=2);
    it.raw_bytes(&[0xee; 40]);
    for time in 3..=6 {
        it.sample(&SampleBuilder::at(0x1000, 1, 1, time));
    }
    let bytes = it.build_pipe(&PipeLayout::default());
    let (times, findings) = times(stream(&bytes), *OPTIONS);
    assert_eq!(times, [1, 2, 3, 4, 5, 6]);
    assert!(
        matches!(
            findings[..],
            [(
                1,
                Finding::BadRecord {
                    fault: HeaderFault::Unaligned | HeaderFault::TooLarge,
                    skipped: 40,
                    ..
                }
            )]
        ),
        "{findings:?}"
    );
}

#[test]
fn deferred_chains_are_joined_by_thread_and_cookie() {
    const DEFERRED: u64 = -640_i64 as u64;
    let mut it = PerfDataBuilder::new(Endian::Little);
    let attr = EventAttr {
        sample_type: sample_type::IP
            | sample_type::TID
            | sample_type::TIME
            | sample_type::CALLCHAIN,
        flags: attr_flag::SAMPLE_ID_ALL | 1 << 38,
        ..EventAttr::default()
    };
    it.event("cycles", attr, &[1]);
    let sample = |tid: u32, time: u64, cookie: u64| {
        SampleBuilder::at(0x1000, 1, tid, time).with_callchain(&[DEFERRED, cookie])
    };
    it.sample(&sample(1, 1, 77)).sample(&sample(2, 2, 77)).sample(&sample(1, 3, 77));
    it.sample(&sample(1, 4, 78));
    let chain = |ips: &'static [u64]| Record::CallchainDeferred { cookie: 77, ips };
    it.record_at(&chain(&[0xa, 0xb]), SampleId::at(1, 1, 10));
    it.record_at(&chain(&[0xc]), SampleId::at(1, 2, 11));
    let mut findings = Findings::default();
    let mut session = Session::open(file(&it.build()), *OPTIONS, &mut findings).expect("a file");
    let batch = session.next_batch(&mut findings).expect("a batch");
    let chains = batch.samples().iter().map(|entry| {
        let chain = batch.sample(entry).expect("a sample").user_callchain;
        chain.map(|chain| chain.entries().collect::<Vec<_>>())
    });
    let expected = [Some(vec![0xa, 0xb]), Some(vec![0xc]), Some(vec![0xa, 0xb]), None];
    assert_eq!(chains.collect::<Vec<_>>(), expected);
    assert!(session.next_batch(&mut findings).is_none());
    assert_eq!(session.counts().unmatched_chains, 1);
    let kinds: Vec<_> = findings.iter().map(|group| group.examples[0].kind()).collect();
    assert_eq!(kinds, ["chain-missing"]);
}

/// A task that sleeps in the kernel gets its chain only when it wakes up, many rounds later.
#[test]
fn samples_of_a_stream_wait_for_deferred_chains() {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let attr = EventAttr {
        sample_type: sample_type::IP
            | sample_type::TID
            | sample_type::TIME
            | sample_type::CALLCHAIN,
        flags: attr_flag::SAMPLE_ID_ALL | attr_flag::DEFER_CALLCHAIN,
        ..EventAttr::default()
    };
    it.event("cycles", attr, &[1]);
    it.sample(&SampleBuilder::at(0x1000, 1, 1, 1).with_callchain(&[-640_i64 as u64, 77]));
    for time in 2..400 {
        it.sample(&SampleBuilder::at(0x1000, 1, 2, time));
        if time % 50 == 0 {
            it.user_record(&UserRecord::FinishedRound);
        }
    }
    it.record_at(&Record::CallchainDeferred { cookie: 77, ips: &[0xa] }, SampleId::at(1, 1, 500));
    let bytes = it.build_pipe(&PipeLayout::default());
    let mut findings = Findings::default();
    let mut session = Session::open(stream(&bytes), *OPTIONS, &mut findings).expect("a stream");
    let mut chains = Vec::new();
    while let Some(batch) = session.next_batch(&mut findings) {
        let sample = |entry| batch.sample(entry).expect("a sample").user_callchain;
        chains.extend(batch.samples().iter().filter_map(sample).map(|chain| chain.len()));
    }
    assert_eq!((chains, session.counts().unmatched_chains), (vec![1], 0));
}

#[test]
fn simpleperf_chains_and_split_records() {
    let mut it = small(Endian::Little);
    it.raw_feature(129, &simpleperf_meta_info(&[("simpleperf_version", "1")]));
    it.sample(&SampleBuilder::at(0x1000, 1, 5, 100)).sample(&SampleBuilder::at(0x1000, 1, 6, 100));
    let mut body = Vec::new();
    body.extend([1_u32, 5].iter().flat_map(|word| word.to_le_bytes()));
    body.extend([0_u64, 100, 2, 0x1000, 0x2000, 8, 16].iter().flat_map(|word| word.to_le_bytes()));
    let record = simpleperf_record(Endian::Little, 32775, &body);
    it.raw_bytes(&synth::simpleperf_split(Endian::Little, &record, 30));
    let mut findings = Findings::default();
    let mut session = Session::open(file(&it.build()), *OPTIONS, &mut findings).expect("a file");
    let batch = session.next_batch(&mut findings).expect("a batch");
    let chains = batch.samples().iter().map(|entry| {
        let chain = batch.sample(entry).expect("a sample").user_callchain;
        chain.map(|chain| chain.entries().collect::<Vec<_>>())
    });
    assert_eq!(chains.collect::<Vec<_>>(), [Some(vec![0x1000, 0x2000]), None]);
    assert!(session.next_batch(&mut findings).is_none());
    assert_eq!(session.counts().of(crate::RecordKind::SIMPLEPERF_CALLCHAIN).records, 1);
}

/// Truncation and flipped bytes do no harm, in any container.
#[test]
fn damage_anywhere_does_no_harm() {
    let mut it = recording(Endian::Little);
    it.feature(&Feature::DirFormat { version: 0 });
    let records = it.take_records();
    it.raw_bytes(&records[..3000]);
    let pipe = it.build_pipe(&PipeLayout::default());
    let compressed =
        Compressor::new(Endian::Little, CompressedKind::Compressed2).pack(&records[..3000], 200);
    it.take_records();
    it.raw_bytes(&compressed);
    for bytes in [pipe, it.build()] {
        for at in (0..bytes.len()).step_by(7) {
            exercise(&bytes[..at]);
            let mut flipped = bytes.clone();
            flipped[at] ^= 0xff;
            exercise(&flipped);
        }
    }
}

fn exercise(bytes: &[u8]) {
    for input in [file(bytes), stream(bytes)] {
        let mut findings = Findings::default();
        let Ok(mut session) = Session::open(input, *OPTIONS, &mut findings) else { continue };
        let mut samples = 0;
        while let Some(batch) = session.next_batch(&mut findings) {
            samples += batch.samples().len() as u64;
            assert!(batch.samples().iter().all(|entry| batch.sample(entry).is_ok()));
            assert_eq!(batch.records().count(), batch.record_entries().len());
        }
        let counts = session.counts();
        let total = counts.of(crate::RecordKind::SAMPLE).records;
        assert_eq!(samples + counts.dropped_samples, total);
    }
}
