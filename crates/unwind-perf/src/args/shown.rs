//! The arguments of single formats: what they show, and how stacks are counted.

use clap::{Args, ValueEnum};
use formats::{ScriptFields, StackRoot, StackWeight};

/// The arguments of the format perf-script.
#[derive(Debug, Args)]
#[command(next_help_heading = "perf script")]
pub(crate) struct ScriptArgs {
    /// Fields of perf-script, named as in perf script -F: comm, pid, tid, cpu, time, period, event, ip, sym, symoff,
    /// dso, srcline; or changes to the default, such as +srcline,-cpu [default: all but srcline]
    #[arg(short = 'F', long, value_name = "FIELD,…", value_parser = ScriptFields::parse, allow_hyphen_values = true)]
    pub(crate) fields: Option<ScriptFields>,
}

/// The arguments of formats that count stacks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Folded stacks and speedscope")]
pub(crate) struct FoldedArgs {
    /// Keep stacks that do not reach their root as they are instead of putting them under one [truncated] frame
    #[arg(long)]
    pub(crate) keep_unrooted: bool,

    /// Weight of a stack
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = WeightArg::Samples)]
    pub(crate) weight: WeightArg,

    /// Folded stacks: mark kernel functions with the suffix _[k]
    #[arg(long)]
    pub(crate) kernel_suffix: bool,

    /// Folded stacks: the outermost frame, outside of all functions
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = RootArg::Comm)]
    pub(crate) root: RootArg,

    /// Folded stacks: begin with the innermost function
    #[arg(long)]
    pub(crate) reverse: bool,
}

/// The weight of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WeightArg {
    /// The number of samples
    Samples,
    /// The sum of their periods
    Period,
}

/// The outermost frame of a folded stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RootArg {
    /// The thread's name
    Comm,
    /// comm-pid
    Process,
    /// comm-pid/tid
    Thread,
    /// Nothing
    None,
}

impl From<RootArg> for StackRoot {
    fn from(root: RootArg) -> Self {
        match root {
            RootArg::Comm => Self::Comm,
            RootArg::Process => Self::Process,
            RootArg::Thread => Self::Thread,
            RootArg::None => Self::None,
        }
    }
}

impl From<WeightArg> for StackWeight {
    fn from(weight: WeightArg) -> Self {
        match weight {
            WeightArg::Samples => Self::Samples,
            WeightArg::Period => Self::Period,
        }
    }
}
