//! The mappings of each process over time.
//!
//! A profiler records addresses. The meaning of an address depends on the mappings of its process at that moment.
//! This crate therefore replays the records of maps, forks, execs and exits.
//! A [`Timeline`] takes these events in time order, and returns the current [`Space`] of a process at any point.
//! A space is an immutable value: disjoint [`Mapping`]s ordered by address.
//! Each mapping belongs to a [`Module`]: a mapped object with its recorded name and identity.
//!
//! ```
//! use address::{Avma, FileOffset, Pid, Tid};
//! use module_map::{FileIdentity, MapEvent, Timeline};
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
//! // The child does not get later maps of the parent.
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
//! ```
//!
//! Files are opened elsewhere: the crate `image-store` finds the file of each module.
//!
//! Folders; each uses only those before it:
//!
//! - `module`: mapped objects, as the recording states them;
//! - `space`: an address space at one time;
//! - `jit_loads`: code that is loaded at the times that its dump states;
//! - `process`: the timeline of all processes.

mod jit_loads;
mod module;
mod process;
mod space;

pub use jit_loads::{JitDump, JitLoad, JitReader};
pub use module::{
    FileIdentity, GrowTable, Inode, MappedKind, Module, PathUse, TimelineId, is_archive,
    kernel_module_name, path_on_disk,
};
pub use process::{
    CachedMap, CachedNames, CgroupId, CommId, CurrentProcess, FilesOfPaths, Guest, Hint, HintError,
    HintScope, Inference, LazySpace, MapEvent, ProcessImage, RecordedName, RelatedSpace, Timeline,
};
pub use space::{Mapping, Space};
