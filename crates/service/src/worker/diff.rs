//! Comparison of recordings.

use std::io::{BufWriter, Write as _};
use std::sync::Arc;

use formats::{ConsoleLook, DiffFormat, DiffPrintOptions, print_diff_tables};
use options::SampleFilter;
use pipeline::LoadedProfile;
use profile::query::diff::{DiffInput, DiffOptions, diff};

use super::answer::{Answer, answer, not_written};
use super::task_context::TaskContext;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{DIFF_TABLES, DiffTask, RecordingRef};

/// Number of rows in the text table.
const ROWS: usize = 20;

/// Writes the comparison of recordings.
pub(super) fn write(context: &mut TaskContext<'_>, task: &DiffTask) -> Result<Answer, Problem> {
    let unknown = |what: &str, word: &str| {
        Problem::new(ProblemKind::BadRequest).detail(format!("no {what} {word}"))
    };
    let format = match &*task.format {
        DIFF_TABLES => None,
        name => Some(DiffFormat::from_name(name).ok_or_else(|| unknown("format", name))?),
    };
    let normalization = task
        .normalize
        .as_deref()
        .map(|word| word.parse().map_err(|_| unknown("normalization", word)));
    let normalization = normalization.transpose()?;
    let mut load = |side: &[RecordingRef]| -> Result<Vec<(String, Arc<LoadedProfile>)>, Problem> {
        let one = |recording: &RecordingRef| {
            let analysis =
                context.recorded_analysis(recording, &task.options, &SampleFilter::default())?;
            Ok((recording.name.clone(), analysis))
        };
        side.iter().map(one).collect()
    };
    let (before, after) = (load(&task.before)?, load(&task.after)?);
    let (exact_names, inlines) = (task.exact_names, task.options.usual.inlines);
    let options = DiffOptions { normalization, exact_names, inlines, pairs: &[] };
    let difference = diff(&inputs(&before), &inputs(&after), options)
        .map_err(|error| Problem::new(ProblemKind::DoesNotFit).detail(error.to_string()))?;
    let look = ConsoleLook { spelling: context.worker.options.spelling, ..ConsoleLook::default() };
    let print = DiffPrintOptions { inclusive: false, limit: ROWS, look, gate: None };
    let mut out = BufWriter::new(context.output()?);
    let printed = match format {
        Some(format) => format.print(&difference, print, &mut out),
        None => print_diff_tables(&difference, look.spelling, &mut out),
    };
    printed.and_then(|()| out.flush()).map_err(|error| not_written(&error))?;
    answer(&())
}

fn inputs(side: &[(String, Arc<LoadedProfile>)]) -> Vec<DiffInput<'_>> {
    side.iter().map(|(name, it)| DiffInput { name, profile: &it.profile }).collect()
}
