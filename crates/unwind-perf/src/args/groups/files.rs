//! The arguments that say where files are, and what memory held.

use std::path::PathBuf;

use clap::Args;

/// Where files are looked for. Each is used only where its build-id is the recorded one.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Use FILE for modules with its build-id, inode or name, or for the RECORDED path or name in any case; can be repeated
    #[arg(long, value_name = "[RECORDED=]FILE")]
    pub(crate) module: Vec<PathBuf>,

    /// Look for recorded paths that begin with FROM at TO instead, those of programs and of source files; can be repeated
    #[arg(long, value_name = "FROM=TO")]
    pub(crate) path_map: Vec<String>,

    /// Look for recorded paths below DIR and nowhere else: nothing outside is opened that no option names; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) sysroot: Vec<PathBuf>,

    /// A build-id cache, or an archive that perf archive made; can be repeated [default: the store of record, and
    /// ~/.debug; none with --sysroot]
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) buildid_dir: Vec<PathBuf>,

    /// Directory of separate debug files, below which files with the recorded build-ids may have any name; can be
    /// repeated [default: /usr/lib/debug]
    #[arg(long, value_name = "DIR")]
    pub(crate) debug_dir: Vec<PathBuf>,

    /// Look for files with the recorded names or build-ids in DIR and in the directories below it; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) extra_dir: Vec<PathBuf>,

    /// Look for the perf-PID.map files of JIT compilers in DIR before /tmp; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) perf_map_dir: Vec<PathBuf>,

    /// Use perf-PID.map files of other users, too, not only those of this one and of root
    #[arg(long)]
    pub(crate) trust_perf_maps: bool,

    /// Ask this debuginfod server for files that are not found otherwise [default URL: those of `DEBUGINFOD_URLS`]
    #[cfg(feature = "debuginfod")]
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true)]
    pub(crate) debuginfod: Option<Option<String>>,

    /// Map hint: LEN bytes of OBJECT (from OFFSET on) are mapped at START in process PID and its children; PID can be *
    /// for all processes or comm:NAME. Overrides recorded mappings; can be repeated
    #[arg(long, value_name = "OBJECT@PID,START,LEN[,OFFSET]")]
    pub(crate) map: Vec<String>,

    /// Map hints from FILE, one per line; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) map_file: Vec<PathBuf>,
}
