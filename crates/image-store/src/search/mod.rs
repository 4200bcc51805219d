//! Search for files: options, candidate paths by name or build-id, archives and servers; and
//! the findings of the search.

mod archive;
mod candidates;
mod extra;
mod fetch;
mod findings;
mod options;

pub use archive::Archive;
pub(crate) use candidates::{
    FileCandidate, below, cached, cached_vdso, in_archives, named_by_user, paths_by_id,
    paths_of_debug_files, paths_of_id, recorded_copies, recorded_path, recorded_paths, split_id,
    user_files, with_suffix,
};
pub use extra::ExtraFiles;
pub use fetch::{Fetch, FetchKind, Fetcher};
pub use findings::{FileFinding, FileFindingKind, RemappedText};
pub(crate) use findings::{FileFindings, RemappedTexts};
pub use options::{DEBUG_DIR, FileOptions, RECORDED_COPIES};
