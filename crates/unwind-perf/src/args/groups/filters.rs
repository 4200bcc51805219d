//! The arguments that choose samples.

use clap::Args;
use options::{Condition, LabelRule, SpanLimit, SpanRule};

/// Numbers of processors. Clap takes a `Vec` for an argument that can be repeated.
type CpuList = std::sync::Arc<[u32]>;

fn parse_cpus(text: &str) -> Result<CpuList, String> {
    options::parse_cpus(text).map(Into::into)
}

/// The samples that are wanted. The mappings are replayed in full whatever they are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {
    /// Only samples of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub(crate) pid: Vec<i32>,

    /// Only samples of these threads
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub(crate) tid: Vec<i32>,

    /// Only samples of threads with these names; * and ? are wildcards
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) comm: Vec<String>,

    /// Only samples of these control groups
    ///
    /// Recordings made with --all-cgroups have them: paths such as /user.slice, or patterns such as '/user.slice/*'.
    #[arg(long, value_name = "PATH,…", value_delimiter = ',')]
    pub(crate) cgroup: Vec<String>,

    /// Only samples of these events
    ///
    /// Names or patterns, with or without modifiers such as :u.
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',')]
    pub(crate) event: Vec<String>,

    /// Only samples on these processors, such as 0,2-5
    ///
    /// The recording must state them (perf record -a or --sample-cpu).
    #[arg(long, value_name = "CPU,…", value_parser = parse_cpus)]
    pub(crate) cpu: Option<CpuList>,

    /// Only samples from time A to time B; either can be empty
    ///
    /// Seconds of the recording's clock, as perf script prints them; with +, seconds from the first sample (+1.5,+2);
    /// with %, parts of the recording (10%-20%).
    #[arg(long, value_name = "A,B")]
    pub(crate) time: Option<String>,

    /// Only samples whose field or label fulfils CONDITION; can be repeated
    ///
    /// Examples: 'bytes>=4096', state=1..3, 'probe:open/path=/etc/*', 'query!=*temp*'. = and != take a number, a range or
    /// a pattern; <, <=, > and >= take a number. A sample must have the values and fulfil all conditions.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) conditions: Vec<Condition>,

    /// Read a parameter or local of a function in the samples' frames; can be repeated
    ///
    /// Examples: 'exec(query)', 'handle(request->size)', 'f(*p)', 'f(a[3])'. The innermost frame of the function
    /// counts. Use it in top --by 'handle(size)'; formats with fields print it. Needs debug information (-g). A value that
    /// registers and recorded stack do not prove has a reason. thread-local(NAME) is a variable of the sampled thread.
    #[arg(long = "value", value_name = "FUNCTION(PATH)")]
    pub(crate) values: Vec<String>,

    /// Label samples with FIELD of their thread's last EVENT; can be repeated
    ///
    /// With query=probe:report/query, each event labels the later samples of its thread, until its next event. Use the
    /// label in --by, --root or --where; formats with fields print it. The recording must have every such event (perf
    /// record -c 1 -e EVENT -e cpu-clock/freq=499/).
    #[arg(long, value_name = "NAME=EVENT/FIELD")]
    pub(crate) label: Vec<LabelRule>,

    /// Begin a label only at events that fulfil CONDITION; other events end it
    ///
    /// An event without the condition's field begins the label anyway.
    #[arg(long, value_name = "CONDITION", requires = "label")]
    pub(crate) label_when: Vec<Condition>,

    /// Events that end all labels of their thread
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',', requires = "label")]
    pub(crate) label_end: Vec<String>,

    /// Copy the labels of an event's thread to the thread whose id is in this field
    #[arg(long, value_name = "EVENT/FIELD,…", value_delimiter = ',', requires = "label")]
    pub(crate) handover: Vec<String>,

    /// Print hashes instead of the values of fields and labels
    ///
    /// Equal values have equal hashes. Without KEY, a random key is used, so that hashes of two runs differ; whoever knows
    /// KEY can try values. Conditions, weights and spans use the values.
    #[arg(long, value_name = "KEY", num_args = 0..=1, require_equals = true)]
    pub(crate) redact: Option<Option<String>>,

    /// Measure the time from an event BEGIN to an event END; can be repeated
    ///
    /// With request=server:start,server:done, an END belongs to the last BEGIN of its thread; with a KEY, such as
    /// ,id or ,dev+sector, to the BEGIN with the same values in any thread. BEGIN and END can have a condition:
    /// probe:report/state=2. See spans, --weight NAME (or NAME.self) and --inside NAME. The recording must have every such
    /// event, as for --label.
    #[arg(long, value_name = "NAME=BEGIN,END[,KEY]")]
    pub(crate) span: Vec<SpanRule>,

    /// Only samples inside a span of this name
    ///
    /// Samples of the span's thread, from its BEGIN to its END. Spans with a KEY need a label with the name of the KEY.
    #[arg(long, value_name = "NAME", requires = "span")]
    pub(crate) inside: Option<String>,

    /// Only samples inside spans that are longer than this, such as 10ms or p99
    #[arg(long, value_name = "TIME", requires = "inside")]
    pub(crate) longer_than: Option<SpanLimit>,

    /// Only samples inside spans of at most this duration, such as 10ms or p50
    #[arg(long, value_name = "TIME", requires = "inside")]
    pub(crate) up_to: Option<SpanLimit>,
}
