//! The samples of a recording in time order, each with the input of its walk. Rules that remember earlier samples need
//! this sequence.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use host::{Host as _, Origin, RealHost};
use image_store::FileOptions;
use module_map::{Module, Space, Timeline};
use perf_data::{
    Batch, CpuMode, Endian, Findings, Input, RegsAbi, Sample, SampleEntry, Session, SessionOptions,
    SharedBytes,
};
use replay::{apply_record, learn_build_ids};
use unwinder::{Arch, UserState};

/// A sample.
pub(super) struct Sampled<'a> {
    /// Time in ns; 0 if there is none.
    pub(super) time: u64,
    pub(super) pid: i32,
    pub(super) tid: i32,
    /// Registers as (bit of the mask, value), and stack; `None` if it has none, or 32-bit ones.
    pub(super) user: Option<(Vec<(u32, u64)>, UserState<'a>)>,
    /// All modules so far.
    pub(super) modules: &'a [Arc<Module>],
}

/// An opened recording.
pub(super) struct Recording {
    session: Session,
    arch: Arch,
}

impl Recording {
    /// Opens a recording of 64-bit code.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = RealHost.open(path, Origin::User)?;
        let input = Input::File(SharedBytes::new(file.content));
        let session = Session::open(input, SessionOptions::default(), &mut Findings::default())
            .with_context(|| path.display().to_string())?;
        let arch = session.head().machine().arch;
        let Some(arch @ (Arch::X86_64 | Arch::Aarch64)) = arch else {
            bail!("{}: not of x86-64 or aarch64", path.display());
        };
        if session.head().endian() == Endian::Big {
            bail!("{}: big-endian", path.display());
        }
        Ok(Self { session, arch })
    }

    /// Returns the options for finding its modules' files: those of the command without options.
    pub(super) fn files(&self) -> FileOptions {
        let features = self.session.head().features();
        let same = |recorded: Option<&[u8]>, here: Vec<u8>| recorded == Some(&here);
        FileOptions {
            debug_dirs: vec![PathBuf::from("/usr/lib/debug")],
            trust_running_kernel: same(features.hostname, RealHost.hostname())
                && same(features.os_release, RealHost.kernel_release()),
            ..FileOptions::default()
        }
    }

    /// Calls `each` with every sample, in time order.
    pub(super) fn replay(mut self, each: &mut dyn FnMut(&Sampled<'_>)) {
        let mut timeline = Timeline::new();
        let mut findings = Findings::default();
        learn_build_ids(&mut timeline, self.session.head());
        while let Some(batch) = self.session.next_batch(&mut findings) {
            let mut records = batch.record_entries().iter().peekable();
            for entry in batch.samples() {
                let before = |time, position| (time, position) < (entry.time, entry.position);
                while let Some(record) = records.next_if(|it| before(it.time, it.position)) {
                    apply(&mut timeline, &batch, record.position);
                }
                timeline.advance(entry.time);
                let (space, _) = timeline.space(entry.pid);
                // As in a run of the command, an entry that cannot be decoded is not a sample.
                if let Ok(sample) = batch.sample(entry) {
                    each(&sampled(entry, &sample, self.arch, &space, timeline.modules()));
                }
            }
            for record in records {
                apply(&mut timeline, &batch, record.position);
            }
        }
    }
}

fn apply(timeline: &mut Timeline, batch: &Batch, position: u64) {
    if let Some(record) = batch.record(position) {
        apply_record(timeline, &record);
    }
}

fn sampled<'a>(
    entry: &SampleEntry,
    sample: &Sample<'a>,
    arch: Arch,
    space: &'a Space,
    modules: &'a [Arc<Module>],
) -> Sampled<'a> {
    let registers = sample.user_regs.filter(|registers| registers.abi() == RegsAbi::Bits64);
    let user = registers.map(|registers| {
        let state = UserState {
            arch,
            stack: sample.user_stack.map_or(&[], |stack| stack.bytes),
            big_endian: false,
            partial_registers: sample.cpu_mode == CpuMode::Kernel,
            executed: false,
            space,
            thread: entry.tid.0.cast_unsigned(),
        };
        (registers.iter().collect(), state)
    });
    Sampled { time: entry.time.0, pid: entry.pid.0, tid: entry.tid.0, user, modules }
}
