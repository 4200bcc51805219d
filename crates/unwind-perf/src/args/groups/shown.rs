//! Arguments of single formats: their contents, and the weights of stacks.

use anyhow::bail;
use clap::Args;
use formats::{Format, ScriptFields};
use options::{ChoiceOrValue, StackRoot, Weight};
use profile::query::FoldedFrames;

use crate::args::values::{ChoiceOrValueParser, ChoiceParser};

/// The arguments of the format perf-script.
#[derive(Debug, Args)]
#[command(next_help_heading = "perf script")]
pub(crate) struct ScriptArgs {
    #[allow(clippy::doc_markdown, reason = "the text is help, which shows no backticks")]
    /// Fields of perf-script, named as in perf script -F [default: comm to dso]
    ///
    /// comm, pid, tid, cpu, time, period, event, ip, sym, symoff, dso, srcline, trace, brstack, addr, weight, ins_lat,
    /// data_src, phys_addr; or changes to the default, such as +srcline,-cpu.
    #[arg(short = 'F', long, value_name = "FIELD,…", value_parser = ScriptFields::parse, allow_hyphen_values = true)]
    pub(crate) fields: Option<ScriptFields>,
}

/// The arguments of formats for other programs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Arrow, OTLP, fields")]
pub(crate) struct ExchangeArgs {
    /// Print these fields of tracepoints and probes, such as probe:work/size
    ///
    /// Patterns with * and ?, or all; info lists the fields. None is printed by default, since values can be private.
    #[arg(long, value_name = "EVENT/FIELD,…", value_delimiter = ',')]
    pub(crate) with_fields: Vec<String>,

    /// Arrow: one stream with a row per sample and its frames, not the tables
    #[arg(long)]
    pub(crate) rows: bool,

    /// Parquet: one row per distinct stack, process and event, without names
    ///
    /// Frames are positions in files by build-id; unwind-perf symbolize names them later. Code in memory and files
    /// without a build-id keep the names of their functions.
    #[arg(long)]
    pub(crate) stacks: bool,

    /// OTLP, pprof: name of the recorded service
    ///
    /// Default of OTLP: the name of each process.
    #[arg(long, value_name = "NAME")]
    pub(crate) service_name: Option<String>,
}

impl ExchangeArgs {
    /// The options that were given and mean nothing to a format.
    pub(crate) fn without_effect(&self, format: Format) -> Vec<&'static str> {
        let is_arrow = format.name() == "arrow";
        let has_service = matches!(format, Format::Otlp | Format::Pprof);
        let given = [
            ("--rows", self.rows, is_arrow),
            ("--stacks", self.stacks, format.name() == "parquet"),
            ("--service-name", self.service_name.is_some(), has_service),
        ];
        given.iter().filter(|(_, given, known)| *given && !known).map(|(name, ..)| *name).collect()
    }
}

/// The words of `--root`, and names of labels and fields.
const ROOT: ChoiceOrValueParser<StackRoot> =
    ChoiceOrValueParser::new("field:NAME", "A field of samples; for a label, give its name");

/// The words of `--weight`, and names of fields.
const WEIGHT: ChoiceOrValueParser<Weight> =
    ChoiceOrValueParser::new("EVENT/FIELD", "The value of a field of tracepoints or probes");

/// The argument of formats that add samples up.
#[derive(Debug, Args)]
pub(crate) struct WeightArgs {
    /// Weight of a sample [default: samples]
    #[arg(long, value_name = "WHAT", value_parser = WEIGHT)]
    pub(crate) weight: Option<ChoiceOrValue<Weight>>,

    /// Times off the processor: show the frames of the kernel
    ///
    /// Default: a wait belongs to the program's function. The tables of top also omit the C library's functions that
    /// wait.
    #[arg(long)]
    pub(crate) kernel_frames: bool,
}

/// Argument of outputs that contain samples and periods.
#[derive(Debug, Args)]
pub(crate) struct OffCpuArgs {
    /// Count the time that threads were off the processor, of recordings with context switches
    #[arg(long, value_name = "WHAT", value_parser = off_cpu_parser())]
    pub(crate) weight: Option<Weight>,
}

fn off_cpu_parser() -> ChoiceParser<Weight> {
    ChoiceParser::of(&[Weight::OffCpu]).about("The time that its thread was off the processor")
}

impl OffCpuArgs {
    /// Returns the selected value.
    pub(crate) fn weight(&self) -> Weight {
        self.weight.unwrap_or_default()
    }
}

/// The arguments of formats that count stacks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Folded stacks, flame graph, speedscope, Firefox")]
pub(crate) struct FoldedArgs {
    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    /// Show incomplete stacks as they are, not below one [truncated] frame
    #[arg(long)]
    pub(crate) keep_unrooted: bool,

    /// Folded stacks: mark kernel functions with the suffix _[k]
    #[arg(long)]
    pub(crate) kernel_suffix: bool,

    /// Folded stacks: the outermost frame, above all functions [default: comm]
    #[arg(long, value_name = "WHAT", value_parser = ROOT)]
    pub(crate) root: Option<ChoiceOrValue<StackRoot>>,

    /// Folded stacks: start with the innermost function
    #[arg(long)]
    pub(crate) reverse: bool,
}

impl FoldedArgs {
    /// The options that were given and mean nothing to a format. Those without `[truncated]` keep all stacks anyway.
    pub(crate) fn without_effect(&self, format: Format) -> Vec<&'static str> {
        let counts = format.shows_one_event();
        let weighs = format.shows_weight(self.weight.weight());
        let given = [
            ("--weight", self.weight.weight.is_some(), weighs),
            ("--kernel-frames", self.weight.kernel_frames, counts),
            ("--kernel-suffix", self.kernel_suffix, counts),
            ("--root", self.root.is_some(), counts),
            ("--reverse", self.reverse, counts),
        ];
        given.iter().filter(|(_, given, known)| *given && !known).map(|(name, ..)| *name).collect()
    }
}

impl WeightArgs {
    /// Returns the selected weight; the value of a field is the period of its samples.
    pub(crate) fn weight(&self) -> Weight {
        match &self.weight {
            None => Weight::default(),
            Some(ChoiceOrValue::Choice(weight)) => *weight,
            Some(ChoiceOrValue::Value(_)) => Weight::Period,
        }
    }

    /// Returns the pattern of the field that is the weight, for the options of the run.
    pub(crate) fn field(&self) -> Option<String> {
        self.weight.as_ref()?.value().map(str::to_owned)
    }

    /// Returns the frames of times off the processor to remove: `usual`, or none if the kernel's are wanted.
    pub(crate) fn folded(&self, usual: FoldedFrames) -> anyhow::Result<Option<FoldedFrames>> {
        if self.weight() == Weight::OffCpu {
            Ok((!self.kernel_frames).then_some(usual))
        } else if self.kernel_frames {
            bail!(
                "--kernel-frames has an effect on times off the processor only; add --weight off-cpu"
            )
        } else {
            Ok(None)
        }
    }
}
