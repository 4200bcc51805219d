//! Stack unwinder: turns registers, stack bytes and an address space into frames. Each frame states its evidence, each
//! chain its end reason.
//!
//! # How a stack is unwound
//! A sample has the registers of a thread and a copy of the top of its stack. The program counter is the first frame.
//! The program's file leads to the next one: for each instruction, the call frame information (CFI) gives the start of
//! the function's frame. It also gives the locations of the return address and of the caller's saved registers. The
//! caller's registers then lead to its own caller, until a function states that it has none or data is missing. The
//! chain's [`EndReason`] names the cause.
//!
//! Three types do this. An [`Engine`] makes rules from the call frame information and caches them for all threads, by
//! image and address in the image. A thousand processes of one program therefore share one warm cache. A [`Walker`]
//! belongs to one worker thread. A [`UserState`] is the user part of a sample. A walk is a pure function of the sample,
//! its address space and the files: any number of threads gives the same frames.
//!
//! The crate `replay` does this for all samples of a recording, in the address spaces of their time.
//!
//! ```
//! use address::{Avma, FileOffset, Pid, Svma};
//! use image_store::{FileOptions, Image, ImageStore};
//! use module_map::{FileIdentity, MapEvent, Timeline};
//! use synth::{CfiBuilder, CfiKind, CfiOps, Cie, ElfBuilder, Endian, Fde, Section, Segment};
//! use unwinder::{Arch, EndReason, Engine, FoundBy, FrameAddress, UserState, Walker};
//!
//! // A program of two functions. `outer` at 0x1000 has no caller: its return address is undefined.
//! // `inner` at 0x1100 has a frame of 16 bytes; the upper half is its return address.
//! let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, 0x3000);
//! let cie = cfi.cie(&Cie::x86_64());
//! let outer = CfiOps::new(Endian::Little).undefined(16).into_bytes();
//! let inner = CfiOps::new(Endian::Little).def_cfa_offset(16).into_bytes();
//! cfi.fde(cie, &Fde { pc_begin: 0x1000, pc_range: 0x100, lsda: 0, instructions: outer });
//! cfi.fde(cie, &Fde { pc_begin: 0x1100, pc_range: 0x100, lsda: 0, instructions: inner });
//! let elf = ElfBuilder {
//!     segments: vec![Segment::load_text(0x1000, 0x1000, 0x1000)],
//!     sections: vec![
//!         Section::text(0x1000, vec![0x90; 0x1000]),
//!         Section::loaded(".eh_frame", 0x3000, cfi.terminator().build().bytes),
//!     ],
//!     ..ElfBuilder::x86_64()
//! };
//!
//! // Its code is mapped into process 7, at a bias of 0x40_0000.
//! let images = ImageStore::new(FileOptions::default());
//! images.provide(b"/bin/app", Image::from_vec("/bin/app".as_ref(), elf.build())?);
//! let mut timeline = Timeline::new();
//! timeline.map(&MapEvent {
//!     pid: Pid(7),
//!     kernel: false,
//!     start: Avma(0x40_1000),
//!     len: 0x1000,
//!     offset: FileOffset(0x1000),
//!     executable: true,
//!     writable: false,
//!     path: b"/bin/app",
//!     identity: FileIdentity::default(),
//! });
//!
//! // It was sampled in `inner`: eight bytes of locals, then the return address in `outer`.
//! let (space, _) = timeline.space(Pid(7));
//! let stack: Vec<u8> = [0_u64, 0x40_1040].iter().flat_map(|word| word.to_le_bytes()).collect();
//! let state = UserState {
//!     arch: Arch::X86_64,
//!     stack: &stack,
//!     big_endian: false,
//!     partial_registers: false,
//!     executed: false,
//!     space: &space,
//!     thread: 7,
//! };
//! // Bits 7 and 8 of the recorder's register mask are the stack pointer and the program counter.
//! let registers = [(7, 0x7ffd_0000), (8, 0x40_1120)];
//!
//! let engine = Engine::new();
//! let mut frames = Vec::new();
//! let mut walker = Walker::new(&engine, &images, 127);
//! let end = walker.walk(&state, registers.into_iter(), &mut frames);
//!
//! assert_eq!(end, EndReason::Root);
//! let found: Vec<_> = frames.iter().map(|frame| (frame.address(), frame.found_by)).collect();
//! // A caller is looked up at its call instruction, before the return address.
//! assert_eq!(
//!     found,
//!     [
//!         (FrameAddress::Svma(Svma(0x1120)), FoundBy::Sampled),
//!         (FrameAddress::Svma(Svma(0x103f)), FoundBy::Cfi),
//!     ]
//! );
//! // The caller's frame begins above the 16 bytes of its callee's.
//! let sps: Vec<_> = frames.iter().map(|frame| frame.sp()).collect();
//! assert_eq!(sps, [Some(0x7ffd_0000), Some(0x7ffd_0010)]);
//! # Ok::<(), image_store::ImageError>(())
//! ```
//!
//! # Modules
//! Each uses only those above it.
//!
//! | | |
//! |---|---|
//! | `arch` | properties of each processor |
//! | `state` | the registers of a frame, the memory of a sample |
//! | `rule` | a step to the caller as a value, and its execution on a state |
//! | `frame` | a frame, and the step to its caller |
//! | `cfi` | rules from the call frame information of a file |
//! | `cache` | caches of a walk: rules, mappings, the previous stack of a thread |
//! | `code` | analysis of instructions: return addresses of frames, targets of calls |
//! | `fallback` | callers of code without call frame information |
//! | `stored` | rules cached on disk across runs |
//! | `engine` | the rules of all files, shared by all threads |
//! | `functions` | the functions of a file, for callers outside walks |
//! | `walk` | from the registers of a sample to the end of its chain |

mod arch;
mod cache;
mod cfi;
mod code;
mod engine;
mod fallback;
mod frame;
mod functions;
mod rule;
mod state;
mod stored;
mod walk;

pub use arch::{
    Arch, CallTarget, Flow, FlowDecoder, FlowStep, SkippedRun, call_target, is_unwound,
    longest_call, pc_bit, slot_of_call, sp_bit,
};
pub use cfi::{CfiScratch, FunctionStarts};
pub use code::CodeAllowance;
pub use engine::{Engine, signal_trampoline};
pub use frame::{CodeLocation, Frame, FrameAddress};
pub use profile::{EndReason, FoundBy};
pub use state::Saved;
pub use stored::{NewRules, RULES_VERSION, RuleBytes, RuleStore, RuleTable, StoredRules};
pub use walk::{FrameStates, StateBuffer, UserState, Walker, WorkerCache};
