//! The arguments of `cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// The arguments of `cache`.
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) what: CacheWhat,
}

/// What is to be done with a folder of `--cache`, or with a store of files.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheWhat {
    /// Show how much a folder of --cache or the store of recorded files has, and what of it cannot be used
    Info(CacheFolderArg),
    /// Remove what a folder of --cache or the store of recorded files has; other files in the folder stay
    Clear(CacheFolderArg),
}

/// The folder.
#[derive(Debug, Args)]
pub(crate) struct CacheFolderArg {
    /// The folder that --cache names, or --buildid-dir of record [default: the store of record,
    /// `$XDG_CACHE_HOME/unwind-perf/files`]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}
