//! The file of each module: found on this machine, opened once for all processes, and proven to be the recorded one.
//!
//! `module-map` states the mapped modules, by recorded name and identity. An [`ImageStore`] finds the file of each
//! module: by path, by build-id, in caches and debug directories; a file of another build is refused. It gives a
//! [`LoadedImage`]: an opened ELF file, an [`Image`], and the debug files that belong to it. Addresses of a process
//! (`Avma`) become addresses that the file states (`Svma`) mapping by mapping, with the bias out of the `PT_LOAD` header
//! that covers the byte, because linkers are free to state another address than the offset in the file.
//!
//! All files are asked of a `Host`, here one in memory:
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
//! The folders, each of which uses those before it only:
//!
//! - `elf`: one ELF file;
//! - `search`: the places that may have a file;
//! - `identity`: which of them is the recorded one;
//! - `kernel`: the files of the kernel;
//! - `store`: the files that a run found, with debug files and the files of just-in-time compilers;
//! - `moved`: text that was moved to memory without a file.

mod elf;
mod go_program;
mod identity;
mod kernel;
mod moved;
mod search;
mod store;

pub use elf::{
    CallSlot, Exported, Image, ImageError, MODULE_CODE, Section, Segment, SlotValue, is_within,
};
pub use identity::{Difference, FileProof, LoadError};
pub use search::{
    Archive, DEBUG_DIR, ExtraFiles, Fetch, FetchKind, Fetcher, FileFinding, FileFindingKind,
    FileOptions, MovedText, RECORDED_COPIES,
};
pub use store::{
    DumpReader, ImageLimits, ImageStore, LoadedImage, PerfMapAge, PerfMapFile, SharedImages,
};
