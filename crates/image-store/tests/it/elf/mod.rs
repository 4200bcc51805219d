//! ELF files: their layouts, names and debug files.

mod debug_files;
mod exported;
mod headerless;
mod layouts;
mod per_frame;
