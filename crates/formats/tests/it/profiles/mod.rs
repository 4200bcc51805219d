//! Profiles of special kinds in all formats: filtered ones, completed stacks, off-CPU times, named processes.

mod filtered;
mod joined;
mod off_cpu;
mod processes;
