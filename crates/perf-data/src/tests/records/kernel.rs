//! Every record type of the kernel, in both byte orders, with its trailer.

use address::{Avma, BuildId, FileOffset, Pid, Tid, Timestamp};

use crate::tests::builder::{Attr, Bytes, File, SAMPLE_ID_ALL};
use crate::tests::read_file::{open, visit};
use crate::{
    Aux, BpfEvent, Cgroup, Comm, CpuMode, Endian, Finding, Ksymbol, Lost, Mmap, MmapId, Record,
    RecordKind, SampleId, Switch, Task, TextPoke, Throttle,
};

/// TID, TIME, CPU, `STREAM_ID`, IDENTIFIER.
const SAMPLE_TYPE: u64 = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 9 | 1 << 16;

fn trailer(bytes: Bytes) -> Bytes {
    bytes.halves(&[1, 2]).words(&[77, 88]).halves(&[3, 0]).u64(99)
}

/// Decodes a record with a body in both byte orders and passes it to `check`.
fn check(kind: RecordKind, misc: u16, body: impl Fn(Bytes) -> Bytes, check: impl Fn(&Record<'_>)) {
    for endian in [Endian::Little, Endian::Big] {
        let attr = Attr { sample_type: SAMPLE_TYPE, read_format: 4, ..Attr::default() };
        let data = Bytes::new(endian).record(kind.0, misc, &trailer(body(Bytes::new(endian))));
        let bytes = File::new(attr, data).build();
        let mut lost = None;
        let visited = visit(&bytes, &mut |raw| {
            assert_eq!((raw.header.kind, raw.header.misc), (kind, misc));
            let crate::RawBody::Record(record, sample_id) = &raw.body else {
                panic!("undecodable")
            };
            let time = Timestamp(77);
            let (pid, tid) = (Some(Pid(1)), Some(Tid(2)));
            assert_eq!(
                *sample_id,
                SampleId { pid, tid, time, id: Some(99), stream_id: Some(88), cpu: Some(3) }
            );
            if let Record::Lost(it) | Record::LostSamples(it) = record {
                lost = Some((raw.position, it.lost));
            }
            check(record);
        });
        let findings = lost.map(|(offset, lost)| (1, Finding::EventsLost { offset, lost }));
        assert_eq!(visited, (1, findings.into_iter().collect()));
    }
}

macro_rules! expect {
    ($pattern:pat => $left:expr, $right:expr) => {
        |record: &Record<'_>| match record {
            $pattern => assert_eq!($left, $right),
            other => panic!("unexpected {other:?}"),
        }
    };
}

fn map() -> Mmap<'static> {
    Mmap {
        pid: Pid(10),
        tid: Tid(11),
        cpu_mode: CpuMode::User,
        parse_timeout: false,
        executable: true,
        start: Avma(0x40_0000),
        len: 0x1000,
        pgoff: FileOffset(0x2000),
        id: MmapId::None,
        prot: 5,
        flags: 0,
        path: b"/bin/sh",
    }
}

fn map_head(bytes: Bytes) -> Bytes {
    bytes.halves(&[10, 11]).words(&[0x40_0000, 0x1000, 0x2000])
}

#[test]
fn mmap() {
    check(
        RecordKind::MMAP,
        2,
        |b| map_head(b).name("/bin/sh"),
        expect!(Record::Mmap(it) => *it, map()),
    );
    let data = Mmap { executable: false, prot: 1, parse_timeout: true, ..map() };
    check(
        RecordKind::MMAP,
        2 | 3 << 12,
        |b| map_head(b).name("/bin/sh"),
        expect!(Record::Mmap(it) => *it, data),
    );
    // Without NUL the name ends at the start of the trailer.
    let long = Mmap { path: b"/bin/sh+", ..map() };
    check(
        RecordKind::MMAP,
        2,
        |b| map_head(b).raw(b"/bin/sh+"),
        expect!(Record::Mmap(it) => *it, long),
    );
}

#[test]
fn mmap2() {
    let inode = MmapId::Inode { major: 8, minor: 1, inode: 1234, generation: 5 };
    let body = |b| map_head(b).halves(&[8, 1]).words(&[1234, 5]).halves(&[5, 2]).name("/bin/sh");
    check(
        RecordKind::MMAP2,
        2,
        body,
        expect!(Record::Mmap(it) => *it, Mmap { id: inode, flags: 2, ..map() }),
    );
    let id = MmapId::BuildId(BuildId::new(&[7; 8]).expect("an id"));
    let body = |b| {
        map_head(b).raw(&[8, 0, 0, 0]).raw(&[7; 8]).raw(&[0xee; 12]).halves(&[1, 2]).name("/bin/sh")
    };
    let expected = Mmap { id, prot: 1, flags: 2, executable: false, ..map() };
    check(RecordKind::MMAP2, 2 | 1 << 14, body, expect!(Record::Mmap(it) => *it, expected));
    let body = |b| map_head(b).words(&[0, 0, 0]).halves(&[0, 0]).name("[kernel.kallsyms]_text");
    let kernel =
        Mmap { prot: 0, cpu_mode: CpuMode::Kernel, path: b"[kernel.kallsyms]_text", ..map() };
    check(RecordKind::MMAP2, 1, body, expect!(Record::Mmap(it) => *it, kernel));
}

#[test]
fn tasks() {
    let comm = Comm { pid: Pid(10), tid: Tid(11), exec: true, comm: b"sh" };
    check(
        RecordKind::COMM,
        1 << 13,
        |b| b.halves(&[10, 11]).name("sh"),
        expect!(Record::Comm(it) => *it, comm),
    );
    let (pid, ppid, tid, ptid) = (Pid(10), Pid(1), Tid(11), Tid(2));
    let task = Task { pid, ppid, tid, ptid, time: Timestamp(70), synthesized: true };
    let body = |b: Bytes| b.halves(&[10, 1, 11, 2]).u64(70);
    check(RecordKind::FORK, 1 << 13, body, expect!(Record::Fork(it) => *it, task));
    let ended = Task { synthesized: false, ..task };
    check(RecordKind::EXIT, 1 << 13, body, expect!(Record::Exit(it) => *it, ended));
    let gone = |b: Bytes| b.halves(&[u32::MAX, u32::MAX]).name("x");
    check(
        RecordKind::COMM,
        0,
        gone,
        expect!(Record::Comm(it) => (it.pid, it.tid), (Pid(-1), Tid(-1))),
    );
    let names = |b: Bytes| b.halves(&[10, 11]).u64(2).words(&[3, 4, 5, 6]);
    check(
        RecordKind::NAMESPACES,
        0,
        names,
        expect!(Record::Namespaces(it) => (it.len(), it.get(1).map(|one| (one.device, one.inode)), it.get(2)), (2, Some((5, 6)), None)),
    );
}

#[test]
fn sampling_itself() {
    let lost = Lost { id: 5, lost: 6 };
    check(RecordKind::LOST, 0, |b| b.words(&[5, 6]), expect!(Record::Lost(it) => *it, lost));
    let lost = Lost { id: 99, lost: 6 };
    check(RecordKind::LOST_SAMPLES, 0, |b| b.u64(6), expect!(Record::LostSamples(it) => *it, lost));
    let throttle = Throttle { time: Timestamp(70), id: 5, stream_id: 6 };
    let body = |b: Bytes| b.words(&[70, 5, 6]);
    check(RecordKind::THROTTLE, 0, body, expect!(Record::Throttle(it) => *it, throttle));
    check(RecordKind::UNTHROTTLE, 0, body, expect!(Record::Unthrottle(it) => *it, throttle));
    let read = |b: Bytes| b.halves(&[10, 11]).words(&[1000, 5]);
    check(
        RecordKind::READ,
        0,
        read,
        expect!(Record::Read { pid, values, .. } => (pid.0, values.iter().next().map(|it| (it.value, it.id))), (10, Some((1000, Some(5))))),
    );
    let switch = Switch { out: true, preempted: true, other: None };
    check(RecordKind::SWITCH, 3 << 13, |b| b, expect!(Record::Switch(it) => *it, switch));
    let switch = Switch { out: false, preempted: false, other: Some((Pid(10), Tid(11))) };
    check(
        RecordKind::SWITCH_CPU_WIDE,
        0,
        |b| b.halves(&[10, 11]),
        expect!(Record::Switch(it) => *it, switch),
    );
    let aux = Aux { offset: 1, size: 2, flags: 3 };
    check(RecordKind::AUX, 0, |b| b.words(&[1, 2, 3]), expect!(Record::Aux(it) => *it, aux));
    let start = |b: Bytes| b.halves(&[10, 11]);
    check(
        RecordKind::ITRACE_START,
        0,
        start,
        expect!(Record::ItraceStart { pid, tid } => (pid.0, tid.0), (10, 11)),
    );
    check(
        RecordKind::AUX_OUTPUT_HW_ID,
        0,
        |b| b.u64(4),
        expect!(Record::AuxOutputHwId(it) => *it, 4),
    );
}

#[test]
fn kernel_code() {
    let symbol =
        Ksymbol { addr: Avma(0xffff), len: 64, kind: 1, unregister: true, name: b"bpf_prog" };
    let body = |b: Bytes| b.u64(0xffff).u32(64).u16(1).u16(1).name("bpf_prog");
    check(RecordKind::KSYMBOL, 0, body, expect!(Record::Ksymbol(it) => *it, symbol));
    let event = BpfEvent { kind: 1, flags: 0, id: 9, tag: *b"tagtagta" };
    let body = |b: Bytes| b.u16(1).u16(0).u32(9).raw(b"tagtagta");
    check(RecordKind::BPF_EVENT, 0, body, expect!(Record::BpfEvent(it) => *it, event));
    let group = Cgroup { id: 3, path: b"/user.slice" };
    check(
        RecordKind::CGROUP,
        0,
        |b| b.u64(3).name("/user.slice"),
        expect!(Record::Cgroup(it) => *it, group),
    );
    let poke = TextPoke { addr: Avma(0xffff), old: &[1, 2], new: &[3, 4, 5] };
    let body = |b: Bytes| b.u64(0xffff).u16(2).u16(3).raw(&[1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0]);
    check(RecordKind::TEXT_POKE, 0, body, expect!(Record::TextPoke(it) => *it, poke));
    let body = |b: Bytes| b.words(&[42, 2, 0x10, 0x20]);
    check(
        RecordKind::CALLCHAIN_DEFERRED,
        0,
        body,
        expect!(Record::CallchainDeferred(it) => (it.cookie, it.chain.entries().collect::<Vec<_>>()), (42, vec![0x10, 0x20])),
    );
}

#[test]
fn without_trailers_the_time_is_in_the_body() {
    let attr = Attr { flags: !SAMPLE_ID_ALL & 1 << 13, ..Attr::default() };
    let fork = Bytes::new(Endian::Little).halves(&[10, 1, 11, 2]).u64(70);
    let comm = Bytes::new(Endian::Little).halves(&[10, 11]).name("sh");
    let data = Bytes::new(Endian::Little).record(7, 0, &fork).record(3, 0, &comm);
    let bytes = File::new(attr, data).build();
    let recording = open(&bytes);
    let records = recording.records();
    assert_eq!(records.iter().map(|it| it.time.0).collect::<Vec<_>>(), [0, 70]);
    assert_eq!(records[1].trailer, SampleId::default());
}
