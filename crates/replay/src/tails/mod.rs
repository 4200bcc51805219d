//! Frames that tail calls removed. A function that ends with a jump to another one leaves no frame: the return address on
//! the stack is that of its caller. The code shows it: the call before that address leads to the function that left, and
//! its jumps lead on to the function at hand.
//!
//! ```text
//!   caller: call a          stack: caller <- c
//!   a:      jmp  b          shown: caller <- a <- b <- c, if no other jumps lead from `a` to `c`
//!   b:      jmp  c                 caller <- [tail calls] <- c, if several do, or none
//! ```
//!
//! Every pair of a call and a function is decided once; it depends on the code of the files alone.

mod files;
mod finder;
mod jumps;
mod paths;
mod units;

pub(crate) use finder::{Call, CodePlace, Finder, TailCalls, TailFrame};
