//! Bundle: a recording with the host's answers from the analysis, so that the profile can be reproduced anywhere.
//!
//! A [`JournalHost`] wraps the host during a run and records each request with its answer, and the ranges of large
//! files that were read.
//! [`write()`] packs the recording, the answers and those ranges into one file. The file is a tar archive compressed by
//! zstd: a [`Manifest`] first, and at the end links with the names under which other programs look for the files.
//! [`Bundle::read`] returns a [`BundleHost`], which answers from the bundle alone. A request that was not recorded
//! fails and is reported ([`host::HostFinding`]).
//!
//! A bundle is untrusted. Its manifest is checked against its contents, its names cannot lead outside, and its data is
//! never written to disk.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use budget::Budget;
//! use bundle::{Bundle, BundleFacts, JournalHost, ContentSelection, RecordedFiles};
//! use host::{Host, MemoryHost, Origin};
//!
//! let machine = MemoryHost::new();
//! machine.insert("perf.data", *b"PERFILE2");
//! let journal = JournalHost::new(Arc::new(machine), Path::new("perf.data"));
//! // The run opens the recording.
//! journal.open(Path::new("perf.data"), Origin::User)?;
//! assert!(!journal.is_file(Path::new("/none"), Origin::System));
//!
//! let facts = BundleFacts { recording: "perf.data".into(), ..BundleFacts::default() };
//! let mut packed = Vec::new();
//! bundle::write(&journal.finish()?, &facts, &RecordedFiles::default(), &ContentSelection::Whole, &mut packed)?;
//!
//! let bundle = Bundle::read(&packed, &Budget::default())?;
//! let there = bundle.host();
//! assert_eq!(&there.open(Path::new("perf.data"), Origin::User)?.content[..], b"PERFILE2");
//! assert!(!there.is_file(Path::new("/none"), Origin::System) && there.findings().is_empty());
//! // The run did not request this file.
//! assert!(!there.is_file(Path::new("/bin/ls"), Origin::System) && there.findings().len() == 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anonymous;
mod error;
mod hash_writer;
mod journal;
mod manifest;
mod read;
mod recorded_files;
mod rewrite;
mod write;

pub use anonymous::{
    AnonymousMachine, Differences, KERNEL_LIST, Pseudonyms, RECORDING, differences,
};
pub use error::Error;
pub use hash_writer::HashWriter;
pub use journal::{JournalAnswers, JournalHost};
pub use manifest::{AbsentFile, BundleFacts, Manifest};
pub use read::{Bundle, BundleHost, bundle_of_stream, is_bundle};
pub use recorded_files::RecordedFiles;
pub use rewrite::{
    FinishedChain, FinishedFile, GrowingOptions, GrowingRecording, LastRecords, RewriteError,
    Rewriter,
};
pub use write::{ContentSelection, Written, write};
