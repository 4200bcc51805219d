//! Export of a recording, written to a pipe or file of the front.

use std::io::{BufWriter, Write as _};

use formats::{Format, FormatOptions, Page, Printer};

use super::answer::{Answer, answer, not_written};
use super::task_context::TaskContext;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::ExportTask;

/// Writes an export format.
pub(super) fn write(context: &mut TaskContext<'_>, task: &ExportTask) -> Result<Answer, Problem> {
    let format = Format::from_name(&task.format);
    let unknown =
        || Problem::new(ProblemKind::BadRequest).detail(format!("no format {}", task.format));
    let format = format.ok_or_else(unknown)?;
    if format == Format::Hotspot {
        context.stream(&task.recording, &task.options, &task.samples)?;
        return answer(&());
    }
    let analysis = match format {
        Format::Report => context.analysis_of(&task.recording, &task.options, &task.samples)?,
        _ => context.recorded_analysis(&task.recording, &task.options, &task.samples)?,
    };
    if analysis.profile.samples.is_empty() && analysis.profile.summary.samples_filtered > 0 {
        return Err(Problem::new(ProblemKind::DoesNotFit).detail("no sample passes the filters"));
    }
    let inlines = task.options.usual.inlines;
    let options = FormatOptions {
        inlines,
        weight: task.weight,
        root: task.root.clone(),
        ..FormatOptions::DEFAULT
    };
    let printer: Box<dyn Printer> = match format {
        Format::Report => Box::new(Page::new(inlines, task.written)),
        format => format.printer(options),
    };
    let mut out = BufWriter::new(context.output()?);
    printer
        .print(&analysis.profile, &mut out)
        .and_then(|()| out.flush())
        .map_err(|error| not_written(&error))?;
    answer(&())
}
