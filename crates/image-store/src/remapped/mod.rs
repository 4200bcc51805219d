//! Text that a program moved to other memory before the recording started: memory without a
//! file that is code of the surrounding file.

mod hole;
mod mapping;
