//! The environment of the tests: a program of a few functions in a file, mapped into a process.
//!
//! ```text
//!   0x40_1000  root    0x40 bytes, its return address is undefined: the outermost frame
//!   0x40_1100  main    calls the function under test; a frame of 0x20 bytes unless stated otherwise
//!   0x40_1200  test    the function under test
//!   0x40_1400  free    code without call frame information
//! ```

use std::sync::Arc;

use address::{Avma, FileOffset, Pid};
use host::MemoryHost;
use image_store::{FileOptions, ImageStore};
use module_map::{FileIdentity, MapEvent, Space, Timeline};
use synth::{
    CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, Segment, StackBuilder,
    Symbol, UserRegs, eh_frame_hdr, elf_const,
};
use unwinder::{Arch, EndReason, Engine, FoundBy, Frame, UserState, Walker};

/// Number to add to an address of the file.
pub(crate) const BASE: u64 = 0x40_0000;
pub(crate) const ROOT: u64 = BASE + 0x1000;
pub(crate) const MAIN: u64 = BASE + 0x1100;
pub(crate) const TEST: u64 = BASE + 0x1200;
pub(crate) const FREE: u64 = BASE + 0x1400;
/// Return addresses of the calls in `main` and `root`.
pub(crate) const IN_MAIN: u64 = MAIN + 0x10;
pub(crate) const IN_ROOT: u64 = ROOT + 0x8;
/// Lowest address of the stacks in the tests.
pub(crate) const SP: u64 = 0x7ffd_0000;
pub(crate) const EH_FRAME: u64 = 0x6000;
pub(crate) const HEADER: u64 = 0x5000;
const TEXT_SIZE: u64 = 0x4000;
const DATA_SIZE: u64 = 0x4000;
pub(crate) const PROCESS: Pid = Pid(7);

/// Instructions of little-endian call frame information.
pub(crate) fn ops() -> CfiOps {
    CfiOps::new(Endian::Little)
}

/// A stack from [`SP`] upwards.
pub(crate) fn stack() -> StackBuilder {
    StackBuilder::new(SP, Endian::Little, 8)
}

/// The form of the file's call frame information.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `.eh_frame` with its header.
    Header,
    /// `.eh_frame` alone.
    NoHeader,
}

/// A program under construction.
pub(crate) struct Program {
    pub(crate) arch: Arch,
    pub(crate) text: Vec<u8>,
    pub(crate) form: Form,
    /// Start and length in the file, the CIE, the instructions.
    pub(crate) functions: Vec<(u64, u64, Cie, CfiOps)>,
    /// Additional sections of the file.
    pub(crate) sections: Vec<Section>,
    pub(crate) entry: u64,
    /// True if it is a program, not a library.
    pub(crate) is_program: bool,
}

impl Program {
    /// A program that contains only code without effect.
    pub(crate) fn empty(arch: Arch) -> Self {
        let text = match arch {
            Arch::X86_64 | Arch::X86 => vec![0x90; TEXT_SIZE as usize],
            Arch::Aarch64 => 0xd503_201f_u32.to_le_bytes().repeat(TEXT_SIZE as usize / 4),
            Arch::Arm => 0xe320_f000_u32.to_le_bytes().repeat(TEXT_SIZE as usize / 4),
            Arch::Loongarch64 => 0x0340_0000_u32.to_le_bytes().repeat(TEXT_SIZE as usize / 4),
            Arch::Riscv64 => 0x13_u32.to_le_bytes().repeat(TEXT_SIZE as usize / 4),
            _ => vec![0; TEXT_SIZE as usize],
        };
        let (functions, sections) = (Vec::new(), Vec::new());
        Self { arch, text, form: Form::Header, functions, sections, entry: 0, is_program: false }
    }

    /// A program with `root` and `main` as usual, and `test` with these instructions after those of its CIE.
    pub(crate) fn new(arch: Arch, test: CfiOps) -> Self {
        let main = match arch {
            Arch::X86_64 | Arch::X86 => ops().def_cfa_offset(0x20),
            Arch::Aarch64 => ops().def_cfa_offset(0x20).offset(29, 4).offset(30, 3),
            Arch::Arm => ops().def_cfa_offset(0x20).offset(11, 8).offset(14, 7),
            Arch::Loongarch64 => ops().def_cfa_offset(0x20).offset(22, 4).offset(1, 3),
            Arch::Riscv64 => ops().def_cfa_offset(0x20).offset(8, 4).offset(1, 3),
            _ => ops(),
        };
        Self::with_main(arch, main, test)
    }

    /// As [`Self::new`], with another `main`.
    pub(crate) fn with_main(arch: Arch, main: CfiOps, test: CfiOps) -> Self {
        Self::empty(arch).root().function(MAIN, 0x100, main).function(TEST, 0x100, test)
    }

    pub(crate) fn root(self) -> Self {
        let column = match self.arch {
            Arch::X86_64 => 16,
            Arch::Aarch64 => 30,
            Arch::Arm | Arch::S390x => 14,
            Arch::Riscv64 | Arch::Loongarch64 => 1,
            Arch::Powerpc64 => 65,
            _ => 8,
        };
        self.function(ROOT, 0x40, ops().undefined(column))
    }

    pub(crate) fn cie(&self) -> Cie {
        match self.arch {
            Arch::X86_64 => Cie::x86_64(),
            Arch::Aarch64 => Cie::aarch64(),
            Arch::Arm => Cie::arm(),
            Arch::Riscv64 => Cie::riscv64(),
            Arch::X86 => Cie::x86(),
            // The tests of other processors use real programs.
            _ => Cie::loongarch64(),
        }
    }

    /// Adds a function at an address of the process.
    pub(crate) fn function(self, start: u64, len: u64, test: CfiOps) -> Self {
        let cie = self.cie();
        self.function_of(start, len, cie, test)
    }

    pub(crate) fn function_of(mut self, start: u64, len: u64, cie: Cie, test: CfiOps) -> Self {
        self.functions.push((start - BASE, len, cie, test));
        self
    }

    /// Puts instructions at an address of the process.
    pub(crate) fn code(mut self, at: u64, bytes: &[u8]) -> Self {
        let start = (at - BASE - 0x1000) as usize;
        self.text[start..start + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Adds an x86 call of an address of the process, with this return address.
    pub(crate) fn call(self, returns_to: u64, to: u64) -> Self {
        let [a, b, c, d] = (to.wrapping_sub(returns_to) as u32).to_le_bytes();
        self.code(returns_to - 5, &[0xe8, a, b, c, d])
    }

    /// Returns a section with these functions.
    pub(crate) fn cfi(&self, kind: CfiKind, address: u64) -> CfiBuilder {
        let mut cfi = CfiBuilder::new(kind, Endian::Little, address);
        for (start, len, cie, ops) in &self.functions {
            let cie = cfi.cie(cie);
            let instructions = ops.clone().into_bytes();
            let fde = Fde { pc_begin: *start, pc_range: *len, lsda: 0, instructions };
            cfi.fde(cie, &fde);
        }
        cfi
    }

    /// Returns the file, with the functions in `.eh_frame` if there are any.
    pub(crate) fn elf(&self) -> ElfBuilder {
        let mut sections = vec![Section::text(0x1000, self.text.clone())];
        if !self.functions.is_empty() {
            let mut cfi = self.cfi(CfiKind::EhFrame, EH_FRAME);
            let built = cfi.terminator().build();
            let header = eh_frame_hdr(Endian::Little, HEADER, EH_FRAME, &built.fdes);
            sections.push(Section::loaded(".eh_frame", EH_FRAME, built.bytes));
            if self.form == Form::Header {
                sections.push(Section::loaded(".eh_frame_hdr", HEADER, header));
            }
        }
        sections.extend(self.sections.iter().cloned());
        let base = match self.arch {
            Arch::X86_64 => ElfBuilder::x86_64(),
            Arch::Aarch64 => ElfBuilder::aarch64(),
            Arch::Arm => ElfBuilder::arm(),
            Arch::Riscv64 => ElfBuilder::riscv64(),
            Arch::X86 => ElfBuilder::x86(),
            _ => ElfBuilder::loongarch64(),
        };
        let e_type = if self.is_program { elf_const::ET_EXEC } else { base.e_type };
        ElfBuilder {
            e_type,
            e_entry: self.entry,
            segments: vec![
                Segment::load_text(0x1000, 0x1000, TEXT_SIZE),
                Segment::load_rodata(HEADER, HEADER, DATA_SIZE),
            ],
            sections,
            symbols: vec![Symbol::function("root", 0x1000, 0x40)],
            ..base
        }
    }

    pub(crate) fn load(&self) -> World {
        World::new(self.arch, &self.elf().build())
    }

    /// Walks and compares.
    pub(crate) fn check(
        &self,
        regs: &UserRegs,
        stack: &StackBuilder,
        frames: &[(u64, FoundBy)],
        end: EndReason,
    ) {
        let (found, reason) = self.load().walk(regs, &stack.bytes());
        let shown = |frames: &[(u64, FoundBy)]| {
            frames.iter().map(|(at, how)| format!("{at:#x} {how}")).collect::<Vec<_>>()
        };
        assert_eq!(shown(&found), shown(frames), "ends {reason}");
        assert_eq!(reason, end);
    }
}

/// The kind of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sampled {
    Usual,
    /// Without the registers that the kernel does not save.
    InKernel,
    /// After the instruction at the program counter.
    Executed,
}

/// A process with the program mapped, and a stack.
pub(crate) struct World {
    arch: Arch,
    pub(crate) host: Arc<MemoryHost>,
    pub(crate) timeline: Timeline,
    pub(crate) images: ImageStore,
    pub(crate) engine: Engine,
    pub(crate) max_frames: usize,
}

impl World {
    pub(crate) fn new(arch: Arch, elf: &[u8]) -> Self {
        Self::with_debug_files(arch, elf, &[])
    }

    /// As [`Self::new`], on a machine with debug files below `/debug`.
    pub(crate) fn with_debug_files(
        arch: Arch,
        elf: &[u8],
        debug_files: &[(&str, Vec<u8>)],
    ) -> Self {
        let host = Arc::new(MemoryHost::new());
        host.insert(PATH, elf);
        for (path, bytes) in debug_files {
            host.insert(path, &bytes[..]);
        }
        let mut world = Self {
            arch,
            images: ImageStore::new(files_of(&host)),
            host,
            timeline: Timeline::new(),
            engine: Engine::new(),
            max_frames: 127,
        };
        let path = PATH.as_bytes();
        world.map(BASE + 0x1000, TEXT_SIZE, 0x1000, path, [true, false]);
        world.map(BASE + HEADER, DATA_SIZE, HEADER, path, [false, false]);
        world.map(SP - 0x10_0000, 0x20_0000, 0, b"[stack]", [false, true]);
        world
    }

    /// Maps a file, or memory under a name; `[executable, writable]`.
    pub(crate) fn map(&mut self, start: u64, len: u64, offset: u64, path: &[u8], mode: [bool; 2]) {
        self.timeline.map(&MapEvent {
            pid: PROCESS,
            kernel: false,
            start: Avma(start),
            len,
            offset: FileOffset(offset),
            executable: mode[0],
            writable: mode[1],
            path,
            identity: FileIdentity::default(),
        });
    }

    /// Path of the file.
    pub(crate) fn path(&self) -> &[u8] {
        PATH.as_bytes()
    }

    /// Options for finding its files.
    pub(crate) fn files(&self) -> FileOptions {
        files_of(&self.host)
    }

    pub(crate) fn space(&mut self) -> std::sync::Arc<Space> {
        self.timeline.space(PROCESS).0
    }

    /// Returns the looked-up addresses in the process, each with its evidence.
    pub(crate) fn walk(
        &mut self,
        regs: &UserRegs,
        stack: &[u8],
    ) -> (Vec<(u64, FoundBy)>, EndReason) {
        self.walk_as(regs, stack, Sampled::Usual)
    }

    pub(crate) fn walk_as(
        &mut self,
        regs: &UserRegs,
        stack: &[u8],
        how: Sampled,
    ) -> (Vec<(u64, FoundBy)>, EndReason) {
        let mut walker = Walker::new(&self.engine, &self.images, self.max_frames);
        let space = self.timeline.space(PROCESS).0;
        let sample = (regs, stack, how);
        let found = walk_with(&mut walker, self.arch, &space, sample);
        // Again with the cache: the second walk is stored, the third one follows it.
        for _ in 0..2 {
            assert_eq!(walk_with(&mut walker, self.arch, &space, sample), found);
        }
        found
    }

    /// Returns the frames.
    pub(crate) fn frames(&mut self, regs: &UserRegs, stack: &[u8]) -> Vec<Frame> {
        let space = self.space();
        let mut walker = Walker::new(&self.engine, &self.images, self.max_frames);
        frames_with(&mut walker, self.arch, &space, (regs, stack, Sampled::Usual)).0
    }

    /// Walks consecutive samples of one thread.
    pub(crate) fn walk_all(
        &mut self,
        samples: &[(UserRegs, Vec<u8>)],
    ) -> Vec<(Vec<(u64, FoundBy)>, EndReason)> {
        let space = self.space();
        let mut walker = Walker::new(&self.engine, &self.images, self.max_frames);
        let walk = |(regs, stack): &(UserRegs, Vec<u8>)| {
            walk_with(&mut walker, self.arch, &space, (regs, stack, Sampled::Usual))
        };
        samples.iter().map(walk).collect()
    }
}

fn walk_with(
    walker: &mut Walker<'_>,
    arch: Arch,
    space: &Space,
    sample: (&UserRegs, &[u8], Sampled),
) -> (Vec<(u64, FoundBy)>, EndReason) {
    let (frames, end) = frames_with(walker, arch, space, sample);
    let address = |frame: &Frame| (frame.in_process().0, frame.found_by);
    (frames.iter().map(address).collect(), end)
}

fn frames_with(
    walker: &mut Walker<'_>,
    arch: Arch,
    space: &Space,
    (regs, stack, how): (&UserRegs, &[u8], Sampled),
) -> (Vec<Frame>, EndReason) {
    let partial_registers = how == Sampled::InKernel;
    let executed = how == Sampled::Executed;
    let state =
        UserState { arch, stack, big_endian: false, partial_registers, executed, space, thread: 0 };
    let mut frames = Vec::new();
    let end = walker.walk(&state, sampled(regs), &mut frames);
    (frames, end)
}

/// Path of the program.
const PATH: &str = "/bin/program";

fn files_of(host: &Arc<MemoryHost>) -> FileOptions {
    let (host, debug_dirs) = (host.clone(), vec!["/debug".into()]);
    FileOptions { host, debug_dirs, ..FileOptions::default() }
}

/// Returns the registers as a sample has them.
pub(crate) fn sampled(regs: &UserRegs) -> impl Iterator<Item = (u32, u64)> + Clone {
    let mask = regs.usual_mask();
    (0..64).filter(move |bit| mask >> bit & 1 == 1).zip(regs.usual_values())
}

/// Adds the stack above the return address into `main`, on x86-64: its frame, and its return address.
pub(crate) fn outer(stack: &mut StackBuilder) -> &mut StackBuilder {
    stack.words(0, 3).word(IN_ROOT)
}

/// Adds the frame of `main` on aarch64, from its stack pointer up.
pub(crate) fn outer_arm(stack: &mut StackBuilder) -> &mut StackBuilder {
    stack.word(0).word(IN_ROOT).words(0, 2)
}

/// The chain from `pc` in `test` through `main` to `root`, all by call frame information.
pub(crate) fn usual(pc: u64) -> [(u64, FoundBy); 3] {
    [(pc, FoundBy::Sampled), (IN_MAIN - 1, FoundBy::Cfi), (IN_ROOT - 1, FoundBy::Cfi)]
}
