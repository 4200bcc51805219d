//! Tests of files that exceed the limits for their size, one family per file: omissions are reported, and shared parts
//! are read once. Limits equal to the section sizes measure the work.

mod debug;
mod entries;
mod lines;
mod memory;
mod symbols;
mod tables;
mod units;
