//! Rewritten recordings retain everything except registers and stacks; with pseudonyms, they contain no names.

use std::ops::ControlFlow;

use bundle::{Pseudonyms, Rewriter};
use perf_data::{Findings, Input, RawBody, Record, Sample, SharedBytes, visit_records};
use synth::{
    Branch, BranchStack, Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder, SampleId,
    SampleRegs, SampleStack, branch_sample, read_format, sample_type,
};

/// Returns a recording with a sample that has nearly all fields.
fn recording(endian: Endian) -> Vec<u8> {
    let mut attr = EventAttr::dwarf(0xff_0fff);
    attr.sample_type |= sample_type::IDENTIFIER
        | sample_type::ADDR
        | sample_type::CPU
        | sample_type::READ
        | sample_type::BRANCH_STACK
        | sample_type::WEIGHT
        | sample_type::REGS_INTR
        | sample_type::CGROUP;
    attr.read_format = read_format::ID | read_format::TOTAL_TIME_ENABLED;
    attr.branch_sample_type = branch_sample::HW_INDEX;
    attr.sample_regs_intr = 3;
    let mut recording = PerfDataBuilder::new(endian);
    recording.event("cycles:u", attr, &[41]);
    recording.describe_events().feature(&Feature::Hostname("secret-host"));
    recording.feature(&Feature::Cmdline(&["perf", "record", "/srv/secret/app"]));
    let comm = synth::Record::Comm { pid: 7, tid: 7, comm: b"secret", exec: true };
    recording.record_at(&comm, SampleId::at(7, 7, 10));
    recording.sample(&SampleBuilder {
        ip: 0x40_1000,
        pid: 7,
        tid: 8,
        time: 20,
        addr: 0xadd,
        id: 41,
        cpu: 3,
        period: 5,
        callchain: vec![-128_i64 as u64, 0xffff_8000],
        branches: BranchStack {
            entries: vec![Branch {
                from: 1,
                to: 2,
                outcome: [true, false, true, false],
                cycles: 77,
                kind: 5,
            }],
            hw_idx: Some(9),
            counters: Vec::new(),
        },
        regs_user: SampleRegs { abi: 2, values: vec![0x5ec4e7; 20] },
        stack_user: SampleStack { bytes: b"passwordpassword".to_vec(), ..Default::default() },
        weight: 12,
        regs_intr: SampleRegs { abi: 2, values: vec![0x5ec4e7; 2] },
        cgroup: 99,
        ..SampleBuilder::default()
    });
    recording.build()
}

fn rewritten(recording: Vec<u8>, names: Option<&Pseudonyms>) -> Vec<u8> {
    let mut rewriter = Rewriter::new(names, true);
    let input = Input::File(SharedBytes::from(recording));
    let visited = visit_records(input, &mut Findings::default(), &mut |head, record| {
        rewriter.take_in(head, record, &[0x40_1000, 0x40_2001]).expect("a record");
        ControlFlow::Continue(())
    });
    assert_eq!(rewriter.omitted().count(), 0);
    rewriter.finish(&visited.expect("a recording").head).expect("events")
}

/// Returns a sample as text, without the fields that rewriting removes.
fn shown(sample: &Sample<'_>) -> String {
    let branches: Vec<_> = sample
        .branch_stack
        .iter()
        .flat_map(|it| it.iter())
        .map(|it| (it.from, it.to, it.flags.mispredicted(), it.flags.cycles(), it.flags.kind()))
        .collect();
    let read: Vec<_> = sample.read.iter().flat_map(|it| it.iter()).collect();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {branches:?} {read:?} {:?} {:?}",
        sample.ip,
        sample.pid,
        sample.tid,
        sample.time,
        sample.addr,
        sample.id,
        sample.cpu,
        sample.period,
        sample.weight,
        sample.cgroup,
        sample.branch_stack.and_then(|it| it.hw_index),
        sample.damage,
    )
}

/// Returns the sample as text, its callchain, whether it has registers and memory, and the names of threads.
fn read(recording: &[u8]) -> (String, Vec<u64>, [bool; 3], Vec<Vec<u8>>) {
    let mut found = (String::new(), Vec::new(), [false; 3], Vec::new());
    let input = Input::File(SharedBytes::from(recording.to_vec()));
    let mut findings = Findings::default();
    visit_records(input, &mut findings, &mut |_, record| {
        match &record.body {
            RawBody::Sample(sample) => {
                found.0 = shown(sample);
                found.1 = sample.callchain.iter().flat_map(|it| it.entries()).collect();
                found.2 = [
                    sample.user_regs.is_some(),
                    sample.user_stack.is_some(),
                    sample.intr_regs.is_some(),
                ];
            }
            RawBody::Record(Record::Comm(comm), trailer) => {
                assert_eq!(trailer.time.0, 10);
                found.3.push(comm.comm.to_vec());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })
    .expect("a recording");
    assert!(findings.is_empty(), "{findings:?}");
    found
}

#[test]
fn samples_lose_registers_and_stacks_alone() {
    for endian in [Endian::Little, Endian::Big] {
        let before = recording(endian);
        let after = rewritten(before.clone(), None);
        assert!(after.starts_with(b"PERFILE2"));
        assert!(!after.windows(8).any(|it| it == b"password"));
        assert!(!after.windows(8).any(|it| it == 0x5ec4e7_u64.to_le_bytes()));
        let (text, _, had, comms) = read(&before);
        assert_eq!(had, [true; 3]);
        let expected = vec![-128_i64 as u64, 0xffff_8000, -512_i64 as u64, 0x40_1000, 0x40_2001];
        assert_eq!(read(&after), (text, expected, [false; 3], comms), "{endian:?}");
    }
}

#[test]
fn no_name_is_left() {
    let names = Pseudonyms::new([3; 32]);
    for endian in [Endian::Little, Endian::Big] {
        let after = rewritten(recording(endian), Some(&names));
        assert!(!after.windows(6).any(|it| it == b"secret"));
        let (.., comms) = read(&after);
        assert_eq!(comms, [names.word(b"secret")]);
        let word = names.word(b"secret-host");
        assert!(after.windows(word.len()).any(|it| *it == word));
    }
}
