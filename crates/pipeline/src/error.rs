//! Errors: the reasons that a run has no profile.

use std::io;
use std::path::PathBuf;

use budget::MemoryExceeded;
use host::{Distrust, HostError};
use options::HintError;

/// Error of a run. Its cause, if there is one, is the [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that the user named is missing or cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A file of length 0.
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
    /// A file that is not a recording, or one with a damaged header.
    #[error("cannot read {}", path.display())]
    Recording {
        /// Its path or name.
        path: PathBuf,
        /// The damage.
        source: perf_data::Error,
    },
    /// Nothing says which processor was recorded, and stacks cannot be unwound without.
    #[error("the recording does not state its architecture")]
    UnknownProcessor,
    /// The filter has a time relative to the first or last sample, but the header does not state their times.
    #[error(
        "the recording does not state the times of its first and last sample; give the time in seconds of its clock"
    )]
    NoSampleTimes,
    /// The filter names control groups, and the recording has none.
    #[error("the recording has no control groups; record with perf record --all-cgroups")]
    NoCgroups,
    /// The filter names processors, but the samples state none.
    #[error(
        "the samples do not state their processors; record with perf record -a or --sample-cpu"
    )]
    NoCpus,
    /// An option of the unwinder, and the recording has finished callchains.
    #[error(
        "{} is for recordings with stacks, and this one has finished callchains; apply it to the recording that they were \
         made from",
        option
    )]
    NoStacks {
        /// The option, as the user knows it.
        option: &'static str,
    },
    /// Times off the processor were asked for, and the recording has no switches.
    #[error("the recording has no context switches; record with unwind-perf record --off-cpu")]
    NoSwitches,
    /// Off-CPU times were requested, but no thread ran during the recording.
    #[error(
        "no thread ran during the recording ({threads} were asleep), and no record has a time; record for longer, or see \
         where they wait with gdb -p PID"
    )]
    NothingRan {
        /// Number of sleeping threads.
        threads: u64,
    },
    /// Off-CPU times were requested, but the recording does not state when threads were switched in.
    #[error(
        "the recording shows that threads left their processors ({switches} times), but not when they returned; record \
         with --switch-events as well, or all processors (-a)"
    )]
    NoReturns {
        /// Number of switch-outs.
        switches: u64,
    },
    /// Off-CPU times were requested, but no sample that passes the filters shows one.
    #[error(
        "no sample that passes the filters shows off-CPU time (threads left their processors {switches} times)"
    )]
    NoOffCpuSamples {
        /// Number of switch-outs.
        switches: u64,
    },
    /// Times off the processor were asked for while the profile grows: they are known at its end.
    #[error("off-CPU times are only known at the end of a recording")]
    OffCpuWhileGrowing,
    /// Spans or variables were requested while the profile grows: ends and types follow later.
    #[error("spans and variables are only known at the end of a recording")]
    NeedsWholeRecording,
    /// A text that does not name a variable of a function, or names an unknown one.
    #[error("{problem}")]
    FunctionVariable {
        /// The text.
        text: String,
        /// The problem.
        problem: String,
    },
    /// An option names spans that no other option describes.
    #[error("there are no spans of this name; describe them with span, as NAME=BEGIN,END")]
    UnknownSpan {
        /// The option with the name.
        option: &'static str,
        /// The name.
        name: String,
    },
    /// Samples inside spans with a key were requested, without a label that has the key.
    #[error(
        "spans with the key {key} can overlap in a thread, so samples need the label {key}: label samples with {key}=EVENT/{key}"
    )]
    InsideNeedsLabel {
        /// The name of the spans.
        name: String,
        /// The field that is the key.
        key: String,
    },
    /// An option names an event that was not recorded.
    #[error("the recording has {}", recorded.join(", "))]
    UnknownEvent {
        /// The option with the name.
        option: &'static str,
        /// The name.
        name: String,
        /// The recorded event names.
        recorded: Vec<String>,
    },
    /// No event has the field.
    #[error("no event has this field; {}", recorded_fields(recorded))]
    UnknownField {
        /// The option with the pattern.
        option: &'static str,
        /// The pattern of the option.
        pattern: String,
        /// The recorded fields, as `EVENT/FIELD`.
        recorded: Vec<String>,
    },
    /// No event has branch records.
    #[error("the recording has no branch records; record them with perf record -b, or -j any,u")]
    NoBranches,
    /// The field of an option has no numbers.
    #[error("the values of this field are not numbers; fields of numbers: {}", listed(recorded))]
    FieldNotNumber {
        /// The option with the pattern.
        option: &'static str,
        /// The pattern of the option.
        pattern: String,
        /// The recorded fields of numbers, as `EVENT/FIELD`.
        recorded: Vec<String>,
    },
    /// A condition compares a field with a value of another type.
    #[error(
        "the values of this field are {kinds}; compare text with = or !=, and numbers with a number or a range such as 1..3"
    )]
    ConditionType {
        /// The option with the condition.
        option: &'static str,
        /// The condition.
        condition: String,
        /// The types of the values, such as `numbers`.
        kinds: &'static str,
    },
    /// A path given as a build-id store is neither a folder nor an archive.
    #[error("neither a directory nor an archive")]
    NoBuildIdStore {
        /// Its path.
        path: PathBuf,
        /// The error of unpacking.
        source: io::Error,
    },
    /// A folder with files of earlier runs that other users have a part in.
    #[error("{distrust}; name a folder that only you can write (chmod go-w)")]
    SharedFolder {
        /// The name of the option in [`options`], or of an option of the caller.
        option: &'static str,
        /// The folder.
        path: PathBuf,
        /// The reason that the folder is not trusted.
        distrust: Distrust,
    },
    /// Hints that contradict each other.
    #[error(transparent)]
    Hints(#[from] module_map::HintError),
    /// The file of a hint cannot be opened.
    #[error(transparent)]
    HintFile(#[from] image_store::ImageError),
    /// The relocatable file of a hint has no code.
    #[error("map hint {hint}: the file has no code")]
    HintWithoutCode {
        /// The hint.
        hint: String,
    },
    /// The relocatable file of a hint has several sections with code, and the hint does not state an offset.
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
    /// A debuginfod server given by the user is not an HTTP address.
    #[error("expected an address that begins with http:// or https://")]
    NotAServer {
        /// The given address.
        url: String,
    },
    /// An environment variable that limits downloads is not a whole number.
    #[error("{name}={value}: expected a whole number of {unit} (0: no limit)")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The unit of the value.
        unit: &'static str,
    },
    /// The servers of the environment were requested, but it names none.
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
        /// The limit, the section being read and the memory held at that time.
        exceeded: Box<MemoryExceeded>,
    },
    /// The output of a growing profile could not be written.
    #[error("cannot write")]
    Output(#[source] io::Error),
    /// A bundle cannot be read.
    #[error("cannot read {}", path.display())]
    Bundle {
        /// The bundle.
        path: PathBuf,
        /// The damage.
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

/// Returns the fields of a recording as the end of a sentence.
fn recorded_fields(fields: &[String]) -> String {
    if fields.is_empty() {
        "the samples have none".to_owned()
    } else {
        format!("there are {}", listed(fields))
    }
}

/// Lists names; a recording of all tracepoints has thousands.
fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let listed = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    let others = names.len().saturating_sub(MOST);
    if others == 0 { listed } else { format!("{listed}, and {others} more") }
}
