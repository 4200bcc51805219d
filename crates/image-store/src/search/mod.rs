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
    FileCandidate, below, cached, cached_vdso, in_archives, named_by_user, places, places_by_id,
    places_of_debug_files, places_of_id, recorded_copies, recorded_path, split_id, user_files,
    with_suffix,
};
pub use extra::ExtraFiles;
pub use fetch::{Fetch, FetchKind, Fetcher};
pub use findings::{FileFinding, FileFindingKind, MovedText};
pub(crate) use findings::{FileFindings, MovedTexts};
pub use options::{DEBUG_DIR, FileOptions, RECORDED_COPIES};
