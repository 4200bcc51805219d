//! What was mapped where, by which process and when, and the ELF file of each mapping.
//!
//! A profiler records addresses. What an address means depends on what its process had mapped there at that moment; so
//! this crate replays the records of maps, forks, execs and exits. A [`Timeline`] is fed with them in the order of time.
//! At any point it gives the [`Space`] of a process: an immutable value, disjoint [`Mapping`]s in order of address. Each
//! is of a [`Module`]: what was mapped, by its recorded name and identity.
//!
//! Which file of this machine a module is, an [`ImageStore`] finds out, once for all processes: by path, by build-id,
//! in caches and debug directories; a file of another build is refused. What it gives is a [`LoadedImage`]: an opened
//! ELF file, an [`Image`], and the debug files that belong to it. Addresses of a process (`Avma`) become addresses that
//! the file states (`Svma`) mapping by mapping, with the bias out of the `PT_LOAD` header that covers the byte, because
//! linkers are free to state another address than the offset in the file.
//!
//! All files are asked of a `Host`, here one in memory:
//!
//! ```
//! use std::sync::Arc;
//! use address::{Arch, Avma, FileOffset, Pid, Tid};
//! use host::MemoryHost;
//! use module_map::{CodeImage, FileIdentity, FileOptions, ImageStore, MapEvent, Timeline};
//!
//! // A process maps a program and forks.
//! let mut timeline = Timeline::new();
//! let map = |start, path| MapEvent {
//!     pid: Pid(1),
//!     kernel: false,
//!     start: Avma(start),
//!     len: 0x1000,
//!     offset: FileOffset(0x1000),
//!     executable: true,
//!     writable: false,
//!     path,
//!     identity: FileIdentity::default(),
//! };
//! timeline.map(&map(0x7000_0000, b"/bin/app"));
//! timeline.fork(Pid(2), Tid(2), Pid(1), Tid(1));
//! // What the parent maps from now on, the child does not have.
//! timeline.map(&map(0x7000_0800, b"/lib/late.so"));
//! let (child, _) = timeline.space(Pid(2));
//! let (parent, _) = timeline.space(Pid(1));
//! let at = |space: &module_map::Space, address| {
//!     let mapping = space.lookup(Avma(address))?;
//!     Some((space.module(&mapping)?.path.to_vec(), mapping.offset_of(Avma(address))))
//! };
//! assert_eq!(at(&child, 0x7000_0900), Some((b"/bin/app".to_vec(), FileOffset(0x1900))));
//! assert_eq!(at(&parent, 0x7000_0900), Some((b"/lib/late.so".to_vec(), FileOffset(0x1100))));
//! assert_eq!(at(&parent, 0x7000_0700), Some((b"/bin/app".to_vec(), FileOffset(0x1700))));
//! assert_eq!(at(&parent, 0x7000_1800), None);
//!
//! // The program's file, and an address of it as the file states it.
//! let mut program = CodeImage::new(Arch::X86_64.e_machine());
//! let main = program.add_code(b"main", &[0xc3; 0x40]);
//! let host = Arc::new(MemoryHost::new());
//! host.insert("/bin/app", program.finish());
//! let store = ImageStore::new(FileOptions { host, ..FileOptions::default() });
//! let mapping = child.lookup(Avma(0x7000_0010)).expect("mapped");
//! let file = store.image(child.module(&mapping).expect("of this space")).expect("on this host");
//! let bias = file.image().bias(mapping.start, mapping.offset, mapping.executable);
//! assert_eq!(bias.map(|bias| bias.to_svma(Avma(0x7000_0000))), main);
//! let late = &timeline.modules()[1];
//! assert_eq!(store.image(late).expect_err("not there").to_string(), "file not found");
//! ```
//!
//! The folders, each of which uses those before it only:
//!
//! - `elf`: one ELF file;
//! - `module`: what was mapped, as the recording states it;
//! - `space`: an address space at one time;
//! - `files`: which file of this machine a module is, and its debug files; the maps of just-in-time compilers;
//! - `jit`: dumps of JIT code, read into ELF files;
//! - `process`: the timeline of all processes.

mod elf;
mod files;
mod jit;
mod module;
mod moved;
mod process;
mod space;

pub use elf::{
    CallSlot, Exported, Image, ImageError, MODULE_CODE, Section, Segment, SlotValue, is_within,
};
pub use files::{
    Archive, DEBUG_DIR, Difference, ExtraFiles, Fetch, FetchKind, Fetcher, FileFinding,
    FileFindingKind, FileOptions, FileProof, ImageLimits, ImageStore, JitSymbol, LoadError,
    LoadedImage, MovedText, PerfMap, PerfMapAge, PerfMapFile, RECORDED_COPIES, SharedImages,
};
pub use jit::{CodeImage, DumpReader, JitDump, JitLoad, JitReader};
pub use module::{FileIdentity, Inode, MappedKind, Module, PathUse, kernel_module_name};
pub use process::{
    CgroupId, CommId, CurrentProcess, FilesOfPaths, Guest, Hint, HintError, HintScope, Inference,
    KnownMap, KnownNames, LazySpace, MapEvent, ProcessImage, RecordedName, RelatedSpace, Timeline,
};
pub use space::{Mapping, Space};
