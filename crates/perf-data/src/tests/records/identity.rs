//! Mapping of records to events, and the order of records.

use crate::tests::builder::{Attr, Bytes, File, le, round};
use crate::tests::read_file::{ReadFile, list, open};
use crate::{Endian, Finding, Record, RecordKind};

/// TID, TIME, ID, CPU: the id is the third word.
const BY_ID: u64 = 0b10 | 0b100 | 1 << 6 | 1 << 7;
/// IDENTIFIER, TID, TIME.
const BY_IDENTIFIER: u64 = 1 << 16 | 0b110;

fn with_events(types: [u64; 2], data: Bytes) -> Vec<u8> {
    let attr = |sample_type: u64, ids: [u64; 2]| Attr {
        sample_type,
        ids: ids.to_vec(),
        ..Attr::default()
    };
    File {
        attrs: vec![attr(types[0], [100, 101]), attr(types[1], [200, 201])],
        ..File::new(Attr::default(), data)
    }
    .build()
}

fn by_id(id: u64, time: u64) -> Bytes {
    le().halves(&[10, 11]).words(&[time, id]).halves(&[3, 0])
}

#[test]
fn by_id_in_the_middle() {
    let comm = |id: u64| {
        le().halves(&[10, 11]).name("sh").halves(&[10, 11]).words(&[1, id]).halves(&[3, 0])
    };
    let data =
        le().record(9, 2, &by_id(201, 1)).record(9, 2, &by_id(100, 1)).record(9, 2, &by_id(0, 1));
    let data = data.record(9, 2, &by_id(999, 1)).record(3, 0, &comm(200)).record(3, 0, &comm(999));
    let bytes = with_events([BY_ID, BY_ID], data);
    let recording = open(&bytes);
    let cpu = |entry| recording.sample(entry).expect("a sample").cpu;
    assert_eq!(
        recording.samples().iter().map(|it| (it.event, cpu(it))).collect::<Vec<_>>(),
        [(1, Some(3)), (0, Some(3)), (0, Some(3))]
    );
    assert_eq!(recording.records().iter().map(|it| it.event).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(
        (recording.counts().dropped_samples, recording.counts().of(RecordKind::SAMPLE).records),
        (1, 4)
    );
    let offset = recording.samples()[2].position + 40;
    assert_eq!(list(&recording.findings), [(2, Finding::UnknownEventId { offset, id: 999 })]);
}

#[test]
fn by_identifier_with_different_layouts() {
    let sample = |id: u64| le().u64(id).halves(&[10, 11]).u64(1);
    let with_period = sample(200).u64(4000);
    let comm = le().halves(&[10, 11]).name("sh").halves(&[10, 11]).words(&[1, 200]);
    let data = le().record(9, 2, &sample(100)).record(9, 2, &with_period).record(3, 0, &comm);
    let bytes = with_events([BY_IDENTIFIER, BY_IDENTIFIER | 1 << 8], data);
    let recording = open(&bytes);
    let periods: Vec<_> = recording
        .samples()
        .iter()
        .map(|it| recording.sample(it).expect("a sample").period)
        .collect();
    assert_eq!(periods, [None, Some(4000)]);
    assert_eq!((recording.records()[0].event, recording.records()[0].trailer.id), (1, Some(200)));
}

#[test]
fn different_places_are_reported() {
    let bytes = with_events([BY_ID, BY_IDENTIFIER], round(Endian::Little));
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(list(&recording.findings), [(1, Finding::IdOffsetsDiffer { event: 1 })]);
}

#[test]
fn order_is_by_time_then_position_and_no_time_is_first() {
    let sample = |time: u64| le().u64(0x1000).halves(&[10, 11]).u64(time);
    let comm =
        |name: &str, time: u64| le().halves(&[10, 11]).name(name).halves(&[10, 11]).u64(time);
    let mut data = le();
    for time in [30, 10, u64::MAX, 20, 10, 0] {
        data = data.record(9, 2, &sample(time)).record(68, 0, &le());
    }
    let data =
        data.record(3, 0, &comm("b", 5)).record(3, 0, &comm("a", 0)).record(3, 0, &comm("c", 5));
    let bytes = File::new(Attr::default(), data).build();
    let recording = open(&bytes);
    let start = recording.samples().iter().map(|it| it.position).min().expect("samples");
    let order: Vec<_> =
        recording.samples().iter().map(|it| (it.time.0, (it.position - start) / 40)).collect();
    assert_eq!(order, [(0, 2), (0, 5), (10, 1), (10, 4), (20, 3), (30, 0)]);
    let names: Vec<_> = recording
        .records()
        .iter()
        .map(|it| match it.record {
            Record::Comm(comm) => comm.comm,
            _ => b"",
        })
        .collect();
    assert_eq!(names, [b"a", b"b", b"c"]);
    assert_eq!(list(&recording.findings), [(2, Finding::SampleWithoutTime { offset: start + 80 })]);
    assert_eq!(recording.counts().of(RecordKind::FINISHED_ROUND).records, 6);
}
