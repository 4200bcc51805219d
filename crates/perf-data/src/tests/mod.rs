//! Tests on whole recordings, written byte by byte in both byte orders.

mod ahead;
mod bad_inputs;
mod builder;
mod container;
mod damage;
mod features;
mod hostile;
mod identity;
mod kernel_records;
mod live;
mod memory;
mod read_file;
mod roundtrip;
mod samples;
mod session;
mod streams;
mod tracing;
mod user_records;
