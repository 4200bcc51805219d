//! Whole runs, from a recording to a profile. Tests that look at the memory of their process have programs of their own.

mod bundled;
mod confined;
mod cut_short;
mod live;
mod off_cpu;
mod process_names;
mod runs;
mod support;
