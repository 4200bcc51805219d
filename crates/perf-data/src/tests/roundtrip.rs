//! Round trip: samples with any set of fields, and records, in both byte orders.

use proptest::collection::vec;
use proptest::prelude::*;
use synth::{
    Endian, EventAttr, MmapFile, PerfDataBuilder, Record as Written, SampleBuilder, SampleId,
    attr_flag, sample_type,
};

use super::read_file::ReadFile;
use crate::{MmapId, Record};

fn endian() -> impl Strategy<Value = Endian> {
    prop_oneof![Just(Endian::Little), Just(Endian::Big)]
}

/// Any set of fields, except that the two kinds of weight exclude each other.
fn any_type() -> impl Strategy<Value = u64> {
    let readable = (1_u64 << 25) - 1 - sample_type::BRANCH_STACK - sample_type::READ;
    any::<u64>().prop_map(move |bits| {
        let bits = bits & readable;
        if bits & sample_type::WEIGHT != 0 { bits & !sample_type::WEIGHT_STRUCT } else { bits }
    })
}

prop_compose! {
    fn any_sample()(
        words in vec(any::<u64>(), 16),
        halves in vec(any::<u32>(), 4),
        time in 1..u64::MAX - 1,
        chain in vec(any::<u64>(), 0..20),
        raw in vec(any::<u8>(), 0..40),
        regs in vec(any::<u64>(), 3),
        stack in vec(any::<u8>(), 1..100),
        aux in vec(any::<u8>(), 0..30),
    ) -> SampleBuilder {
        let sample = SampleBuilder {
            ip: words[0], pid: halves[0], tid: halves[1], time, addr: words[1], id: words[2],
            stream_id: words[3], cpu: halves[2], period: words[4], raw, weight: words[5],
            weight_struct: (halves[3], words[6] as u16, words[7] as u16), data_src: words[8],
            transaction: words[9], phys_addr: words[10], cgroup: words[11],
            data_page_size: words[12], code_page_size: words[13], aux,
            regs_intr: synth::SampleRegs { abi: 2, values: vec![words[14], words[15]] },
            ..SampleBuilder::default()
        };
        sample.with_callchain(&chain).with_regs(&regs).with_stack(&stack)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn samples(endian in endian(), bits in any_type(), written in any_sample()) {
        let mut it = PerfDataBuilder::new(endian);
        let attr = EventAttr {
            sample_type: bits, sample_regs_user: 0b111, sample_regs_intr: 0b1001,
            sample_stack_user: 128, ..EventAttr::default()
        };
        it.event("any", attr, &[]);
        it.sample(&written);
        let bytes = it.build();
        let recording = ReadFile::read(&bytes).expect("a recording");
        prop_assert!(recording.findings.is_empty(), "{:?}", recording.findings);
        let read = recording.sample(&recording.samples()[0]).expect("the sample");
        let has = |bit: u64| bits & bit != 0;
        let word = |bit: u64, value: u64| has(bit).then_some(value);
        prop_assert_eq!(read.damage, None);
        prop_assert_eq!(read.ip.map(|ip| ip.0), word(sample_type::IP, written.ip));
        prop_assert_eq!(read.addr.map(|ip| ip.0), word(sample_type::ADDR, written.addr));
        prop_assert_eq!(read.time.0, if has(sample_type::TIME) { written.time } else { 0 });
        prop_assert_eq!(read.id, word(sample_type::ID | sample_type::IDENTIFIER, written.id));
        prop_assert_eq!(read.stream_id, word(sample_type::STREAM_ID, written.stream_id));
        prop_assert_eq!(read.period, word(sample_type::PERIOD, written.period));
        prop_assert_eq!(read.data_src, word(sample_type::DATA_SRC, written.data_src));
        prop_assert_eq!(read.transaction, word(sample_type::TRANSACTION, written.transaction));
        prop_assert_eq!(read.phys_addr, word(sample_type::PHYS_ADDR, written.phys_addr));
        prop_assert_eq!(read.cgroup, word(sample_type::CGROUP, written.cgroup));
        prop_assert_eq!(
            (read.data_page_size, read.code_page_size),
            (
                word(sample_type::DATA_PAGE_SIZE, written.data_page_size),
                word(sample_type::CODE_PAGE_SIZE, written.code_page_size),
            )
        );
        let task = read.pid.zip(read.tid).map(|(pid, tid)| (pid.0.cast_unsigned(), tid.0.cast_unsigned()));
        prop_assert_eq!(task, has(sample_type::TID).then_some((written.pid, written.tid)));
        prop_assert_eq!(read.cpu, has(sample_type::CPU).then_some(written.cpu));
        let chain = read.callchain.map(|chain| chain.entries().collect::<Vec<_>>());
        prop_assert_eq!(chain, has(sample_type::CALLCHAIN).then_some(written.callchain.clone()));
        let raw = read.raw.map(|raw| raw.starts_with(&written.raw));
        prop_assert_eq!(raw, has(sample_type::RAW).then_some(true));
        let regs = read.user_regs.map(|regs| regs.iter().map(|it| it.1).collect::<Vec<_>>());
        prop_assert_eq!(regs, has(sample_type::REGS_USER).then_some(written.regs_user.values.clone()));
        let stack = read.user_stack.map(|stack| stack.bytes.to_vec());
        prop_assert_eq!(stack, has(sample_type::STACK_USER).then_some(written.stack_user.bytes.clone()));
        let intr = read.intr_regs.map(|regs| (regs.get(0), regs.get(3)));
        let expected = (Some(written.regs_intr.values[0]), Some(written.regs_intr.values[1]));
        prop_assert_eq!(intr, has(sample_type::REGS_INTR).then_some(expected));
        let aux = read.aux.map(|aux| aux.starts_with(&written.aux));
        prop_assert_eq!(aux, has(sample_type::AUX).then_some(true));
    }

    #[test]
    fn maps(
        endian in endian(),
        words in vec(any::<u64>(), 5),
        halves in vec(any::<u32>(), 6),
        name in "[a-z/ ]{0,40}",
        id in vec(1..255_u8, 1..=20),
        time in 1..u64::MAX - 1,
    ) {
        let mut it = PerfDataBuilder::new(endian);
        let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
        let flags = attr_flag::SAMPLE_ID_ALL;
        it.event("any", EventAttr { sample_type, flags, ..EventAttr::default() }, &[]);
        let inode = MmapFile::Inode {
            major: halves[4] | 1, minor: halves[5], inode: words[3], generation: words[4],
        };
        for file in [inode, MmapFile::BuildId(&id)] {
            let map = Written::Mmap2 {
                pid: halves[0], tid: halves[1], addr: words[0], len: words[1], pgoff: words[2],
                file, prot: halves[2], flags: halves[3], name: name.as_bytes(),
            };
            it.record_at(&map, SampleId::at(1, 2, time));
        }
        let bytes = it.build();
        let recording = ReadFile::read(&bytes).expect("a recording");
        prop_assert!(recording.findings.is_empty(), "{:?}", recording.findings);
        let maps: Vec<_> = recording.records().iter().map(|record| match record.record {
            Record::Mmap(map) => (record.time.0, map),
            _ => panic!("a map"),
        }).collect();
        for (at, map) in &maps {
            prop_assert_eq!(*at, time);
            prop_assert_eq!((map.start.0, map.len, map.pgoff.0), (words[0], words[1], words[2]));
            prop_assert_eq!((map.pid.0.cast_unsigned(), map.tid.0.cast_unsigned()), (halves[0], halves[1]));
            prop_assert_eq!((map.prot, map.flags, map.path), (halves[2], halves[3], name.as_bytes()));
        }
        let inode = MmapId::Inode {
            major: halves[4] | 1, minor: halves[5], inode: words[3], generation: words[4],
        };
        prop_assert_eq!(maps[0].1.id, inode);
        let MmapId::BuildId(read) = maps[1].1.id else { panic!("an id") };
        prop_assert_eq!(read.as_bytes(), id.as_slice());
    }
}
