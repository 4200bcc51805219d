//! Samples: all fields in both byte orders, and damage of each field.

use crate::tests::builder::{Attr, Bytes, File, le};
use crate::tests::read_file::{ReadFile, list, open};
use crate::{
    Callchain, CpuMode, Endian, RegsAbi, Sample, SampleDamage, SampleEntry, SampleError, Weight,
};

/// All known bits except WEIGHT, which is an alternative to `WEIGHT_STRUCT`.
const ALL: u64 = ((1 << 25) - 1) & !(1 << 14);
/// IP, TID, TIME, CALLCHAIN, `REGS_USER`, `STACK_USER`: the fields for `--call-graph dwarf`.
const DWARF: u64 = 0b111 | 1 << 5 | 3 << 12;

fn check(attr: Attr, body: Bytes, check: impl Fn(&Sample<'_>)) {
    let bytes = File::new(attr, Bytes::new(body.endian).record(9, 2 | 1 << 14, &body)).build();
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(recording.samples().len(), 1, "{:?}", recording.findings);
    check(&recording.sample(&recording.samples()[0]).expect("a sample"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "one sample with every field, and what is read of it")]
fn every_field() {
    for endian in [Endian::Little, Endian::Big] {
        let attr = Attr {
            sample_type: ALL,
            read_format: 4,
            branch: 1 << 17 | 1 << 19,
            regs_user: 0b1001,
            stack_user: 16,
            regs_intr: 1 << 8,
            ..Attr::default()
        };
        let body = Bytes::new(endian)
            .words(&[500, 0x1000])
            .halves(&[10, 11])
            .words(&[70, 0xadd0, 500, 600])
            .halves(&[3, 0])
            .words(&[4000, 123, 500])
            .words(&[4, -128_i64 as u64, 0xffff_0000, -512_i64 as u64, 0x2000])
            .u32(4)
            .raw(b"rawd")
            .words(&[1, 7, 0x10, 0x20, 0, 9])
            .words(&[2, 0xaa, 0xbb])
            .u64(16)
            .raw(b"stackbytes______")
            .words(&[10, 2 << 48 | 1 << 32 | 33, 0xd5, 0x77, 2, 0xcc])
            .words(&[0xf0, 0xc9, 4096, 8192, 3])
            .raw(b"aux+++++");
        // The size of AUX data is 3 of 8 bytes: the rest is ignored.
        check(attr, body, |sample| {
            assert_eq!(
                (sample.cpu_mode, sample.exact_ip(), sample.damage),
                (CpuMode::User, true, None)
            );
            assert_eq!(
                (sample.ip.map(|ip| ip.0), sample.addr.map(|addr| addr.0)),
                (Some(0x1000), Some(0xadd0))
            );
            assert_eq!(
                (sample.pid.map(|pid| pid.0), sample.tid.map(|tid| tid.0)),
                (Some(10), Some(11))
            );
            assert_eq!((sample.time.0, sample.cpu, sample.period), (70, Some(3), Some(4000)));
            assert_eq!((sample.id, sample.stream_id), (Some(500), Some(600)));
            let read = sample.read.and_then(|read| read.iter().next());
            assert_eq!(read.map(|read| (read.value, read.id)), Some((123, Some(500))));
            assert_eq!(sample.callchain.map(|chain| chain.frames().count()), Some(2));
            assert_eq!((sample.raw, sample.aux), (Some(&b"rawd"[..]), Some(&b"aux"[..])));
            let stack = sample.branch_stack.expect("branches");
            let branch = stack.iter().next().expect("one branch");
            assert_eq!(
                (stack.hw_index, branch.from.0, branch.to.0, branch.counters),
                (Some(7), 0x10, 0x20, Some(9))
            );
            let regs = sample.user_regs.expect("registers");
            assert_eq!(
                (regs.abi(), regs.get(0), regs.get(3), regs.get(1)),
                (RegsAbi::Bits64, Some(0xaa), Some(0xbb), None)
            );
            let stack = sample.user_stack.expect("a stack");
            assert_eq!((stack.bytes, stack.dumped), (&b"stackbytes"[..], 16));
            assert_eq!(sample.weight, Some(Weight::Split { var1: 33, var2: 1, var3: 2 }));
            assert_eq!((sample.data_src, sample.transaction), (Some(0xd5), Some(0x77)));
            assert_eq!(sample.intr_regs.and_then(|regs| regs.get(8)), Some(0xcc));
            assert_eq!((sample.phys_addr, sample.cgroup), (Some(0xf0), Some(0xc9)));
            assert_eq!((sample.data_page_size, sample.code_page_size), (Some(4096), Some(8192)));
        });
    }
}

#[test]
fn each_bit_alone() {
    for bit in 0..25 {
        let attr = Attr { sample_type: 1 << bit, ..Attr::default() };
        check(attr.clone(), le().u64(0), |sample| assert_eq!(sample.damage, None, "bit {bit}"));
        let bytes = File::new(attr, le().record(9, 2, &le())).build();
        let recording = open(&bytes);
        let damaged = recording
            .samples()
            .first()
            .map(|entry| recording.sample(entry).map(|it| it.damage.is_some()));
        // Without its fixed fields a sample is dropped; registers and stack may be absent.
        let expected = match bit {
            0..=3 | 6..=9 | 16 => None,
            12 | 13 => Some(Ok(false)),
            _ => Some(Ok(true)),
        };
        assert_eq!(damaged, expected, "bit {bit}");
    }
    let attr = Attr { sample_type: 1 << 14, ..Attr::default() };
    check(attr, le().u64(1 << 40), |sample| assert_eq!(sample.weight, Some(Weight::Full(1 << 40))));
}

#[test]
fn simpleperf_takes_a_stack_without_valid_length_as_whole() {
    let body = head().u64(0).words(&[2, 0xaa, 0xbb]).words(&[16, 1, 2, 0]);
    // Records of simpleperf have the upper half of their size before the lower one.
    let wide = le().u32(32769).u16(1).u16(8).raw(&[0; 0x1_0000]);
    let data = wide.record(9, 2, &body);
    let file = File { features: vec![(129, b"a\0b\0".to_vec())], ..File::new(dwarf(), data) };
    let bytes = file.build();
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(recording.counts().of(crate::RecordKind(32769)).bytes, 0x1_0008);
    let sample = recording.sample(&recording.samples()[0]).expect("a sample");
    assert_eq!(sample.user_stack.map(|stack| stack.bytes.len()), Some(16));
    assert_eq!(list(&recording.findings), [(1, crate::Finding::Simpleperf)]);
}

fn dwarf() -> Attr {
    Attr { sample_type: DWARF, regs_user: 0b1001, stack_user: 16, ..Attr::default() }
}

fn head() -> Bytes {
    le().u64(0x1000).halves(&[10, 11]).u64(70)
}

fn damage(sample: &Sample<'_>) -> (Option<SampleDamage>, Option<usize>, bool, Option<usize>) {
    let chain = sample.callchain.as_ref().map(Callchain::len);
    (
        sample.damage,
        chain,
        sample.user_regs.is_some(),
        sample.user_stack.map(|stack| stack.bytes.len()),
    )
}

#[test]
fn kernel_threads_have_neither_registers_nor_stack() {
    check(dwarf(), head().words(&[0, 0, 0]), |sample| {
        assert_eq!(damage(sample), (None, Some(0), false, None))
    });
}

#[test]
fn simpleperf_leaves_registers_and_stack_out() {
    check(dwarf(), head().words(&[1, 5]), |sample| {
        assert_eq!(damage(sample), (None, Some(1), false, None))
    });
}

#[test]
fn wrong_counts_cost_what_they_spoil() {
    let regs = || head().u64(0).words(&[2, 0xaa, 0xbb]);
    let outcome =
        |body: Bytes, expected| check(dwarf(), body, |sample| assert_eq!(damage(sample), expected));
    outcome(head().words(&[u64::MAX, 1]), (Some(SampleDamage::Callchain), None, false, None));
    outcome(head().words(&[3, 1, 2]), (Some(SampleDamage::Callchain), None, false, None));
    outcome(head().words(&[0, 2, 0xaa]), (Some(SampleDamage::UserRegisters), Some(0), false, None));
    outcome(regs(), (Some(SampleDamage::UserStack), Some(0), true, None));
    outcome(regs().words(&[24, 1, 2]), (Some(SampleDamage::UserStack), Some(0), true, None));
    outcome(regs().words(&[u64::MAX, 1, 2]), (Some(SampleDamage::UserStack), Some(0), true, None));
    outcome(
        regs().words(&[16, 1, 2, 17]),
        (Some(SampleDamage::UserStackLength), Some(0), true, None),
    );
    outcome(regs().words(&[16, 1, 2, 16]), (None, Some(0), true, Some(16)));
    outcome(regs().words(&[16, 1, 2, 0]), (None, Some(0), true, None));
    outcome(regs().words(&[0]), (None, Some(0), true, None));
    let abi = |sample: &Sample<'_>| sample.user_regs.map(|regs| regs.abi());
    check(dwarf(), head().words(&[0, 7, 1, 2, 0]), |sample| {
        assert_eq!(abi(sample), Some(RegsAbi::Unknown(7)))
    });
    check(dwarf(), head().words(&[0, 1, 1, 2, 0]), |sample| {
        assert_eq!(abi(sample), Some(RegsAbi::Bits32))
    });
}

#[test]
fn a_length_without_room_moves_later_fields() {
    // WEIGHT, DATA_SRC and TRANSACTION after a stack of size 0 with a length.
    let attr = Attr { sample_type: DWARF | 1 << 14 | 1 << 15 | 1 << 17, ..dwarf() };
    let body = head().u64(0).words(&[2, 0xaa, 0xbb]).words(&[0, 0, 33, 44]);
    check(attr, body, |sample| {
        assert_eq!((sample.weight, sample.data_src), (Some(Weight::Full(33)), Some(44)));
        assert_eq!((sample.transaction, sample.damage), (None, Some(SampleDamage::Word)));
    });
}

#[test]
fn empty_branch_stacks_with_and_without_index() {
    let attr = Attr { sample_type: 1 << 11, branch: 1 << 17, ..Attr::default() };
    let index =
        |sample: &Sample<'_>| sample.branch_stack.map(|stack| (stack.len(), stack.hw_index));
    check(attr.clone(), le().u64(0), |sample| assert_eq!(index(sample), Some((0, None))));
    check(attr.clone(), le().words(&[0, 9]), |sample| {
        assert_eq!(index(sample), Some((0, Some(9))))
    });
    // The later fields decide between the two: registers of ABI 0, then a word.
    let attr = Attr { sample_type: 1 << 11 | 1 << 12 | 1 << 14, ..attr };
    let weight = |sample: &Sample<'_>| (index(sample), sample.weight, sample.damage);
    let full = Some(Weight::Full(5));
    check(attr.clone(), le().words(&[0, 0, 5]), |it| {
        assert_eq!(weight(it), (Some((0, None)), full, None))
    });
    check(attr, le().words(&[0, 9, 0, 5]), |it| {
        assert_eq!(weight(it), (Some((0, Some(9))), full, None))
    });
}

#[test]
fn wrong_counts_of_other_fields() {
    let only = |bit: u32| Attr { sample_type: 1 << bit, read_format: 8, ..Attr::default() };
    let outcome = |bit, expected| {
        check(only(bit), le().words(&[u64::MAX]), |sample| {
            assert_eq!(sample.damage, Some(expected), "bit {bit}")
        });
    };
    outcome(4, SampleDamage::Read);
    outcome(10, SampleDamage::Raw);
    outcome(11, SampleDamage::BranchStack);
    outcome(20, SampleDamage::Aux);
    let intr = Attr { regs_intr: 1, ..only(18) };
    check(intr, le().u64(2), |sample| {
        assert_eq!(sample.damage, Some(SampleDamage::InterruptRegisters))
    });
}

#[test]
fn unknown_fields_and_leftovers_are_passed_over() {
    let attr = Attr { sample_type: 0b111 | 1 << 40, ..Attr::default() };
    check(attr, head().words(&[1, 2, 3]), |sample| {
        assert_eq!((sample.time.0, sample.damage), (70, None))
    });
}

#[test]
fn entries_of_another_recording() {
    let bytes = File::new(Attr::default(), le().record(9, 2, &head()).record(68, 0, &le())).build();
    let recording = open(&bytes);
    let entry = recording.samples()[0];
    let at = |position: u64| recording.sample(&SampleEntry { position, ..entry }).err();
    let position = entry.position;
    assert_eq!(at(position), None);
    assert_eq!(at(position + 32), Some(SampleError::NotASample { position: position + 32 }));
    assert_eq!(at(u64::MAX), Some(SampleError::NotASample { position: u64::MAX }));
    let event = recording.sample(&SampleEntry { event: 4, ..entry }).err();
    assert_eq!(event, Some(SampleError::NoEvent { position, event: 4 }));
}

#[test]
fn recordings_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<crate::Batch>();
    shared::<crate::Head>();
    shared::<Sample<'_>>();
}
