//! Tests of whole recordings, written byte by byte in both byte orders.

mod bad_inputs;
mod builder;
mod container;
mod damage;
mod features;
mod hostile;
mod live;
mod memory;
mod parallel_scan;
mod read_file;
mod records;
mod roundtrip;
mod session;
mod streams;
