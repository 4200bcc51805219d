//! Registers, stack bytes and an address space become frames, each with how it was found, each chain with why it
//! ended.
//!
//! An [`Engine`] is shared by all threads and holds compiled rules by (file, address in the file), so that a thousand
//! processes of one program warm one cache. A [`Walker`] is the scratch of one thread. A walk is a pure function of
//! the sample, its address space and the files: any number of threads gives the same frames.
//!
//! # Rooms
//! Each uses only those above it.
//!
//! | | |
//! |---|---|
//! | `arch` | what differs between processors |
//! | `state` | the registers of a frame, the memory of a sample |
//! | `rule` | a step outwards as a value, and running it on a state |
//! | `frame` | a frame, and a caller |
//! | `cfi` | from the call frame information of a file to rules |
//! | `cache` | what makes walks quicker: rules, mappings, the stack of the sample before |
//! | `fallback` | callers where no call frame information covers the code |
//! | `engine` | the rules of all files, shared by all threads |
//! | `walk` | from the registers of a sample to the end of its chain |
//! | `replay` | all samples of a recording: plan, walk, merge |

mod arch;
mod cache;
mod cfi;
mod engine;
mod fallback;
mod frame;
mod replay;
mod rule;
mod state;
mod walk;

pub use arch::Arch;
pub use engine::Engine;
pub use frame::{Frame, FrameAddress};
pub use profile::{EndReason, FoundBy};
pub use replay::{
    Filter, FrameKey, Layout, Outcome, Partial, Replay, ReplayOptions, ReplayTimings, Replayer,
    StackNode, Thread, apply as apply_record, learn_files,
};
pub use walk::{UserState, Walker};
