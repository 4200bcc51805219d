//! Text that a program moved to other memory before the recording began: memory without a file that is code of the file
//! around it.

mod hole;
mod mapped;
