//! Aggregated stacks: one row per distinct stack, process and event, as Parquet.
//!
//! ```text
//!   profile --> distinct stacks with weights --> rows without names       at the recorded machine
//!   rows, of many recordings --> profile without names --> names          wherever files are found by build-id
//! ```
//!
//! Frames are positions in files, so that rows of many machines and processes can be added up.

mod columns;
mod counts;
mod error;
mod place;
mod read;
mod schema;
mod tables;
mod write;

use std::io;

pub use self::counts::StackCount;
pub use self::error::StacksError;
pub use self::read::{StackReader, StoredStacks};
pub(super) use self::schema::{SCHEMA_KEY, VERSION_KEY};
pub use self::write::write_named_stacks;
use crate::printer::Printer;
use counts::distinct_stacks;
use profile::Profile;
use write::{StackNames, write};

/// Prints the distinct stacks of a profile as Parquet. Functions have the names that the profile has.
#[derive(Debug, Clone, Copy)]
pub struct StacksFile;

impl Printer for StacksFile {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        write(profile, &distinct_stacks(profile), StackNames::Later, out)
    }
}
