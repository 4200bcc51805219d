//! Registers, stack bytes and an address space become frames, each with how it was found, each chain with why it
//! ended.
//!
//! An [`Engine`] is shared by all threads and holds compiled rules by (file, address in the file), so that a thousand
//! processes of one program warm one cache. A [`Walker`] is the scratch of one thread. A walk is a pure function of
//! the sample, its address space and the files: any number of threads gives the same frames.

mod arch;
mod cache;
mod compile;
mod engine;
mod expression;
mod fallback;
mod fde_index;
mod lean;
mod memory;
mod registers;
mod replay;
mod rule;
mod sections;
mod step;
mod trail;
mod view;
mod walk;

pub use arch::Arch;
pub use engine::Engine;
pub use profile::{EndReason, FoundBy};
pub use replay::{
    Filter, FrameKey, Layout, Outcome, Partial, Replay, ReplayOptions, ReplayTimings, Replayer,
    StackNode, Thread, apply as apply_record, learn_files,
};
pub use walk::{Frame, UserState, Walker};
