//! The tools: each reads its arguments and answers a query.

mod callers;
mod cost_rows;
mod diff;
mod functions;
mod quality;
mod recordings;
mod source;
mod spans;
mod top;
mod tree;

use options::ValueOptions;
use rmcp::model::JsonObject;

use crate::StopSignal;
use crate::answer::Answer;
use crate::arguments::{CountedArgs, RecordingName, read, schema};
use crate::recordings::{Loaded, Recordings};
use crate::refusal::Refusal;
use crate::selected::is_off_cpu;

/// Inputs of a call besides its arguments.
pub(crate) struct Call<'r> {
    pub(crate) recordings: &'r Recordings,
    /// Returns true if the call is cancelled.
    pub(crate) stop: StopSignal,
}

impl Call<'_> {
    /// Returns the profile of a recording.
    fn load(
        &self,
        recording: Option<&RecordingName>,
        off_cpu: bool,
        values: &ValueOptions,
    ) -> Result<Loaded, Refusal> {
        self.recordings.load(self.recordings.find(recording)?, off_cpu, values, &self.stop)
    }

    /// Returns the profile of a call that counts samples.
    fn load_counted(&self, counted: &CountedArgs) -> Result<Loaded, Refusal> {
        self.load_grouped(counted, None)
    }

    /// Returns the profile of a call that groups samples by the values of a name.
    fn load_grouped(&self, counted: &CountedArgs, name: Option<&str>) -> Result<Loaded, Refusal> {
        let mut values = counted.values.options()?;
        if let Some(name) = name {
            values.add_values(name);
        }
        self.load(counted.recording.as_ref(), is_off_cpu(counted), &values)
    }
}

/// A tool.
pub(crate) struct ToolEntry {
    pub(crate) name: &'static str,
    /// Description for the client's model.
    pub(crate) about: &'static str,
    pub(crate) schema: fn() -> JsonObject,
    pub(crate) answer: fn(&Call<'_>, JsonObject) -> Result<Answer, Refusal>,
}

/// All tools, in the order of the list.
pub(crate) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "recordings",
        about: "List the recordings: program, host, date, duration, samples by event, share of complete stacks. The \
                first call analyses each of them.",
        schema: schema::<recordings::Args>,
        answer: |call, arguments| recordings::answer(call, &read(arguments)?),
    },
    ToolEntry {
        name: "top",
        about: "Show the costliest functions, modules, lines, threads or other groups; also by the values of a label, of \
                a field of tracepoints or probes, or of a variable.",
        schema: schema::<top::Args>,
        answer: |call, arguments| top::answer(call, &read(arguments)?),
    },
    ToolEntry {
        name: "tree",
        about: "Show the call tree, from the outermost functions or from the innermost.",
        schema: schema::<tree::Args>,
        answer: |call, arguments| tree::answer(call, &read(arguments)?),
    },
    ToolEntry {
        name: "callers",
        about: "Show the direct callers and callees of a function with their costs.",
        schema: schema::<callers::Args>,
        answer: |call, arguments| callers::answer(call, &read(arguments)?),
    },
    ToolEntry {
        name: "source",
        about: "Show the lines of a function with their costs, their text if it is available, and instructions if they \
                are asked for.",
        schema: schema::<source::Args>,
        answer: |call, arguments| source::answer(call, &read(arguments)?),
    },
    ToolEntry {
        name: "spans",
        about: "Show the durations of spans between two events: number, sum, percentiles and histogram, by a label or \
                field.",
        schema: schema::<spans::Args>,
        answer: |call, arguments| spans::answer(call, &read(arguments)?),
    },
    ToolEntry {
        name: "diff",
        about: "Compare two recordings: functions whose cost changed, with confidence.",
        schema: schema::<diff::Args>,
        answer: |call, arguments| diff::answer(call, &read(arguments)?),
    },
    ToolEntry {
        name: "quality",
        about: "Show how complete a recording is: reasons of incomplete stacks, missing files with remedies, findings.",
        schema: schema::<quality::Args>,
        answer: |call, arguments| quality::answer(call, &read(arguments)?),
    },
];
