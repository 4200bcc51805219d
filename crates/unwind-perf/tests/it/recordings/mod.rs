//! Recordings of all kinds and recorders: complete, damaged, large, hostile.

mod completeness;
mod containers;
mod device;
mod guests;
mod hostile;
mod losses;
mod many_samples;
mod memory;
mod narrow;
