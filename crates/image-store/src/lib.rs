//! Files of modules: found on this machine, opened once for all processes, and verified as the recorded ones.
//!
//! `module-map` provides the mapped modules, by recorded name and identity.
//! An [`ImageStore`] finds the file of each module: by path, by build-id, in caches and debug
//! directories. It refuses files of other builds.
//! It returns a [`LoadedImage`]: an opened ELF file, which is an [`Image`], and its debug files.
//!
//! Addresses of a process (`Avma`) become addresses of the file (`Svma`) per mapping.
//! The bias comes from the `PT_LOAD` header that covers the byte, because a linker may state an
//! address that differs from the file offset.
//!
//! All files are accessed through a `Host`, here one in memory:
//!
//! ```
//! use std::sync::Arc;
//! use address::{Arch, Avma, FileOffset, Pid};
//! use host::MemoryHost;
//! use image_store::{FileOptions, ImageStore};
//! use jit::CodeImage;
//! use module_map::{FileIdentity, MapEvent, Timeline};
//!
//! // A process maps a program, and a library whose file is gone.
//! let mut timeline = Timeline::new();
//! for (start, path) in [(0x7000_0000, "/bin/app"), (0x7000_1000, "/lib/late.so")] {
//!     timeline.map(&MapEvent {
//!         pid: Pid(1),
//!         kernel: false,
//!         start: Avma(start),
//!         len: 0x1000,
//!         offset: FileOffset(0x1000),
//!         executable: true,
//!         writable: false,
//!         path: path.as_bytes(),
//!         identity: FileIdentity::default(),
//!     });
//! }
//! let (space, _) = timeline.space(Pid(1));
//!
//! // The program's file, and an address of it as the file states it.
//! let mut program = CodeImage::new(Arch::X86_64.e_machine());
//! let main = program.add_code(b"main", &[0xc3; 0x40]);
//! let host = Arc::new(MemoryHost::new());
//! host.insert("/bin/app", program.finish());
//! let store = ImageStore::new(FileOptions { host, ..FileOptions::default() });
//! let mapping = space.lookup(Avma(0x7000_0010)).expect("mapped");
//! let file = store.image(space.module(&mapping).expect("of this space")).expect("on this host");
//! let bias = file.image().bias(mapping.start, mapping.offset, mapping.executable);
//! assert_eq!(bias.map(|bias| bias.to_svma(Avma(0x7000_0000))), main);
//! let late = &timeline.modules()[1];
//! assert_eq!(store.image(late).expect_err("not there").to_string(), "file not found");
//! ```
//!
//! Folders; each uses only those before it:
//!
//! - `elf`: a single ELF file;
//! - `search`: candidate paths of a file;
//! - `identity`: selection of the recorded file among them;
//! - `kernel`: the files of the kernel;
//! - `store`: the files found by a run, with debug files and the files of JIT compilers;
//! - `moved`: text that was moved to memory without a file.

mod elf;
mod go_program;
mod identity;
mod kernel;
mod remapped;
mod search;
mod store;

pub use elf::{
    CallSlot, Exported, Image, ImageError, MODULE_CODE, NeededLibraries, Section, Segment,
    SlotValue, is_within,
};
pub use identity::{Difference, FileProof, LoadError};
pub use search::{
    Archive, DEBUG_DIR, ExtraFiles, Fetch, FetchKind, Fetcher, FileFinding, FileFindingKind,
    FileOptions, RECORDED_COPIES, RemappedText,
};
pub use store::{
    DumpReader, ImageLimits, ImageStore, LoadedImage, PerfMapAge, PerfMapFile, SharedImages,
};
