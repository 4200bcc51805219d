//! Branch records in perf-script, byte for byte as perf 6.1 prints them, for samples with and without a callchain.

use synth::{
    Branch, BranchStack, Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record,
    SampleBuilder, SampleId, attr_flag, branch_sample, sample_type,
};

use crate::support::run::{Ran, empty_folder, run};

const BRANCH: Branch = Branch {
    from: 0x55_0000_1010,
    to: 0x55_0000_1020,
    outcome: [false, true, false, false],
    cycles: 0,
    kind: 0,
};

/// Three samples: one with every kind of branch, one without a branch, and one with one branch.
fn recording(endian: Endian, chains: bool) -> Vec<u8> {
    let mut it = PerfDataBuilder::new(endian);
    let common = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::CPU;
    let common = common | sample_type::PERIOD | sample_type::IDENTIFIER;
    let chain = if chains { sample_type::CALLCHAIN } else { 0 };
    let attr = EventAttr {
        sample_type: common | sample_type::BRANCH_STACK | chain,
        branch_sample_type: branch_sample::ANY | branch_sample::HW_INDEX,
        flags: attr_flag::SAMPLE_ID_ALL,
        ..EventAttr::default()
    };
    it.event("cycles:u", attr, &[5]);
    it.describe_events();
    it.feature(&Feature::Arch("x86_64"));
    let name = Record::Comm { pid: 3, tid: 4, comm: b"app", exec: false };
    it.record_at(&name, SampleId::at(3, 4, 90));
    let map = Record::Mmap2 {
        pid: 3,
        tid: 4,
        addr: 0x55_0000_1000,
        len: 0x1000,
        pgoff: 0x1000,
        file: MmapFile::BuildId(&[7; 20]),
        prot: 5,
        flags: 2,
        name: b"/demo/demo.elf",
    };
    it.record_at(&map, SampleId::at(3, 4, 91));
    let of_kind = |kind: u8| Branch {
        from: BRANCH.from + u64::from(kind),
        outcome: [kind & 1 != 0, kind & 1 == 0, kind & 2 != 0, kind & 4 != 0],
        cycles: u16::from(kind) * 3000,
        kind,
        ..BRANCH
    };
    let mut all: Vec<_> = (0..16).map(of_kind).collect();
    all.extend([16, 22].map(|kind| Branch { kind, ..BRANCH }));
    all.push(Branch { outcome: [true, true, false, false], ..BRANCH });
    all.push(Branch { from: 0xffff_ffff_8100_0000, to: 0, outcome: [false; 4], ..BRANCH });
    for (time, entries) in (100_000..).step_by(1000).zip([all, Vec::new(), vec![BRANCH]]) {
        let branches = BranchStack { entries, hw_idx: Some(1), counters: Vec::new() };
        let sample = SampleBuilder::at(0x55_0000_1030, 3, 4, time);
        let chain = [-512_i64 as u64, 0x55_0000_1030, 0x55_0000_1100];
        it.sample(&SampleBuilder { id: 5, cpu: 1, branches, ..sample.with_callchain(&chain) });
    }
    it.build()
}

fn printed(name: &str, chains: bool, args: &[&str]) -> Ran {
    let folder = empty_folder(&format!("branches-{name}"));
    let endian = if name.ends_with("big") { Endian::Big } else { Endian::Little };
    std::fs::write(folder.join("perf.data"), recording(endian, chains)).expect("written");
    run(&folder, &[&["perf.data", "-q", "-f", "perf-script"], args].concat())
}

/// The branches of the first sample.
const ALL: &str = " 0x5500001010/0x5500001020/P/-/-/0/ \
    \u{20}0x5500001011/0x5500001020/M/-/-/3000/COND \
    \u{20}0x5500001012/0x5500001020/P/X/-/6000/UNCOND \
    \u{20}0x5500001013/0x5500001020/M/X/-/9000/IND \
    \u{20}0x5500001014/0x5500001020/P/-/A/12000/CALL \
    \u{20}0x5500001015/0x5500001020/M/-/A/15000/IND_CALL \
    \u{20}0x5500001016/0x5500001020/P/X/A/18000/RET \
    \u{20}0x5500001017/0x5500001020/M/X/A/21000/SYSCALL \
    \u{20}0x5500001018/0x5500001020/P/-/-/24000/SYSRET \
    \u{20}0x5500001019/0x5500001020/M/-/-/27000/COND_CALL \
    \u{20}0x550000101a/0x5500001020/P/X/-/30000/COND_RET \
    \u{20}0x550000101b/0x5500001020/M/X/-/33000/ERET \
    \u{20}0x550000101c/0x5500001020/P/-/A/36000/IRQ \
    \u{20}0x550000101d/0x5500001020/M/-/A/39000/SERROR \
    \u{20}0x550000101e/0x5500001020/P/X/A/42000/NO_TX \
    \u{20}0x550000101f/0x5500001020/M/X/A/45000/FAULT_ALGN \
    \u{20}0x5500001010/0x5500001020/P/-/-/0/FAULT_DATA \
    \u{20}0x5500001010/0x5500001020/P/-/-/0/ARCH_5 \
    \u{20}0x5500001010/0x5500001020/P/-/-/0/ \
    \u{20}0xffffffff81000000/0x0/-/-/-/0/ ";

/// The lines that `OCamlFDO` and `llvm-profgen` (address and branches) and `perf2bolt` (process and branches) read.
#[test]
fn samples_without_chains_are_on_one_line() {
    for name in ["little", "big"] {
        let ran = printed(name, false, &["-F", "pid,ip,brstack"]).expect_status(0);
        let expected = format!(
            "    3        5500001030{ALL}\n    3        5500001030\n    3        5500001030 0x5500001010/0x5500001020/P/-/-/0/ \n"
        );
        assert_eq!(ran.text(), expected);
    }
    let ran = printed("bolt", false, &["-F", "pid,brstack"]).expect_status(0);
    let expected = format!("    3 {ALL}\n    3 \n    3  0x5500001010/0x5500001020/P/-/-/0/ \n");
    assert_eq!(ran.text(), expected);
    let ran = printed("modules", false, &["-F", "+brstack"]).expect_status(0);
    let last = "             app     3/4     [001]     0.000102:          1 cycles:u:        \
                5500001030 [unknown] (/demo/demo.elf) \
                0x5500001010(/demo/demo.elf)/0x5500001020(/demo/demo.elf)/P/-/-/0/ ";
    let text = ran.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[2]), (3, last));
    assert!(lines[0].ends_with("  0xffffffff81000000([unknown])/0x0([unknown])/-/-/-/0/ "));
}

#[test]
fn branches_follow_a_callchain() {
    let ran = printed("chains", true, &["-F", "ip,brstack"]).expect_status(0);
    let frames = "\n\t      5500001030\n\t      5500001100\n";
    let last = " 0x5500001010/0x5500001020/P/-/-/0/ ";
    assert_eq!(ran.text(), format!("{frames}{ALL}\n{frames}\n{frames}{last}\n"));
    let without = printed("without", true, &["-F", "ip"]).expect_status(0);
    assert_eq!(without.text(), format!("{frames}\n{frames}\n{frames}\n"));
}

#[test]
fn filters_leave_branches_with_their_samples() {
    let args = ["-F", "time,brstack", "--time", "0.000102,"];
    let ran = printed("filter", false, &args).expect_status(0);
    assert_eq!(ran.text(), "    0.000102:  0x5500001010/0x5500001020/P/-/-/0/ \n");
}

#[test]
fn recordings_without_branches_are_refused() {
    let folder = empty_folder("branches-none");
    let mut it = PerfDataBuilder::new(Endian::Little);
    it.event("cpu-clock", EventAttr::dwarf(0x00ff_0fff), &[5]);
    std::fs::write(folder.join("perf.data"), it.build()).expect("written");
    let ran = run(&folder, &["perf.data", "-f", "perf-script", "-F", "+brstack"]);
    let expected = "-F brstack: the recording has no branch records; record them with perf record -b, or -j any,u";
    assert!(ran.status == 2 && ran.stderr.contains(expected), "{}", ran.stderr);
}
