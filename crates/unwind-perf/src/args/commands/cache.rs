//! The arguments of `cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// The arguments of `cache`.
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) what: CacheWhat,
}

/// A job on a folder of `--cache`, or on a store of files.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheWhat {
    /// Show the size of a folder of --cache or of the store of recorded files, and its unusable files
    Info(CacheFolderArg),
    /// Remove the contents of a folder of --cache or of the store of recorded files; other files in the folder stay
    Clear(CacheFolderArg),
}

/// The folder.
#[derive(Debug, Args)]
pub(crate) struct CacheFolderArg {
    /// The folder of --cache, or of record --buildid-dir [default: the store of record]
    ///
    /// The store of record is `$XDG_CACHE_HOME/unwind-perf/files`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}
