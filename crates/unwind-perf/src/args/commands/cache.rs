//! The arguments of `cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// The arguments of `cache`.
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    pub(crate) what: CacheWhat,
}

/// What is to be done with a folder of `--cache`.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheWhat {
    /// Show how much is kept, and what of it cannot be used
    Info(CacheFolderArg),
    /// Remove what is kept; other files in the folder stay
    Clear(CacheFolderArg),
}

/// The folder.
#[derive(Debug, Args)]
pub(crate) struct CacheFolderArg {
    /// The folder that --cache names
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}
