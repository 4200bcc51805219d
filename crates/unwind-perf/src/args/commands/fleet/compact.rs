//! The arguments of `compact`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// The arguments of `compact`.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// Folder of convert, or another one with folders date=DAY
    #[arg(value_name = "TREE", value_hint = ValueHint::DirPath)]
    pub(crate) tree: PathBuf,

    /// Folder of the merged tree, which is created if it does not exist
    #[arg(long, value_name = "MERGED", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,

    /// Merge this day, such as 2026-11-30; can be repeated [default: all days]
    #[arg(long, value_name = "DAY")]
    pub(crate) date: Vec<String>,

    /// Merge days again of which nothing changed
    #[arg(long)]
    pub(crate) redo: bool,

    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Print errors only
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
