//! One stream of two recorders.

use std::io::{self, Cursor};

use synth::{
    Endian, EventAttr, PerfDataBuilder, PipeLayout, Record as Written, SampleBuilder,
    SampleId as WrittenId, UserRecord, attr_flag, sample_type,
};

use super::StreamSuccession;
use crate::{Findings, Input, Record, Session, SessionOptions, SharedBytes};

/// Byte order of this machine.
const NATIVE: Endian = if cfg!(target_endian = "big") { Endian::Big } else { Endian::Little };
const MS: u64 = 1_000_000;

fn recording(ids: [&[u64]; 2]) -> PerfDataBuilder {
    let attr = EventAttr {
        sample_type: sample_type::IDENTIFIER | sample_type::TID | sample_type::TIME,
        flags: attr_flag::SAMPLE_ID_ALL,
        ..EventAttr::default()
    };
    let mut it = PerfDataBuilder::new(NATIVE);
    it.event("first", attr.clone(), ids[0]);
    it.event("second", attr, ids[1]);
    it
}

fn sample(it: &mut PerfDataBuilder, id: u64, time: u64) {
    it.sample(&SampleBuilder { id, ..SampleBuilder::at(0, 1, 1, time * MS) });
}

fn comm(it: &mut PerfDataBuilder, id: u64, time: u64, name: &[u8]) {
    let name = Written::Comm { pid: 1, tid: 1, comm: name, exec: false };
    it.record_at(&name, WrittenId { id, ..WrittenId::at(1, 1, time * MS) });
}

/// Returns names and times of all records, in milliseconds, with the events of samples; and the findings.
fn read(bytes: Vec<u8>) -> (Vec<String>, Vec<&'static str>) {
    let mut findings = Findings::default();
    let input = Input::File(SharedBytes::from(bytes));
    let mut session = Session::open(input, SessionOptions::default(), &mut findings).unwrap();
    let mut lines = Vec::new();
    while let Some(batch) = session.next_batch(&mut findings) {
        for record in batch.records() {
            match record.record {
                Record::Comm(comm) => {
                    let name = String::from_utf8_lossy(comm.comm).into_owned();
                    lines.push(format!("{} {name}", record.time.0 / MS));
                }
                Record::Lost(lost) => {
                    lines.push(format!("{} lost {} of {}", record.time.0 / MS, lost.lost, lost.id));
                }
                _ => {}
            }
        }
        for entry in batch.samples() {
            lines.push(format!("{} event {}", entry.time.0 / MS, entry.event));
        }
    }
    (lines, findings.iter().map(|group| group.examples[0].kind()).collect())
}

#[test]
fn the_second_stream_follows_the_last_time_of_the_first() {
    let mut first = recording([&[1, 2], &[3, 4]]);
    comm(&mut first, 1, 10, b"early");
    for (id, time) in [(1, 10), (4, 100), (4, 120), (2, 119)] {
        sample(&mut first, id, time);
    }
    comm(&mut first, 3, 110, b"kept");

    let mut second = recording([&[11, 12], &[13, 14]]);
    comm(&mut second, 0, 0, b"synthesized");
    comm(&mut second, 12, 110, b"repeated");
    for (id, time) in [(11, 100), (12, 119), (13, 120), (14, 121), (11, 122)] {
        sample(&mut second, id, time);
    }
    comm(&mut second, 12, 121, b"renamed");
    second.record_at(
        &Written::Lost { id: 14, lost: 5 },
        WrittenId { id: 13, ..WrittenId::at(1, 1, 123 * MS) },
    );
    second.user_record(&UserRecord::FinishedRound);

    let succession = StreamSuccession::default();
    assert!(succession.follow(Cursor::new(second.build_pipe(&PipeLayout::default()))));
    assert!(!succession.follow(io::empty()));
    let mut out = Vec::new();
    succession.copy(Cursor::new(first.build_pipe(&PipeLayout::default())), &mut out).unwrap();
    assert_eq!(succession.overlap(), 3);
    let (lines, findings) = read(out);
    assert_eq!(
        lines,
        [
            "10 early",
            "110 kept",
            "121 renamed",
            "123 lost 5 of 4",
            "10 event 0",
            "100 event 1",
            "119 event 0",
            "120 event 1",
            "121 event 1",
            "122 event 0",
        ]
    );
    assert_eq!(findings, ["events-lost"]);
    assert!(!succession.follow(io::empty()));
}

#[test]
fn without_a_second_stream_the_first_one_is_unchanged() {
    let mut first = recording([&[1], &[2]]);
    sample(&mut first, 1, 10);
    first.user_record(&UserRecord::TracingData { data: b"formats" });
    sample(&mut first, 2, 11);
    let mut bytes = first.build_pipe(&PipeLayout::default());
    // Damage, and a record that is cut short.
    bytes.extend([0xee; 6]);
    bytes.extend([0; 10]);
    let mut out = Vec::new();
    let succession = StreamSuccession::default();
    succession.copy(Cursor::new(bytes.clone()), &mut out).unwrap();
    assert_eq!(out, bytes);
    assert!(!succession.follow(io::empty()));
}
