//! Every record type of the recording tool.

use crate::tests::builder::{Attr, Bytes, File, data_at, le};
use crate::tests::read_file::{open, visit};
use crate::{
    Endian, EventAttr, EventUpdate, Finding, RawBody, Record, RecordKind, TimeConv, UserRecord,
};

fn check(kind: u32, body: &Bytes, check: impl Fn(UserRecord<'_>)) {
    let bytes = File::new(Attr::default(), le().record(kind, 0, body)).build();
    let visited = visit(&bytes, &mut |record| {
        let RawBody::Record(Record::User(user), _) = record.body else {
            panic!("not {:?}", record.body)
        };
        check(user);
    });
    // The stand-in for compressed bytes cannot be expanded.
    let offset = data_at(&bytes) as u64;
    let findings = if matches!(kind, 81 | 83) {
        vec![(1, Finding::BadCompression { offset })]
    } else {
        Vec::new()
    };
    assert_eq!(visited, (1, findings));
}

macro_rules! expect {
    ($pattern:pat => $left:expr, $right:expr) => {
        |record: UserRecord<'_>| match record {
            $pattern => assert_eq!($left, $right),
            other => panic!("unexpected {other:?}"),
        }
    };
}

#[test]
fn events() {
    let attr = Attr { config: 3, ..Attr::default() };
    let body = le().raw(&attr.bytes(Endian::Little, 136)).words(&[5, 6]);
    check(64, &body, |record| {
        let UserRecord::HeaderAttr { attr, ids } = record else { panic!("unexpected {record:?}") };
        assert_eq!(EventAttr::parse(attr, Endian::Little).map(|attr| attr.config), Some(3));
        assert_eq!(ids.iter().collect::<Vec<_>>(), [5, 6]);
    });
    let body = le().u64(3).name("cycles");
    check(
        65,
        &body,
        expect!(UserRecord::EventType { config, name } => (config, name), (3, &b"cycles"[..])),
    );
    let update = EventUpdate { kind: 2, id: 5, payload: b"name" };
    check(
        78,
        &le().words(&[2, 5]).name("name"),
        expect!(UserRecord::EventUpdate(it) => it, update),
    );
    let index = le().words(&[2, 5, 0, 1, 2, 6, 1, u64::MAX, 3]);
    check(69, &index, |record| {
        let entries: Vec<_> =
            record.id_index().map(|it| (it.id, it.index, it.cpu, it.tid)).collect();
        assert_eq!(entries, [(5, 0, 1, 2), (6, 1, u64::MAX, 3)]);
        assert_eq!(record.threads().count(), 0);
    });
}

#[test]
fn marks_and_configuration() {
    check(68, &le(), expect!(UserRecord::FinishedRound => (), ()));
    check(82, &le(), expect!(UserRecord::FinishedInit => (), ()));
    let threads = le().words(&[1, 77]).raw(b"thread\0\0\0\0\0\0\0\0\0\0");
    check(73, &threads, |record| {
        assert_eq!(
            record.threads().map(|it| (it.tid, it.comm)).collect::<Vec<_>>(),
            [(77, &b"thread"[..])]
        );
        assert_eq!(record.id_index().count(), 0);
    });
    check(74, &le().u64(1), expect!(UserRecord::CpuMap(it) => it.len(), 8));
    check(75, &le().words(&[1, 2, 3]), expect!(UserRecord::StatConfig(it) => it.len(), 2));
    check(76, &le().words(&[1, 2]), expect!(UserRecord::Stat(it) => it.len(), 16));
    check(
        77,
        &le().words(&[1, 9]),
        expect!(UserRecord::StatRound { kind, time } => (kind, time), (1, 9)),
    );
    let conv = TimeConv { shift: 1, mult: 2, zero: 3, short: None };
    check(79, &le().words(&[1, 2, 3]), expect!(UserRecord::TimeConv(it) => it, conv));
    let conv = TimeConv { short: Some((4, 5)), ..conv };
    check(79, &le().words(&[1, 2, 3, 4, 5, 0]), expect!(UserRecord::TimeConv(it) => it, conv));
    let feature = le().u64(3).raw(b"abc");
    check(
        80,
        &feature,
        expect!(UserRecord::Feature { bit, payload } => (bit, payload), (3, &b"abc"[..])),
    );
    check(81, &le().raw(b"zstd!"), expect!(UserRecord::Compressed(it) => it, b"zstd!"));
    check(
        83,
        &le().u64(5).raw(b"zstd!\0\0\0"),
        expect!(UserRecord::Compressed(it) => it, b"zstd!"),
    );
    check(84, &le().u64(0), expect!(UserRecord::BpfMetadata(it) => it.len(), 8));
    check(85, &le().u64(0), expect!(UserRecord::Schedstat(it) => it.len(), 8));
    check(86, &le().u64(0), expect!(UserRecord::Schedstat(it) => it.len(), 8));
    check(
        70,
        &le().halves(&[1, 0]).words(&[8, 9]),
        expect!(UserRecord::AuxtraceInfo { kind, data } => (kind, data.len()), (1, 2)),
    );
    check(72, &le().u64(0), expect!(UserRecord::AuxtraceError(it) => it.len(), 8));
}

#[test]
fn build_ids_have_their_type_here() {
    let body = le().u32(u32::MAX).raw(&[7; 20]).raw(&[8, 0, 0, 0]).name("/bin/sh");
    check(67, &body, |record| {
        let UserRecord::BuildId(entry) = record else { panic!("unexpected {record:?}") };
        assert_eq!((entry.pid.0, entry.name, entry.exact), (-1, &b"/bin/sh"[..], false));
    });
}

#[test]
fn payloads_behind_records_are_passed_over() {
    let auxtrace = le().words(&[16, 0, 1]).halves(&[0, 0, 0, 0]);
    // The payload contains the header of a record of size 0.
    let data = le()
        .record(71, 0, &auxtrace)
        .words(&[0, 0])
        .record(66, 0, &le().u32(5))
        .words(&[0])
        .record(68, 0, &le());
    let bytes = File::new(Attr::default(), data).build();
    let recording = open(&bytes);
    let counts = recording.counts();
    assert!(recording.findings.is_empty(), "{:?}", recording.findings);
    assert_eq!(
        (counts.of(RecordKind::AUXTRACE).bytes, counts.of(RecordKind::HEADER_TRACING_DATA).bytes),
        (64, 20)
    );
    assert_eq!(counts.of(RecordKind::FINISHED_ROUND).records, 1);
}
