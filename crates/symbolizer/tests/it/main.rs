//! Tests of names of functions, inlined calls and lines, for small programs by several compilers and for files that
//! `synth` writes.

mod chains;
mod findings;
mod go;
mod headerless;
mod hostile;
mod interned;
mod kernel_list;
mod observer;
mod sizeless;
