//! Recordings of all kinds, from all recorders: whole, damaged, large, hostile.

mod completeness;
mod containers;
mod device;
mod guests;
mod hostile;
mod losses;
mod many_samples;
mod memory;
mod narrow;
