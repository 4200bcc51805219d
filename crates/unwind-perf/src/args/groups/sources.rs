//! The argument of commands that show source text.

use std::path::PathBuf;

use clap::Args;

/// Folders of source files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct SourceArgs {
    /// Look up source files in DIR; can be repeated
    ///
    /// By their relative names, or by the longest end of their names that exists there.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) source_dir: Vec<PathBuf>,
}
