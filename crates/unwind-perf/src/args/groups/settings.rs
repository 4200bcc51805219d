//! Arguments of every run, apart from filters, symbols and files.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use options::{MAX_FRAMES, MemoryLimit};

use super::JoinArgs;

/// The resources of a run, and the form of its callchains.
#[derive(Debug, Args)]
pub(crate) struct RunSettings {
    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Include the arguments of the recorded program, which can be private
    ///
    /// Default: the recorder's command line ends with the program's name.
    #[arg(long)]
    pub(crate) with_arguments: bool,

    /// Memory limit of the run, such as 500M, or none
    ///
    /// A run that needs more ends with status 2 and names the part that needs it. Default: half of the memory of the
    /// machine or of its control group.
    #[arg(long, value_name = "SIZE", value_parser = MemoryLimit::parse)]
    pub(crate) max_memory: Option<MemoryLimit>,

    /// Maximum of user frames in a callchain; outer frames are omitted
    #[arg(long, value_name = "N", default_value_t = MAX_FRAMES)]
    pub(crate) max_frames: NonZeroUsize,

    #[command(flatten)]
    pub(crate) join: JoinArgs,

    /// Read the options of the run from FILE, a JSON object; - for standard input
    ///
    /// For programs. The names are those of the Python package.
    #[arg(long, value_name = "FILE", hide = true)]
    #[arg(conflicts_with_all = ["FilterArgs", "SymbolArgs", "FileArgs", "JoinArgs"])]
    #[arg(conflicts_with_all = ["jobs", "max_memory", "max_frames", "with_arguments"])]
    pub(crate) options_json: Option<PathBuf>,
}
