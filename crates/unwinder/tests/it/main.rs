//! Tests of walks over synthetic programs. Each test draws its stack. `synth`, which shares no code with the reader,
//! writes the files, their call frame information and the stacks.
#![allow(clippy::disallowed_methods, reason = "tests read the repository's files")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod cfi;
mod hostile;
mod proof;
mod properties;
mod walk;
#[allow(dead_code, reason = "the tests of the crate `replay` use more of it")]
mod world;
