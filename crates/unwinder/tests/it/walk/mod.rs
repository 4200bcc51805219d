//! Walks from the innermost frame to the root, and what ends them.

mod aarch64;
mod by_code;
mod copied;
mod emulated;
mod ends;
mod executed;
mod fallback;
mod frame_address;
mod from_start;
mod go;
mod linear;
mod loongarch;
mod narrow;
mod previous_stack;
mod return_probe;
mod signals;
mod withheld;
