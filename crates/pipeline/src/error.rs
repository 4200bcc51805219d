//! Why there is no profile.

use std::io;
use std::path::PathBuf;

use budget::MemoryExceeded;
use host::{Distrust, HostError};
use options::HintError;

/// A run has no result. The cause, where there is one, is the [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that the user named is missing or cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A file without a byte.
    #[error("{} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Bytes of the recording went missing while it was read.
    #[error("{} was truncated while it was read", path.display())]
    CutShort {
        /// The recording.
        path: PathBuf,
    },
    /// A folder that is not one of `perf record --threads`.
    #[error("{} is a directory without a file `data`, so it is not a recording", path.display())]
    NoRecordingInFolder {
        /// The folder.
        path: PathBuf,
    },
    /// What is no recording, or whose header is damaged.
    #[error("cannot read {}", path.display())]
    Recording {
        /// Its path or name.
        path: PathBuf,
        /// What is wrong with it.
        source: perf_data::Error,
    },
    /// Nothing says which processor was recorded, and stacks cannot be unwound without.
    #[error("the recording does not state its architecture")]
    UnknownProcessor,
    /// The filter has a time that depends on those of the first and last sample, which the header does not state.
    #[error(
        "the recording does not state the times of its first and last sample; give the time in seconds of its clock"
    )]
    NoSampleTimes,
    /// The filter names control groups, and the recording has none.
    #[error("the recording has no control groups; record with perf record --all-cgroups")]
    NoCgroups,
    /// The filter names processors, and the samples state none.
    #[error(
        "the samples do not state their processors; record with perf record -a or --sample-cpu"
    )]
    NoCpus,
    /// Times off the processor were asked for, and the recording has no switches.
    #[error("the recording has no context switches; record with unwind-perf record --off-cpu")]
    NoSwitches,
    /// Times off the processor were asked for, and no thread ran while it was recorded.
    #[error(
        "no thread ran during the recording ({threads} were asleep), and no record has a time; record for longer, or see \
         where they wait with gdb -p PID"
    )]
    NothingRan {
        /// How many threads.
        threads: u64,
    },
    /// Times off the processor were asked for, and the recording does not tell when threads came back.
    #[error(
        "the recording shows that threads left their processors ({switches} times), but not when they returned; record \
         with --switch-events as well, or all processors (-a)"
    )]
    NoReturns {
        /// How often threads left.
        switches: u64,
    },
    /// Times off the processor were asked for, and no sample that is wanted shows one.
    #[error(
        "no sample that passes the filters shows off-CPU time (threads left their processors {switches} times)"
    )]
    NoOffCpuSamples {
        /// How often threads left.
        switches: u64,
    },
    /// Times off the processor were asked for while the profile grows: they are known at its end.
    #[error("off-CPU times are only known at the end of a recording")]
    OffCpuWhileGrowing,
    /// The filter names an event that was not recorded.
    #[error("the recording has {}", recorded.join(", "))]
    UnknownEvent {
        /// The name in the filter.
        name: String,
        /// The names that there are.
        recorded: Vec<String>,
    },
    /// What was named as a store of files by build-id is neither a folder nor an archive.
    #[error("neither a directory nor an archive")]
    NoBuildIdStore {
        /// Its path.
        path: PathBuf,
        /// Why it cannot be unpacked.
        source: io::Error,
    },
    /// A folder with files of earlier runs that other users have a part in.
    #[error("{distrust}; name a folder that only you can write (chmod go-w)")]
    SharedFolder {
        /// The name of the option in [`options`], or of one that the caller has.
        option: &'static str,
        /// The folder.
        path: PathBuf,
        /// The part that others have in it.
        distrust: Distrust,
    },
    /// Hints that contradict each other.
    #[error(transparent)]
    Hints(#[from] module_map::HintError),
    /// The file that a hint names cannot be opened.
    #[error(transparent)]
    HintFile(#[from] image_store::ImageError),
    /// The relocatable file that a hint names has no code.
    #[error("map hint {hint}: the file has no code")]
    HintWithoutCode {
        /// The hint.
        hint: String,
    },
    /// The relocatable file that a hint names has several sections with code, and the hint does not say which.
    #[error(
        "map hint {hint}: the file has several code sections; add the offset of one: {first}, {second}, …"
    )]
    HintNeedsOffset {
        /// The hint.
        hint: String,
        /// The first such section and its offset.
        first: String,
        /// The second.
        second: String,
    },
    /// What was named as a debuginfod server is no address of one.
    #[error("expected an address that begins with http:// or https://")]
    NotAServer {
        /// What was named.
        url: String,
    },
    /// A variable of the environment that limits downloads has another value than a whole number.
    #[error("{name}={value}: expected a whole number of {unit} (0: no limit)")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it counts.
        unit: &'static str,
    },
    /// The servers of the environment are wanted, and it names none.
    #[error("no debuginfod server is named, and DEBUGINFOD_URLS is not set")]
    NoServers,
    /// A file with hints cannot be read.
    #[error("cannot read {}", path.display())]
    MapFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line of a file with hints is not a hint.
    #[error("{}, line {line}", path.display())]
    MapFileLine {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The cause.
        source: HintError,
    },
    /// There is no folder in which fetched files could be kept.
    #[error("there is no directory for downloaded files: set HOME")]
    NoCacheFolder,
    /// The limit of memory was reached.
    #[error("the recording needs more than the limit of {} MB, which was reached at {exceeded}; raise the limit", exceeded.limit >> 20)]
    MemoryLimit {
        /// The limit, what was read when it was reached, and what was held.
        exceeded: Box<MemoryExceeded>,
    },
    /// What is made of a growing profile could not be written.
    #[error("cannot write")]
    Output(#[source] io::Error),
    /// A bundle cannot be read.
    #[error("cannot read {}", path.display())]
    Bundle {
        /// The bundle.
        path: PathBuf,
        /// What is wrong with it.
        source: bundle::Error,
    },
    /// The options say where files are, but a bundle has its own.
    #[error("{} is a bundle with its own files; {option} has no effect", path.display())]
    BundleHasFiles {
        /// The bundle.
        path: PathBuf,
        /// The name of the option in [`options`].
        option: String,
    },
    /// The observer stopped the run.
    #[error("cancelled")]
    Cancelled,
    /// The recording changed while it was read, again and again.
    #[error("the recording changed repeatedly while it was read")]
    BrokenOff,
}
