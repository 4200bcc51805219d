//! Programs that run instruction by instruction, and our chains for them: the common part of `truth gdb` and `truth
//! steps`. `cargo lab values` writes its stops as such a recording, too. A helper in C (`stepper.c`, compiled when needed, because ptrace needs `unsafe`) runs the program. The drawn
//! instructions become samples of a recording, which the command unwinds.

mod machine;
mod ours;
mod programs;
mod recording;
mod trace;

pub(crate) use machine::{Mapping, mappings};
pub(super) use ours::{Chain, Frame, Kind, chains};
pub(super) use programs::{CATALOGUE, Program, chosen};
pub(crate) use recording::Recording;
pub(crate) use trace::Stop;
pub(super) use trace::{Draw, Event, Step, Stepper};
