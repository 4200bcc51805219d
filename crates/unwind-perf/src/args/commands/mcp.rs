//! The arguments of `mcp`.

use std::num::{NonZeroU16, NonZeroUsize};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueHint};
use host::{default_memory_limit, limit_memory};
use options::{FileSearch, Limits, MAX_FRAMES, MemoryLimit, Options};

use crate::args::groups::{FileArgs, JoinArgs, SourceArgs, SymbolArgs};

/// The arguments of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The recordings; no others are opened
    #[arg(value_name = "PERF_DATA", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) recordings: Vec<PathBuf>,

    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Memory limit of the process, such as 500M, or none
    ///
    /// Default: half of the memory of the machine or of its control group.
    #[arg(long, value_name = "SIZE", value_parser = MemoryLimit::parse)]
    max_memory: Option<MemoryLimit>,

    /// Maximum of user frames in a callchain; outer frames are omitted
    #[arg(long, value_name = "N", default_value_t = MAX_FRAMES)]
    max_frames: NonZeroUsize,

    #[command(flatten)]
    join: JoinArgs,

    #[command(flatten)]
    symbols: SymbolArgs,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    sources: SourceArgs,
}

impl McpArgs {
    /// The options of each run.
    ///
    /// # Errors
    /// If an argument has no meaning, or a file or folder that the user named cannot be used.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        if self.recordings.iter().any(|path| path == Path::new("-")) {
            bail!("standard input carries the protocol; name a file instead of -");
        }
        let limits = Limits {
            memory: self.max_memory.unwrap_or_default(),
            jobs: self.jobs.and_then(NonZeroU16::new),
        };
        limit_memory(limits.memory.or_usual(default_memory_limit()));
        let files = self.files.search_with(&self.sources.source_dir)?;
        let files = FileSearch { kallsyms: self.symbols.kallsyms.clone(), ..files };
        Ok(Options {
            names: self.symbols.options(),
            max_frames: self.max_frames,
            join: (&self.join).into(),
            tail_calls: !self.join.no_tail_calls,
            limits,
            cache: self.symbols.cache(&files),
            files,
            ..Options::default()
        })
    }
}
