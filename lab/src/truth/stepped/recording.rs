//! Stops as the samples of a recording.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use object::Object as _;
use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder, SampleId,
    x86_64_reg,
};

use super::machine::Mapping;
use super::trace::Stop;

/// Process id in the recording, independent of the real one.
const PID: u32 = 1000;
/// Stack size: more than the helper copies, in bytes.
const STACK_BYTES: u32 = 65_528;
/// Values of segment registers, which `USUAL_MASK` requests between the flags and `r8`.
const SEGMENTS: [u64; 2] = [0x33, 0x2b];

/// A recording under construction. Sample N has the time 10 N + 10.
pub(crate) struct Recording {
    builder: PerfDataBuilder,
    samples: u64,
    /// Build-ids of mapped files, by path.
    build_ids: BTreeMap<String, Option<Vec<u8>>>,
}

impl Recording {
    /// Creates a recording without samples.
    pub(crate) fn new() -> Self {
        let mut builder = PerfDataBuilder::new(Endian::Little);
        let attr = EventAttr {
            sample_stack_user: STACK_BYTES,
            ..EventAttr::dwarf(x86_64_reg::USUAL_MASK)
        };
        builder.event("cpu-clock:u", attr, &[1]);
        builder.feature(&Feature::Arch("x86_64"));
        builder.record(&Record::Comm { pid: PID, tid: PID, comm: b"stepped", exec: true });
        Self { builder, samples: 0, build_ids: BTreeMap::new() }
    }

    /// Adds the mappings that hold from the next sample on.
    pub(crate) fn map(&mut self, mappings: &[Mapping]) {
        for mapping in mappings.iter().filter(|mapping| !mapping.name.is_empty()) {
            let build_id = self.build_ids.entry(mapping.name.clone());
            let build_id = build_id.or_insert_with(|| build_id_of(&mapping.name));
            let (major, minor) = mapping.device;
            let inode = MmapFile::Inode { major, minor, inode: mapping.inode, generation: 0 };
            let file = build_id.as_deref().map_or(inode, MmapFile::BuildId);
            let record = Record::Mmap2 {
                pid: PID,
                tid: PID,
                addr: mapping.start,
                len: mapping.end - mapping.start,
                pgoff: mapping.offset,
                file,
                prot: mapping.prot,
                flags: 2,
                name: mapping.name.as_bytes(),
            };
            self.builder.record_at(&record, SampleId::at(PID, PID, self.samples * 10 + 1));
        }
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, stop: &Stop) {
        self.samples += 1;
        let (first, last) = stop.registers.split_at(10);
        let values = [first, &SEGMENTS, last].concat();
        let sample = SampleBuilder::at(stop.pc(), PID, PID, self.samples * 10)
            .with_regs(&values)
            .with_stack(&stop.stack);
        self.builder.sample(&sample);
    }

    /// Number of samples.
    pub(crate) const fn len(&self) -> u64 {
        self.samples
    }

    /// Writes the file.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        std::fs::write(file, self.builder.build()).with_context(|| file.display().to_string())
    }
}

/// Returns the build-id of a file, if it has one.
fn build_id_of(path: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    file.build_id().ok()?.map(<[u8]>::to_vec)
}
