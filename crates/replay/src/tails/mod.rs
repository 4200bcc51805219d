//! Frames that tail calls removed. A function that ends with a jump to another one leaves no frame.
//! The return address on the stack is then that of its caller.
//! The code shows the missing frames: the call before that address leads to the first function,
//! and its jumps lead to the running one.
//!
//! ```text
//!   caller: call a          stack: caller <- c
//!   a:      jmp  b          shown: caller <- a <- b <- c, if no other jumps lead from `a` to `c`
//!   b:      jmp  c                 caller <- [tail calls] <- c, if several do, or none
//! ```
//!
//! Each pair of a call and a function is decided once; the decision depends only on the code of the files.

mod files;
mod finder;
mod jumps;
mod paths;
mod shared;
mod units;

pub(crate) use finder::{CodeFrame, Finder, ResolvedCall, TailCalls, TailFrame};
