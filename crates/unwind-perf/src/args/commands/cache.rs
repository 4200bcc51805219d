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
    /// Show the size of the caches of names and unwind rules and of the store of recorded files, and unusable files
    Info(CacheFolderArg),
    /// Remove the contents of these caches and of the store; other files in their folders stay
    Clear(CacheFolderArg),
}

/// The folder.
#[derive(Debug, Args)]
pub(crate) struct CacheFolderArg {
    /// The folder of --cache, or of record --buildid-dir [default: those that are used without these options]
    ///
    /// They are names and files in `$XDG_CACHE_HOME/unwind-perf`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}
