//! Tests of names of functions, inlined calls and lines, for small programs by several compilers and for files that
//! `synth` writes.

mod chains;
mod findings;
mod go;
mod headerless;
mod hostile;
mod listed;
mod named;
mod observed;
mod sizeless;
