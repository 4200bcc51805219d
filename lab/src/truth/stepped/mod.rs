//! Programs that are run instruction by instruction, and what we say of them: the common part of `truth gdb` and
//! `truth steps`. A helper in C (`stepper.c`, compiled when it is needed, because ptrace needs `unsafe`) runs the program;
//! the drawn instructions become samples of a recording, which the command unwinds.

mod machine;
mod ours;
mod programs;
mod recording;
mod trace;

pub(super) use machine::{Mapping, mappings};
pub(super) use ours::{Chain, Frame, Kind, chains};
pub(super) use programs::{CATALOGUE, Program, chosen};
pub(super) use recording::Recording;
pub(super) use trace::{Draw, Event, Step, Stepper, Stop};
