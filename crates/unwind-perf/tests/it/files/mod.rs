//! Files that a recording names: the choice among them, and their results.

mod confined;
mod debug_files;
mod downloads;
mod identity;
mod in_memory;
mod jit;
mod kernel;
mod layouts;
mod over_time;
mod replaced;
mod source_files;
mod stacks;
