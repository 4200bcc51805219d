//! Recordings written here over real ELF files, with mappings and samples at known addresses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder, SampleId,
    UserRegs, x86_64_reg,
};

use crate::support::cases::root;
use crate::support::run::{Ran, run};

/// Readable and executable.
pub(crate) const RX: u32 = 5;

/// A mapping: start, length, offset and file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map<'a> {
    pub(crate) start: u64,
    pub(crate) len: u64,
    pub(crate) offset: u64,
    pub(crate) prot: u32,
    pub(crate) file: MmapFile<'a>,
    pub(crate) path: &'a str,
}

impl<'a> Map<'a> {
    /// Returns a mapping of code of a file.
    pub(crate) fn code(start: u64, len: u64, offset: u64, path: &'a str) -> Self {
        Self { start, len, offset, prot: RX, file: inode(1), path }
    }
}

/// Returns a file on a fixed device.
pub(crate) const fn inode(number: u64) -> MmapFile<'static> {
    MmapFile::Inode { major: 8, minor: 1, inode: number, generation: 0 }
}

/// A recording of one event; every record is a microsecond after the previous one.
pub(crate) struct Recording {
    pub(crate) data: PerfDataBuilder,
    time: u64,
}

impl Recording {
    pub(crate) fn new() -> Self {
        let mut data = PerfDataBuilder::new(Endian::Little);
        data.event("cpu-clock:u", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[1]);
        data.describe_events().feature(&Feature::Arch("x86_64"));
        Self { data, time: 1_000_000 }
    }

    /// Returns the time of the next record.
    pub(crate) fn next(&mut self) -> u64 {
        self.time += 1000;
        self.time
    }

    pub(crate) fn map(&mut self, pid: u32, map: Map<'_>) {
        let time = self.next();
        self.map_at(pid, map, time);
    }

    pub(crate) fn map_at(&mut self, pid: u32, map: Map<'_>, time: u64) {
        let Map { start, len, offset, prot, file, path } = map;
        let name = path.as_bytes();
        let record = Record::Mmap2 {
            pid,
            tid: pid,
            addr: start,
            len,
            pgoff: offset,
            file,
            prot,
            flags: 2,
            name,
        };
        self.data.record_at(&record, SampleId::at(pid, pid, time));
    }

    /// Adds a sample at an address, with this stack.
    pub(crate) fn sample_on(&mut self, pid: u32, address: u64, stack: &[u64]) {
        let time = self.next();
        let stack: Vec<u8> = stack.iter().flat_map(|word| word.to_le_bytes()).collect();
        let regs = UserRegs::x86_64(address, 0x7ffd_0000_1000);
        self.data.sample(
            &SampleBuilder::at(address, pid, pid, time)
                .with_regs(&regs.usual_values())
                .with_stack(&stack),
        );
    }

    /// Adds a sample at an address, on a stack without return addresses.
    pub(crate) fn sample(&mut self, pid: u32, address: u64) {
        self.sample_on(pid, address, &[0, 0]);
    }

    /// Writes it into a folder.
    pub(crate) fn write(&self, folder: &Path) {
        fs::write(folder.join("perf.data"), self.data.build()).expect("the recording is written");
    }
}

/// Replays the recording in a folder, and returns the lines of its samples.
pub(crate) fn samples(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    replay(folder, &[&["-f", "ndjson"], arguments].concat()).lines()
}

/// Returns the findings of a replay: kind and count.
pub(crate) fn findings(folder: &Path, arguments: &[&str]) -> Vec<(String, u64)> {
    let json = replay(folder, arguments).json();
    let findings = json["summary"]["findings"].as_array().expect("findings");
    let pair = |finding: &Value| {
        let kind = finding["kind"].as_str().expect("a word").to_owned();
        (kind, finding["count"].as_u64().expect("a count"))
    };
    findings.iter().map(pair).collect()
}

fn replay(folder: &Path, arguments: &[&str]) -> Ran {
    run(folder, &[&["perf.data", "-q"], arguments].concat()).expect_status(0)
}

/// Returns the function of a sample's innermost frame, and its address in the file.
pub(crate) fn innermost(sample: &Value) -> (Option<&str>, Option<&str>) {
    let frame = &sample["frames"][0];
    (frame["function"].as_str(), frame["svma"].as_str())
}

/// Returns the folder of the linkers' small files.
pub(crate) fn layout_files() -> PathBuf {
    root().join("crates/image-store/testdata/layouts")
}
