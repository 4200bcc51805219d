//! Everything that can be said about a run, as plain values: which samples, which files, which names, how much memory.

use std::path::{Path, PathBuf};

use address::{Pid, Tid, Timestamp};
use cache::CachePlace;
use host::ByteStream;
use module_map::Hint;
use symbolizer::Demangle;
use unwinder::Join;

/// Where a recording comes from.
pub enum Source {
    /// A file, a FIFO, or the folder of `perf record --threads`. What is in it is found out by its content.
    Path(PathBuf),
    /// Bytes that come one after the other, such as standard input or a socket, and what to call them in messages.
    Stream {
        /// The name in messages.
        name: PathBuf,
        /// The bytes.
        bytes: ByteStream,
    },
}

impl Source {
    /// The path, or the name of the stream.
    #[must_use]
    pub fn name(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Stream { name, .. } => name,
        }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Source").field(&self.name()).finish()
    }
}

/// How a recording is turned into a profile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which samples are wanted.
    pub samples: SampleFilter,
    /// Where files are looked for.
    pub files: FileSearch,
    /// What is looked up for an address.
    pub names: NameOptions,
    /// The most user frames of a callchain; the rest is cut off at the outer end. At least one is kept.
    pub max_frames: usize,
    /// Whether callchains that the copy of the stack cut off go on with frames of other samples.
    pub join: Join,
    /// Whether times off the processor are wanted, as samples of an event of their own
    /// ([`Profile::off_cpu`](profile::Profile::off_cpu)). Only runs of a recording as a whole give them.
    pub off_cpu: bool,
    /// What the run may take.
    pub limits: Limits,
    /// Where names and unwind rules are kept for the next run, and those of runs before are found; `None` for nowhere. What comes out does
    /// not depend on it. Runs on bundles do without.
    pub cache: Option<CachePlace>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            samples: SampleFilter::default(),
            files: FileSearch::default(),
            names: NameOptions::default(),
            max_frames: 1024,
            join: Join::default(),
            off_cpu: false,
            limits: Limits::default(),
            cache: None,
        }
    }
}

/// Which samples are wanted. An empty list wants all; memory maps are replayed in full whatever is wanted.
#[derive(Clone, Debug, Default)]
pub struct SampleFilter {
    /// Process ids.
    pub pids: Vec<Pid>,
    /// Thread ids.
    pub tids: Vec<Tid>,
    /// Names of threads; `*` stands for any bytes, `?` for one.
    pub comms: Vec<Vec<u8>>,
    /// Paths of control groups, with `*` and `?` as in names of threads.
    pub cgroups: Vec<Vec<u8>>,
    /// Names of events, as the recording has them, with `*` and `?` as in those of threads, with modifiers (`:u`) or
    /// without.
    pub events: Vec<String>,
    /// The earliest time.
    pub from: Option<TimePoint>,
    /// The latest time.
    pub to: Option<TimePoint>,
}

/// A point in time of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// On the recording's clock.
    At(Timestamp),
    /// So many nanoseconds after the first sample.
    AfterFirst(u64),
    /// So many billionths of the time from the first sample to the last.
    Share(u64),
}

/// Where files are looked for. Each is used only where its build-id is the recorded one.
#[derive(Clone, Debug, Default)]
pub struct FileSearch {
    /// Files for the modules of their build-ids, or else of their names.
    pub modules: Vec<PathBuf>,
    /// Prefixes of recorded paths, and what to put in their place.
    pub path_map: Vec<(Vec<u8>, Vec<u8>)>,
    /// Folders that stand for `/`. Where there is one, recorded paths are looked for there alone.
    pub sysroots: Vec<PathBuf>,
    /// Build-id caches, and archives of `perf archive`. None: `~/.debug`.
    pub build_id_stores: Vec<PathBuf>,
    /// Folders of separate debug files. None: `/usr/lib/debug` below each sysroot.
    pub debug_dirs: Vec<PathBuf>,
    /// Folders in and below which files are looked for by their names.
    pub extra_dirs: Vec<PathBuf>,
    /// Folders with the `perf-PID.map` files of JIT compilers, asked before `/tmp`.
    pub perf_map_dirs: Vec<PathBuf>,
    /// Whether the maps of JIT compilers are read whoever owns them; else only those of this user and of the superuser.
    pub trust_perf_maps: bool,
    /// Addresses of debuginfod servers to ask for what is found nowhere; `http://` or `https://`.
    pub debuginfod: Vec<String>,
    /// Whether files that debuginfod servers gave before are looked for where they are kept, though no server is asked.
    pub fetched: bool,
    /// What memory holds, where the recording does not state it.
    pub hints: Vec<Hint>,
}

/// What is looked up for an address.
#[derive(Clone, Debug)]
pub struct NameOptions {
    /// Whether anything is; without, there are addresses and modules only.
    pub look_up: bool,
    /// Whether inlined functions are looked for.
    pub inlines: bool,
    /// How function names are written.
    pub demangle: Demangle,
    /// A list of the kernel's symbols in the form of `/proc/kallsyms`.
    pub kallsyms: Option<PathBuf>,
}

impl Default for NameOptions {
    fn default() -> Self {
        Self { look_up: true, inlines: true, demangle: Demangle::Full, kallsyms: None }
    }
}

/// What a run may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Bytes of memory for all that the run holds, but for what is mapped; `None` for as much as it needs. Half of it is
    /// for files.
    pub memory: Option<u64>,
}
