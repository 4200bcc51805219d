//! A bundle: a recording with what the machine answered when its profile was made, so that it can be made again anywhere.
//!
//! A [`JournalHost`] stands between a run and the machine and notes each question with its answer, and which parts of large
//! files were read. [`write()`] packs the recording, the answers and those parts into one file: a tar file compressed by
//! zstd, with a [`Manifest`] first, and links by which other programs find the files at the end. [`Bundle::read`] gives a [`BundleHost`], which answers from the bundle alone: what
//! nobody asked for when it was made, it does not know, and says so ([`host::HostFinding`]).
//!
//! A bundle comes from strangers. What it states is checked against what it has, no name in it leads anywhere, and nothing
//! of it is written to a disk.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use budget::Budget;
//! use bundle::{Bundle, Facts, JournalHost, Keep, Recorded};
//! use host::{Host, MemoryHost, Origin};
//!
//! let machine = MemoryHost::new();
//! machine.insert("perf.data", *b"PERFILE2");
//! let journal = JournalHost::new(Arc::new(machine), Path::new("perf.data"));
//! // A run asks.
//! journal.open(Path::new("perf.data"), Origin::User)?;
//! assert!(!journal.is_file(Path::new("/none"), Origin::System));
//!
//! let facts = Facts { recording: "perf.data".into(), ..Facts::default() };
//! let mut packed = Vec::new();
//! bundle::write(&journal.finish()?, &facts, &Recorded::default(), &Keep::Whole, &mut packed)?;
//!
//! let bundle = Bundle::read(&packed, &Budget::default())?;
//! let there = bundle.host();
//! assert_eq!(&there.open(Path::new("perf.data"), Origin::User)?.content[..], b"PERFILE2");
//! assert!(!there.is_file(Path::new("/none"), Origin::System) && there.findings().is_empty());
//! // Nobody asked for that.
//! assert!(!there.is_file(Path::new("/bin/ls"), Origin::System) && there.findings().len() == 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anonymous;
mod error;
mod hash_writer;
mod journal;
mod manifest;
mod read;
mod recorded;
mod rewrite;
mod write;

pub use anonymous::{
    AnonymousMachine, Differences, KERNEL_LIST, Pseudonyms, RECORDING, differences,
};
pub use error::Error;
pub use hash_writer::HashWriter;
pub use journal::{JournalHost, Taken};
pub use manifest::{Facts, Manifest};
pub use read::{Bundle, BundleHost, bundle_of_stream, is_bundle};
pub use recorded::Recorded;
pub use rewrite::{RewriteError, Rewriter};
pub use write::{Keep, Written, write};
