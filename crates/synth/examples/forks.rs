//! Writes a recording of a process with many maps that forks many children; each child changes a few maps and is
//! sampled once: `forks FILE [PROCESSES [MAPS [CHANGES]]]`. Measures the cost of a replay's plan.
#![allow(clippy::disallowed_methods, reason = "an example that writes files")]

use std::path::PathBuf;

use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder, SampleId,
    UserRegs, x86_64_reg,
};

const PARENT: u32 = 1000;
const START: u64 = 0x7f00_0000_0000;
const PAGE: u64 = 0x1000;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next().map(PathBuf::from) else {
        return Err(std::io::Error::other("usage: forks FILE [PROCESSES [MAPS [CHANGES]]]"));
    };
    let mut number =
        |usual| arguments.next().and_then(|number| number.parse().ok()).unwrap_or(usual);
    let (processes, maps, changes) = (number(1000_u64), number(2000), number(1));
    std::fs::write(file, recording(processes, maps, changes))
}

fn recording(processes: u64, maps: u64, changes: u64) -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cpu-clock:u", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[1]);
    data.describe_events().feature(&Feature::Arch("x86_64"));
    let mut time = 1_000_000;
    let mut next = || {
        time += 1000;
        time
    };
    for index in 0..maps {
        map(&mut data, PARENT, index, &format!("/lib/{}.so", index / 4), next());
    }
    for child in 0..processes {
        let pid = PARENT + 1 + child as u32;
        let time = next();
        let fork = Record::Fork { pid, ppid: PARENT, tid: pid, ptid: PARENT, time };
        data.record_at(&fork, SampleId::at(PARENT, PARENT, time));
        for change in 0..changes {
            let index = (child * 37 + change * 101) % maps.max(1);
            map(&mut data, pid, index, "/lib/changed.so", next());
        }
        let address = START + (child % maps.max(1)) * 2 * PAGE + 0x10;
        let regs = UserRegs::x86_64(address, 0x7ffd_0000_1000);
        let sample = SampleBuilder::at(address, pid, pid, next());
        data.sample(&sample.with_regs(&regs.usual_values()).with_stack(&[0; 16]));
    }
    data.build()
}

fn map(data: &mut PerfDataBuilder, pid: u32, index: u64, name: &str, time: u64) {
    let record = Record::Mmap2 {
        pid,
        tid: pid,
        addr: START + index * 2 * PAGE,
        len: PAGE,
        pgoff: index % 4 * PAGE,
        file: MmapFile::Inode { major: 8, minor: 1, inode: index / 4, generation: 0 },
        prot: 5,
        flags: 2,
        name: name.as_bytes(),
    };
    data.record_at(&record, SampleId::at(pid, pid, time));
}
