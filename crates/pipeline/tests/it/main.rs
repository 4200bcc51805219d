//! Tests of whole runs, from a recording to a profile. Tests that measure the memory of their process have their own
//! programs.

mod bundled;
mod confined;
mod cut_short;
mod live;
mod off_cpu;
mod process_names;
mod recalled;
mod runs;
mod stored;
mod support;
