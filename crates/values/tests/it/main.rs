//! Tests of the crate from outside: debug information is assembled, searched and evaluated.

mod assembler;
mod calls;
mod functions;
mod hostile;
mod probes;
mod strings;
mod threads;
mod types;
mod world;
