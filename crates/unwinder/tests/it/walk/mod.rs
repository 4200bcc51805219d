//! Tests of walks from the innermost frame to the root, and of their ends.

mod by_code;
mod copied;
mod ends;
mod executed;
mod fallback;
mod frame_address;
mod from_start;
mod go;
mod linear;
mod previous_stack;
mod processors;
mod return_probe;
mod signals;
