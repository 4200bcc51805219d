//! Tests on whole recordings, written byte by byte in both byte orders.

mod builder;
mod container;
mod damage;
mod features;
mod identity;
mod kernel_records;
mod samples;
mod session;
mod streams;
mod user_records;
