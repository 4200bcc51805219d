//! Files that would take more than their size accounts for, one family a file: what is left out is said, and what is
//! shared is read once. Limits that are as large as the sections stand for the work, which they count.

mod debug;
mod entries;
mod lines;
mod memory;
mod symbols;
mod tables;
mod units;
