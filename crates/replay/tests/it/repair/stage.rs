//! Recordings of stacks in a text notation. A stack is a word with a letter for each frame, innermost first.
//!
//! ```text
//!   EDCBAR       recorded completely; R is the root. All frames have 32 bytes, from the same address downwards
//!   EDC|BAR      the dump ends in the frame of C and does not show its caller
//!   E2DCBAR      E saved another value of its caller than the other frames, which save 1; 0 distinguishes nothing
//!   EdCBAR       D is at another address
//! ```
//!
//! A chain is shown as `@E D C +B +A ~ R root`: sampled, by CFI, from other samples, a gap.

use std::io::Cursor;
use std::sync::Arc;

use image_store::ImageStore;
use module_map::Timeline;
use perf_data::{Findings, Input, Session, SessionOptions, SharedBytes};
use profile::{Profile, SampleRow};
use replay::{
    FieldSelection, Join, LabelOptions, NoObserver, Replay, ReplayOptions, Replayer,
    ResolvedFilter, SpanOptions,
};
use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, PipeLayout, Record, SampleBuilder,
    SampleId, StackBuilder, UserRecord, UserRegs, x86_64_reg,
};
use unwinder::{Arch, FoundBy};

use crate::world::{BASE, Program, SP, World, ops};

/// CFA of the root; stacks grow downwards from here.
pub(crate) const TOP: u64 = SP + 0x8_0000;
/// Size of a frame, in bytes.
pub(crate) const FRAME: u64 = 0x20;
pub(crate) const PID: u32 = 7;
const FUNCTIONS: u64 = BASE + 0x2000;

/// Code of a signal trampoline, and its address.
const RESTORE_RT: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
pub(crate) const TRAMPOLINE: u64 = BASE + 0x1800;

/// Address in the function of a letter after its call.
pub(crate) fn address(letter: char) -> u64 {
    match letter {
        'a'..='z' => address(letter.to_ascii_uppercase()) + 0x20,
        _ => FUNCTIONS + 0x40 * (u64::from(letter) - u64::from('A')) + 0x10,
    }
}

fn program() -> Program {
    let functions = ('A'..='Z').filter(|letter| *letter != 'R');
    // It calls the thread's start function: `call *%rax`.
    let root = ops().undefined(16);
    let program = Program::empty(Arch::X86_64).function(address('R') - 0x10, 0x40, root);
    let program = program.code(TRAMPOLINE, &RESTORE_RT).code(address('R') - 2, &[0xff, 0xd0]);
    functions.fold(program, |program, letter| {
        // The frame: two words of its own, rbx, the return address.
        program.function(address(letter) - 0x10, 0x40, ops().def_cfa_offset(32).offset(3, 2))
    })
}

/// A stack in the notation: its dump, from the stack pointer up.
pub(crate) struct Written {
    pub(crate) pc: u64,
    pub(crate) sp: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Written {
    pub(crate) fn read(text: &str) -> Self {
        let mut frames: Vec<(u64, u64)> = Vec::new();
        let mut shown = None;
        for letter in text.chars() {
            match letter.to_digit(10) {
                Some(0) => frames.last_mut().unwrap().1 = 0,
                Some(digit) => frames.last_mut().unwrap().1 = saved(digit.into()),
                None if letter == '|' => shown = Some(frames.len()),
                None => {
                    let value = u64::from(u32::from(letter.to_ascii_uppercase()));
                    frames.push((address(letter), saved(value)));
                }
            }
        }
        Self::of(&frames, shown)
    }

    /// Makes a stack of frames (address, saved value) with a dump of the first `shown` frames.
    pub(crate) fn of(frames: &[(u64, u64)], shown: Option<usize>) -> Self {
        let sp = TOP - FRAME * (frames.len() as u64 - 1);
        let mut stack = StackBuilder::new(sp, Endian::Little, 8);
        for (callee, caller) in frames.iter().zip(&frames[1..]) {
            stack.words(0, 2).word(callee.1).word(caller.0);
        }
        let mut bytes = stack.words(0, 2).bytes();
        bytes.truncate(shown.map_or(bytes.len(), |shown| (shown - 1) * FRAME as usize));
        Self { pc: frames[0].0, sp, bytes }
    }
}

/// A saved value that distinguishes calls.
pub(crate) fn saved(value: u64) -> u64 {
    0x5555_0000_0000 + (value << 20)
}

/// Options of a replay.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub(crate) join: Join,
    pub(crate) max_frames: usize,
    pub(crate) threads: usize,
    /// As a stream of many batches.
    pub(crate) stream: bool,
    /// Repair batch by batch if `Some`; true to walk all waiting samples after each batch.
    pub(crate) live: Option<bool>,
}

impl Default for How {
    fn default() -> Self {
        Self { join: Join::Gaps, max_frames: 127, threads: 1, stream: false, live: None }
    }
}

/// A recording under construction: process 7 runs the program.
pub(crate) struct Recording {
    data: PerfDataBuilder,
    world: World,
    time: u64,
}

impl Recording {
    pub(crate) fn new() -> Self {
        let mut data = PerfDataBuilder::new(Endian::Little);
        data.event("cpu-clock", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[]);
        data.feature(&Feature::Arch("x86_64"));
        let mut new = Self { data, world: program().load(), time: 0 };
        new.map(PID);
        new
    }

    /// The next time: twenty milliseconds later.
    fn next(&mut self) -> u64 {
        self.time += 20_000_000;
        self.time
    }

    /// Maps the program.
    pub(crate) fn map(&mut self, pid: u32) {
        let time = self.next();
        let file = MmapFile::Inode { major: 1, minor: 1, inode: 1, generation: 1 };
        for (start, prot) in [(0x1000, 5), (0x5000, 1)] {
            let (addr, name) = (BASE + start, self.world.path());
            let (len, pgoff, flags) = (0x4000, start, 2);
            let record = Record::Mmap2 { pid, tid: pid, addr, len, pgoff, file, prot, flags, name };
            self.data.record_at(&record, SampleId::at(pid, pid, time));
        }
    }

    /// Adds a thread of a process, made by the first thread of process 7.
    pub(crate) fn fork(&mut self, pid: u32, tid: u32) {
        let time = self.next();
        let record = Record::Fork { pid, ppid: PID, tid, ptid: PID, time };
        self.data.record_at(&record, SampleId::at(PID, PID, time));
    }

    /// Replaces the program of a process, and maps it.
    pub(crate) fn exec(&mut self, pid: u32) {
        let time = self.next();
        let record = Record::Comm { pid, tid: pid, comm: b"other", exec: true };
        self.data.record_at(&record, SampleId::at(pid, pid, time));
        self.map(pid);
    }

    /// Adds samples of the first thread of process 7, one per word.
    pub(crate) fn samples(&mut self, text: &str) -> &mut Self {
        text.split_whitespace().for_each(|stack| self.sample_of((PID, PID), stack));
        self
    }

    pub(crate) fn sample_of(&mut self, task: (u32, u32), stack: &str) {
        self.written(task, &Written::read(stack), &[]);
    }

    /// Adds a sample, in the kernel if there are `kernel` addresses.
    pub(crate) fn written(&mut self, (pid, tid): (u32, u32), stack: &Written, kernel: &[u64]) {
        const CONTEXT_KERNEL: u64 = -128_i64 as u64;
        let regs = UserRegs::x86_64(stack.pc, stack.sp).usual_values();
        let mut sample = SampleBuilder::at(stack.pc, pid, tid, self.next());
        sample.misc = 2;
        if let Some(&ip) = kernel.first() {
            (sample.misc, sample.ip) = (1, ip);
            sample = sample.with_callchain(&[&[CONTEXT_KERNEL], kernel].concat());
        }
        self.data.sample(&sample.with_regs(&regs).with_stack(&stack.bytes));
        if self.time.is_multiple_of(60_000_000) {
            self.data.user_record(&UserRecord::FinishedRound);
        }
    }

    /// Replays the recording, and returns the number of batches, too.
    pub(crate) fn replay(&self, how: How) -> (Replay, usize) {
        let How { join, max_frames, threads, stream, live } = how;
        let input = if stream {
            let bytes = self.data.build_pipe(&PipeLayout::default());
            Input::Stream(Box::new(Cursor::new(bytes)))
        } else {
            Input::File(SharedBytes::from(self.data.build()))
        };
        let options = SessionOptions { batch_bytes: 1, ..SessionOptions::default() };
        let replay_options = ReplayOptions {
            filter: ResolvedFilter::default(),
            max_frames,
            learn_files: true,
            join,
            tail_calls: true,
            off_cpu: false,
            fields: FieldSelection::default(),
            labels: LabelOptions::default(),
            spans: SpanOptions::default(),
            variables: None,
            redact: None,
            trace_text: false,
            branches: false,
            weight_field: None,
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut found = Findings::default();
            let mut session = Session::open(input, options, &mut found).unwrap();
            let images = Arc::new(ImageStore::new(self.world.files()));
            let mut timeline = Timeline::new();
            let engine = Arc::default();
            let mut replayer =
                Replayer::with_engine(engine, &mut timeline, &images, &replay_options);
            if live.is_some() {
                replayer.repair_by_batches();
            }
            let mut batches = 0;
            while let Some(batch) = session.next_batch(&mut found) {
                replayer.feed(batch, &NoObserver);
                if live == Some(true) {
                    replayer.walk_pending(&NoObserver);
                }
                batches += 1;
            }
            let replay = replayer.finish(&NoObserver);
            assert_eq!(replay.profile.summary.samples_dropped, 0);
            (replay, batches)
        })
    }

    /// Returns the chains of all samples.
    pub(crate) fn chains(&self, how: How) -> Vec<String> {
        let (Replay { profile, .. }, _) = self.replay(how);
        profile.samples.iter().map(|row| shown(&profile, row)).collect()
    }

    /// Compares the chains of the samples that were truncated in the recording.
    #[track_caller]
    pub(crate) fn check(&self, how: How, expected: &[&str]) {
        let (cut, found) = (self.chains(How { join: Join::Off, ..how }), self.chains(how));
        let changed = cut.iter().zip(found).filter(|(cut, _)| !cut.ends_with(" root"));
        assert_eq!(changed.map(|(_, found)| found).collect::<Vec<_>>(), expected);
    }
}

/// Formats a chain and its end reason.
pub(crate) fn shown(profile: &Profile, row: &SampleRow) -> String {
    let mut words = Vec::new();
    let mut node = row.stack;
    while let Some(at) = node.and_then(|node| profile.stacks.get(node)) {
        let frame = profile.frames.get(at.frame).unwrap();
        let location = profile.locations.get(frame.location).unwrap();
        let name = name(location.relative);
        words.push(match (frame.found_by, frame.kernel) {
            (FoundBy::Sampled, true) => format!("@k{:x}", location.relative & 0xfff),
            (_, true) => format!("k{:x}", location.relative & 0xfff),
            (FoundBy::Sampled, _) => format!("@{name}"),
            (FoundBy::Cfi, _) => name,
            (FoundBy::Joined, _) => format!("+{name}"),
            (FoundBy::Gap, _) => {
                assert_eq!((location.module, location.relative), (None, 0));
                "~".to_owned()
            }
            (other, _) => format!("{name} by {other}"),
        });
        node = at.parent;
    }
    format!("{} {}", words.join(" "), row.end)
}

/// Letter of a lookup address, either in the call or at the sampled or interrupted instruction.
fn name(relative: u64) -> String {
    let is_there = |letter: &char| {
        let at = address(*letter) - BASE;
        relative == at || relative + 1 == at
    };
    match ('A'..='Z').chain('a'..='z').find(is_there) {
        Some(letter) => letter.to_string(),
        None if relative == TRAMPOLINE - BASE => "signal".to_owned(),
        None => format!("{relative:#x}"),
    }
}
