//! Walks over made-up programs. Each test says in a picture what is on the stack; the files, their call frame
//! information and the stacks are written by `synth`, which shares no code with the reader.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod aarch64;
mod addresses;
mod emulated;
mod ends;
mod expressions;
mod fallback;
mod frame_address;
mod hostile;
mod late;
mod linear;
mod nesting;
mod previous_stack;
mod properties;
mod recorded;
mod repair;
mod replayed;
mod second_opinion;
mod sections;
mod signals;
mod world;
