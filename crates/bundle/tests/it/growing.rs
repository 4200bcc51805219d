//! Recordings that are written while they are unwound: each file is complete after a checkpoint, later files begin with
//! the state of the processes, and the last records fit into a file of their own.

use std::io::Cursor;
use std::ops::ControlFlow;

use address::Timestamp;
use bundle::{FinishedChain, FinishedFile, GrowingOptions, GrowingRecording, LastRecords};
use perf_data::{
    Batch, ChainEvidence, ChainEvidenceWriter, Findings, FrameRun, Head, Input, RawBody, Record,
    Session, SessionOptions, SharedBytes, visit_records,
};
use synth::{Endian, EventAttr, MmapFile, PerfDataBuilder, SampleBuilder, SampleId};

const SECOND: u64 = 1_000_000_000;

/// Returns a recording of a program that maps a second file after half of its twenty samples, a second apart.
fn recording() -> Vec<u8> {
    let mut recording = PerfDataBuilder::new(Endian::Little);
    recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[41]);
    recording.describe_events();
    let comm = synth::Record::Comm { pid: 7, tid: 7, comm: b"program", exec: true };
    recording.record_at(&comm, SampleId::at(7, 7, 1));
    let map = |recording: &mut PerfDataBuilder, addr, name, time| {
        let file = MmapFile::BuildId(&[7; 20]);
        let (pid, tid, len, pgoff, prot, flags) = (7, 7, 0x1000, 0, 5, 2);
        let map = synth::Record::Mmap2 { pid, tid, addr, len, pgoff, file, prot, flags, name };
        recording.record_at(&map, SampleId::at(7, 7, time));
    };
    map(&mut recording, 0x1000, b"/first", 2);
    for number in 1..=20 {
        if number == 11 {
            map(&mut recording, 0x2000, b"/second", 11 * SECOND - 1);
        }
        recording.sample(&SampleBuilder::at(0x1000 + number, 7, 7, number * SECOND));
    }
    recording.build()
}

/// Passes the batches of the recording on, and returns their head.
fn batches(mut each: impl FnMut(&Batch)) -> std::sync::Arc<Head> {
    let (input, mut findings) = (Input::File(SharedBytes::from(recording())), Findings::default());
    let mut session =
        Session::open(input, SessionOptions::default(), &mut findings).expect("a recording");
    let mut head = None;
    while let Some(batch) = session.next_batch(&mut findings) {
        head = Some(std::sync::Arc::clone(batch.head()));
        each(&batch);
    }
    head.expect("a batch")
}

fn options(is_compressed: bool) -> GrowingOptions {
    let evidence = ChainEvidenceWriter::new(["root", "cut"], ["sampled", "cfi"]);
    GrowingOptions {
        evidence,
        is_compressed,
        command_line: Some(vec![b"perf".to_vec()]),
        has_further_files: true,
    }
}

fn chain(number: u64) -> FinishedChain {
    let run = FrameRun { found_by: 1, has_address: true, is_whole: false, frames: 2 };
    FinishedChain { addresses: vec![number, 0xca11], end: (number % 2) as u32, runs: vec![run] }
}

fn time(number: u64) -> Timestamp {
    Timestamp(number * SECOND)
}

/// Returns the records of a file: samples by their innermost address and end reason, the rest by name.
fn read(file: &[u8]) -> Vec<String> {
    let input = Input::File(SharedBytes::from(file.to_vec()));
    let (mut found, mut findings) = (Vec::new(), Findings::default());
    let visited = visit_records(input, &mut findings, &mut |head, record| {
        let name = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        match &record.body {
            RawBody::Sample(sample) => {
                let words: Vec<u64> = sample.callchain.iter().flat_map(|it| it.entries()).collect();
                let section = head.chain_evidence().and_then(ChainEvidence::decode);
                let end = section.and_then(|it| it.of_sample(record.position).map(|it| it.end));
                let number = sample.time.0 / SECOND;
                assert_eq!(words.last(), Some(&0xca11));
                let at = words[words.len() - 2];
                found.push(format!("{number}: {at} {end:?}"));
            }
            RawBody::Record(Record::Comm(comm), _) => found.push(name(comm.comm)),
            RawBody::Record(Record::Mmap(map), _) => found.push(name(map.path)),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    assert!(findings.is_empty(), "{findings:?}");
    let head = visited.expect("a recording").head;
    assert_eq!(head.features().command_line, [b"perf"]);
    found
}

/// Returns the expected samples, which have evidence if they are finished.
fn samples(numbers: std::ops::RangeInclusive<u64>, has_evidence: bool) -> Vec<String> {
    let end = |number: u64| has_evidence.then_some(number as u32 % 2);
    numbers.map(|number| format!("{number}: {number} {:?}", end(number))).collect()
}

fn bytes(file: FinishedFile<Cursor<Vec<u8>>>) -> Vec<u8> {
    let mut bytes = file.out.into_inner();
    bytes.truncate(file.len as usize);
    bytes
}

/// Returns the expected records: names and maps, and samples before and after the second map.
fn expected(parts: &[&[String]]) -> Vec<String> {
    parts.concat()
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn each_checkpoint_completes_the_file() {
    for is_compressed in [false, true] {
        let file = std::rc::Rc::new(std::cell::RefCell::new(Cursor::new(Vec::new())));
        let mut recording = GrowingRecording::new(Shared(file.clone()), options(is_compressed));
        let head = batches(|batch| recording.take_in(batch).expect("taken"));
        let content = || file.borrow().get_ref().clone();
        let first = names(&["program", "/first"]);

        for number in 1..=5 {
            recording.provisional(time(number), chain(number).addresses).expect("a sample");
        }
        recording.checkpoint(&head).expect("written");
        assert_eq!(read(&content()), expected(&[&first, &samples(1..=5, false)]));
        // More of them follow, and one without a chain, which is omitted.
        for number in [6, 7, 9] {
            recording.provisional(time(number), chain(number).addresses).expect("a sample");
        }
        recording.checkpoint(&head).expect("written");
        let more = [samples(1..=7, false), samples(9..=9, false)].concat();
        assert_eq!(read(&content()), expected(&[&first, &more]));
        // Finished ones replace them.
        for number in 1..=6 {
            recording.sample(time(number), chain(number)).expect("a sample");
        }
        recording.checkpoint(&head).expect("written");
        assert_eq!(read(&content()), expected(&[&first, &more]));
        assert_eq!(recording.samples(), (6, 0));
        for number in 7..=20 {
            recording.sample(time(number), chain(number)).expect("a sample");
        }
        let len = recording.finish(&head).expect("written").len;
        let mut content = content();
        assert!(content.len() as u64 >= len);
        content.truncate(len as usize);
        let all =
            [first, samples(1..=10, true), names(&["/second"]), samples(11..=20, true)].concat();
        assert_eq!(read(&content), all, "{is_compressed}");
        assert_eq!(recording.samples(), (20, 0));
    }
}

#[test]
fn chains_of_other_samples_are_refused() {
    let mut recording = GrowingRecording::new(Cursor::new(Vec::new()), options(true));
    batches(|batch| recording.take_in(batch).expect("taken"));
    recording.provisional(time(3), chain(3).addresses).expect("a sample");
    recording.provisional(time(3), chain(3).addresses).expect_err("has one");
    recording.provisional(time(2), chain(2).addresses).expect_err("is before");
    recording.sample(time(2), chain(2)).expect("a sample");
    recording.sample(time(1), chain(1)).expect_err("is before");
    assert_eq!(recording.samples(), (1, 1));
}

#[test]
fn the_next_file_begins_with_the_processes() {
    let mut recording = GrowingRecording::new(Cursor::new(Vec::new()), options(true));
    let head = batches(|batch| recording.take_in(batch).expect("taken"));
    let mut files = Vec::new();
    for number in 1..=20 {
        recording.sample(time(number), chain(number)).expect("a sample");
        if number % 8 == 0 {
            recording.checkpoint(&head).expect("written");
            let former = recording.next_file(Cursor::new(Vec::new()), &head).expect("written");
            files.push(bytes(former));
        }
    }
    files.push(bytes(recording.finish(&head).expect("written")));
    let first = names(&["program", "/first"]);
    let all: Vec<_> = files.iter().map(|file| read(file)).collect();
    let second = [samples(9..=10, true), names(&["/second"]), samples(11..=16, true)].concat();
    assert_eq!(
        all,
        [
            expected(&[&first, &samples(1..=8, true)]),
            expected(&[&first, &second]),
            expected(&[&names(&["program", "/first", "/second"]), &samples(17..=20, true)]),
        ]
    );
}

#[test]
fn the_last_records_become_a_file() {
    for is_compressed in [false, true] {
        let mut records = LastRecords::new(4 * SECOND, options(is_compressed));
        let head = batches(|batch| records.take_in(batch).expect("taken"));
        assert!(records.is_empty());
        let write = |records: &mut LastRecords| {
            read(&bytes(records.write(Cursor::new(Vec::new()), &head).expect("written")))
        };
        for number in 1..=3 {
            records.sample(time(number), chain(number)).expect("a sample");
        }
        let first = names(&["program", "/first"]);
        assert_eq!(write(&mut records), expected(&[&first, &samples(1..=3, true)]));
        for number in 4..=12 {
            records.sample(time(number), chain(number)).expect("a sample");
        }
        // Each sample is a segment here, since a sixteenth of four seconds is shorter than a second.
        let second = [samples(8..=10, true), names(&["/second"]), samples(11..=12, true)].concat();
        assert_eq!(write(&mut records), expected(&[&first, &second]));
        for number in 13..=20 {
            records.sample(time(number), chain(number)).expect("a sample");
        }
        let all = names(&["program", "/first", "/second"]);
        assert_eq!(write(&mut records), expected(&[&all, &samples(16..=20, true)]));
        assert_eq!(records.samples(), (5, 0));
        assert!(!records.is_empty());
    }
}

/// An output that can be read while it is written.
struct Shared(std::rc::Rc<std::cell::RefCell<Cursor<Vec<u8>>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl std::io::Seek for Shared {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        self.0.borrow_mut().seek(to)
    }
}
