//! Arguments on the locations of files and the contents of memory.

use std::path::PathBuf;

use clap::Args;

/// Locations of files. A file is used only if its build-id is the recorded one.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Use FILE for modules with its build-id, inode or name; can be repeated
    ///
    /// RECORDED=FILE uses FILE for that recorded path or name even without a proof.
    #[arg(long, value_name = "[RECORDED=]FILE")]
    pub(crate) module: Vec<PathBuf>,

    /// Look up recorded paths below FROM below TO instead; can be repeated
    ///
    /// This applies to programs and to source files.
    #[arg(long, value_name = "FROM=TO")]
    pub(crate) path_map: Vec<String>,

    /// Look up recorded paths below DIR only; can be repeated
    ///
    /// No file outside is opened unless an option names it.
    #[arg(long, value_name = "DIR")]
    pub(crate) sysroot: Vec<PathBuf>,

    /// A build-id cache, or an archive of perf archive; can be repeated
    ///
    /// Default: the store of record and ~/.debug; none with --sysroot.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) buildid_dir: Vec<PathBuf>,

    /// Directory of separate debug files; can be repeated [default: /usr/lib/debug]
    ///
    /// Files with recorded build-ids may have any name in it.
    #[arg(long, value_name = "DIR")]
    pub(crate) debug_dir: Vec<PathBuf>,

    /// Look up recorded names and build-ids in DIR and below; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) extra_dir: Vec<PathBuf>,

    /// Look up perf-PID.map files of JIT compilers in DIR before /tmp; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) perf_map_dir: Vec<PathBuf>,

    /// Use perf-PID.map files of other users as well
    ///
    /// Default: only those of this user and of root.
    #[arg(long)]
    pub(crate) trust_perf_maps: bool,

    /// Query this debuginfod server for missing files
    ///
    /// Default URL: those of `DEBUGINFOD_URLS`.
    #[cfg(feature = "debuginfod")]
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true)]
    pub(crate) debuginfod: Option<Option<String>>,

    /// Map hint: OBJECT is mapped at START in process PID; can be repeated
    ///
    /// LEN bytes from OFFSET on are mapped in the process and its children. PID can be * for all processes or
    /// comm:NAME. Hints override recorded mappings.
    #[arg(long, value_name = "OBJECT@PID,START,LEN[,OFFSET]")]
    pub(crate) map: Vec<String>,

    /// Read map hints from FILE, one per line; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) map_file: Vec<PathBuf>,
}
