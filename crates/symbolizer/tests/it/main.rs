//! Names of functions, inlined calls and lines: of small programs by several compilers, and of files that `synth` writes.

mod chains;
mod findings;
mod go;
mod headerless;
mod hostile;
mod listed;
mod named;
mod observed;
mod sizeless;
