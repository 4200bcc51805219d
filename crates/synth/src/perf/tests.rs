//! Exact bytes of the layouts on which all other parts depend.

use super::attr::{EventAttr, attr_flag, branch_sample, read_format, sample_type};
use super::record::{MmapFile, Record, SampleId};
use super::sample::{
    Branch, BranchStack, ReadValue, ReadValues, SampleBuilder, SampleRegs, SampleStack,
};
use super::user_record::{BuildIdEntry, UserRecord};
use crate::bytes::Endian;

/// Returns the bytes as words in the byte order.
fn words(bytes: &[u8], endian: Endian) -> Vec<u64> {
    let word = |chunk: &[u8]| match endian {
        Endian::Little => u64::from_le_bytes(chunk.try_into().unwrap()),
        Endian::Big => u64::from_be_bytes(chunk.try_into().unwrap()),
    };
    bytes.chunks(8).map(word).collect()
}

fn full_attr() -> EventAttr {
    EventAttr {
        sample_type: (1 << 25) - 1 - sample_type::WEIGHT,
        read_format: read_format::GROUP
            | read_format::ID
            | read_format::LOST
            | read_format::TOTAL_TIME_ENABLED
            | read_format::TOTAL_TIME_RUNNING,
        branch_sample_type: branch_sample::HW_INDEX | branch_sample::COUNTERS,
        ..EventAttr::default()
    }
}

fn full_sample() -> SampleBuilder {
    SampleBuilder {
        misc: 1,
        ip: 1,
        pid: 2,
        tid: 3,
        time: 4,
        addr: 5,
        id: 6,
        stream_id: 7,
        cpu: 8,
        period: 9,
        read: ReadValues {
            time_enabled: 10,
            time_running: 11,
            values: vec![
                ReadValue { value: 12, id: 13, lost: 14 },
                ReadValue { value: 15, id: 16, lost: 17 },
            ],
        },
        callchain: vec![-512i64 as u64, 18],
        stated_callchain_nr: None,
        raw: vec![0xaa, 0xbb, 0xcc, 0xdd, 0xee],
        branches: BranchStack {
            entries: vec![Branch {
                from: 19,
                to: 20,
                outcome: [true, false, false, true],
                cycles: 0x1234,
                kind: 5,
            }],
            hw_idx: Some(21),
            counters: vec![22],
        },
        regs_user: SampleRegs { abi: 2, values: vec![23, 24] },
        stack_user: SampleStack { bytes: vec![0x25; 9], ..SampleStack::default() },
        weight: 0,
        weight_struct: (26, 27, 28),
        data_src: 29,
        transaction: 30,
        regs_intr: SampleRegs { abi: 1, values: vec![31] },
        phys_addr: 32,
        cgroup: 33,
        data_page_size: 34,
        code_page_size: 35,
        aux: vec![36],
        rest: vec![37; 8],
    }
}

#[test]
fn sample_with_every_bit() {
    let bytes = full_sample().encode(&full_attr(), Endian::Little);
    let expected: Vec<u64> = [
        [9 | 1 << 32 | (49 * 8) << 48].as_slice(),
        &[6, 1, 2 | 3 << 32, 4, 5, 6, 7, 8, 9],
        &[2, 10, 11, 12, 13, 14, 15, 16, 17],
        &[2, -512i64 as u64, 18],
        &[12 | 0xddcc_bbaa << 32, 0xee],
        &[1, 21, 19, 20, 1 | 8 | 0x1234 << 4 | 5 << 20, 22],
        &[2, 23, 24],
        &[16, 0x2525_2525_2525_2525, 0x25, 9],
        &[26 | 27 << 32 | 28 << 48, 29, 30],
        &[1, 31, 32, 33, 34, 35],
        &[8, 36, 0x2525_2525_2525_2525],
    ]
    .concat();
    assert_eq!(words(&bytes, Endian::Little), expected);
}

#[test]
fn sample_in_the_other_byte_order() {
    let bytes = full_sample().encode(&full_attr(), Endian::Big);
    let words = words(&bytes, Endian::Big);
    assert_eq!(words[0], 9 << 32 | 1 << 16 | (49 * 8));
    assert_eq!(words[3], 2 << 32 | 3);
    assert_eq!(words[22..24], [12 << 32 | 0xaabb_ccdd, 0xee << 56]);
    // The branch: first flag in the highest bit, cycles below the four flags, then the kind.
    assert_eq!(words[28], 1 << 63 | 1 << 60 | 0x1234 << 44 | 5 << 40);
}

#[test]
fn sample_without_registers_stack_and_branches() {
    let attr = EventAttr {
        sample_type: sample_type::READ
            | sample_type::BRANCH_STACK
            | sample_type::REGS_USER
            | sample_type::STACK_USER
            | sample_type::WEIGHT,
        read_format: read_format::ID,
        branch_sample_type: branch_sample::HW_INDEX,
        ..EventAttr::default()
    };
    let read =
        ReadValues { values: vec![ReadValue { value: 3, id: 4, lost: 5 }], ..Default::default() };
    let sample = SampleBuilder { read, weight: 6, ..SampleBuilder::default() };
    let bytes = sample.encode(&attr, Endian::Little);
    // Value and id; no branches and no index; no registers; no stack and no valid length.
    assert_eq!(words(&bytes[8..], Endian::Little), [3, 4, 0, 0, 0, 6]);
}

#[test]
fn stated_sizes_may_lie() {
    let attr = EventAttr {
        sample_type: sample_type::CALLCHAIN | sample_type::STACK_USER,
        ..EventAttr::default()
    };
    let stack_user =
        SampleStack { bytes: vec![1; 8], dyn_size: Some(99), stated_size: Some(1 << 40) };
    let sample = SampleBuilder {
        stated_callchain_nr: Some(u64::MAX),
        callchain: vec![5],
        stack_user,
        ..SampleBuilder::default()
    };
    let bytes = sample.encode(&attr, Endian::Little);
    let expected = [u64::MAX, 5, 1 << 40, 0x0101_0101_0101_0101, 99];
    assert_eq!(words(&bytes[8..], Endian::Little), expected);
}

#[test]
fn mmap2_with_build_id() {
    let record = Record::Mmap2 {
        pid: 1,
        tid: 2,
        addr: 0x1000,
        len: 0x2000,
        pgoff: 0x3000,
        file: MmapFile::BuildId(&[0xab, 0xcd]),
        prot: 5,
        flags: 2,
        name: b"/bin/abc",
    };
    assert_eq!((record.record_type(), record.misc()), (10, 0x4002));
    let bytes = record.encode(0, Endian::Little);
    assert_eq!(words(&bytes[..32], Endian::Little), [1 | 2 << 32, 0x1000, 0x2000, 0x3000]);
    assert_eq!(
        bytes[32..56],
        [2, 0, 0, 0, 0xab, 0xcd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(bytes[56..], *b"\x05\0\0\0\x02\0\0\0/bin/abc\0\0\0\0\0\0\0\0");
}

#[test]
fn trailer_in_forward_order() {
    let id = SampleId { event_idx: 0, pid: 1, tid: 2, time: 3, id: 4, stream_id: 5, cpu: 6 };
    let attr = EventAttr { flags: attr_flag::SAMPLE_ID_ALL, ..full_attr() };
    let bytes = id.encode(&attr, Endian::Little);
    assert_eq!(words(&bytes, Endian::Little), [1 | 2 << 32, 3, 4, 5, 6, 4]);
    assert_eq!(id.encode(&full_attr(), Endian::Little), []);
}

#[test]
fn bodies_of_the_other_kernel_records() {
    let le = Endian::Little;
    let check = |record: Record<'_>, record_type: u32, misc: u16, expected: &[u64]| {
        assert_eq!((record.record_type(), record.misc()), (record_type, misc));
        assert_eq!(words(&record.encode(read_format::LOST, le), le), expected);
    };
    let a = u64::from_le_bytes(*b"a\0\0\0\0\0\0\0");
    let pair = |low: u64, high: u64| low | high << 32;
    let mmap = Record::Mmap { pid: 1, tid: 2, addr: 3, len: 4, pgoff: 5, name: b"a" };
    check(mmap, 1, 2, &[pair(1, 2), 3, 4, 5, a]);
    check(Record::Lost { id: 1, lost: 2 }, 2, 0, &[1, 2]);
    let exit = Record::Exit { pid: 1, ppid: 2, tid: 3, ptid: 4, time: 5 };
    check(exit, 4, 0, &[pair(1, 2), pair(3, 4), 5]);
    check(Record::Throttle { time: 1, id: 2, stream_id: 3 }, 5, 0, &[1, 2, 3]);
    check(Record::Unthrottle { time: 1, id: 2, stream_id: 3 }, 6, 0, &[1, 2, 3]);
    let fork = Record::Fork { pid: 1, ppid: 2, tid: 3, ptid: 4, time: 5 };
    check(fork, 7, 0, &[pair(1, 2), pair(3, 4), 5]);
    let values =
        ReadValues { values: vec![ReadValue { value: 3, id: 0, lost: 4 }], ..Default::default() };
    check(Record::Read { pid: 1, tid: 2, values }, 8, 0, &[pair(1, 2), 3, 4]);
    check(Record::Aux { offset: 1, size: 2, flags: 3 }, 11, 0, &[1, 2, 3]);
    check(Record::ItraceStart { pid: 1, tid: 2 }, 12, 0, &[pair(1, 2)]);
    check(Record::LostSamples { lost: 1 }, 13, 0, &[1]);
    check(Record::Switch { out: true }, 14, 0x2000, &[]);
    check(Record::Preempted, 14, 0x6000, &[]);
    let wide = Record::SwitchCpuWide { next_prev_pid: 1, next_prev_tid: 2, out: false };
    check(wide, 15, 0, &[pair(1, 2)]);
    let links = Record::Namespaces { pid: 1, tid: 2, links: &[(3, 4), (5, 6)] };
    check(links, 16, 0, &[pair(1, 2), 2, 3, 4, 5, 6]);
    let symbol = Record::Ksymbol { addr: 1, len: 2, ksym_type: 1, flags: 1, name: b"a" };
    check(symbol, 17, 0, &[1, 2 | 1 << 32 | 1 << 48, a]);
    let tag = 3u64.to_le_bytes();
    check(Record::BpfEvent { event_type: 1, flags: 0, id: 2, tag }, 18, 0, &[pair(1, 2), 3]);
    check(Record::Cgroup { id: 1, path: b"a" }, 19, 0, &[1, a]);
    let poke = Record::TextPoke { addr: 1, old: &[2], new: &[3, 4] };
    check(poke, 20, 0, &[1, 1 | 2 << 16 | 2 << 32 | 3 << 40 | 4 << 48]);
    check(Record::AuxOutputHwId { hw_id: 1 }, 21, 0, &[1]);
    check(Record::CallchainDeferred { cookie: 1, ips: &[2, 3] }, 22, 0, &[1, 2, 2, 3]);
}

#[test]
fn recorder_records_with_data_behind_them() {
    let tracing = UserRecord::TracingData { data: b"abc" }.encode(Endian::Little);
    assert_eq!(tracing, *b"\x42\0\0\0\0\0\x10\0\x08\0\0\0\0\0\0\0abc\0\0\0\0\0");
    let aux =
        UserRecord::Auxtrace { offset: 1, reference: 2, idx: 3, tid: 4, cpu: 5, data: &[6; 8] };
    let bytes = aux.encode(Endian::Little);
    assert_eq!(
        words(&bytes, Endian::Little),
        [71 | 48 << 48, 8, 1, 2, 3 | 4 << 32, 5, 0x0606_0606_0606_0606]
    );
}

#[test]
fn recorder_records() {
    let le = Endian::Little;
    let check = |record: UserRecord<'_>, record_type: u64, expected: &[u64]| {
        let bytes = record.encode(le);
        assert_eq!(words(&bytes[..8], le), [record_type | (bytes.len() as u64) << 48]);
        assert_eq!(words(&bytes[8..], le), expected);
    };
    check(
        UserRecord::IdIndex { rows: &[[1, 2, 3, 4]], machines: &[(5, 6)] },
        69,
        &[1, 1, 2, 3, 4, 5, 6],
    );
    check(UserRecord::EventType { id: 1, name: b"a" }, 65, &[1, 0x61]);
    check(UserRecord::AuxtraceInfo { kind: 1, private: &[2] }, 70, &[1, 2]);
    check(UserRecord::ThreadMap { threads: &[(7, b"a")] }, 73, &[1, 7, 0x61, 0]);
    check(UserRecord::CpuMap { kind: 0, payload: &[1, 0, 9, 0] }, 74, &[1 << 16 | 9 << 32]);
    check(UserRecord::StatConfig { rows: &[(1, 2)] }, 75, &[1, 1, 2]);
    let stat = UserRecord::Stat { id: 1, cpu: 2, thread: 3, value: 4, enabled: 5, running: 6 };
    check(stat, 76, &[1, 2 | 3 << 32, 4, 5, 6]);
    check(UserRecord::StatRound { kind: 1, time: 2 }, 77, &[1, 2]);
    check(UserRecord::EventUpdate { kind: 2, id: 3, payload: b"a\0" }, 78, &[2, 3, 0x61]);
    let time = UserRecord::TimeConv { words: [1, 2, 3, 4, 5], caps: [1, 1] };
    check(time, 79, &[1, 2, 3, 4, 5, 0x101]);
    check(UserRecord::FinishedInit, 82, &[]);
    check(UserRecord::SchedstatCpu { payload: &[1; 8] }, 85, &[0x0101_0101_0101_0101]);
}

#[test]
fn build_id_entry() {
    let entry = BuildIdEntry { misc: 2, pid: -1, id: &[0xab; 8], sized: true, name: b"/a" };
    let bytes = entry.encode(0, Endian::Little);
    assert_eq!(bytes.len(), 8 + 4 + 24 + 64);
    assert_eq!(bytes[..12], [0, 0, 0, 0, 2, 0x80, 100, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(bytes[12..36], [[0xab; 8].as_slice(), &[0; 12], &[8, 0, 0, 0]].concat());
    assert_eq!(bytes[36..40], *b"/a\0\0");
}
