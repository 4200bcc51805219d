//! Filters of samples and of functions.

mod functions;
mod samples;
