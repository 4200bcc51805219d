//! Samples that are printed while the recording arrives: `perf record -o - … | unwind-perf -f ndjson -`,
//! `-f arrow --rows`.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use formats::{Format, GrowingSamples};
use host::{FileKind, Origin};
use pipeline::{Error, Grown, Observer, Schedule, Sink, StreamOptions};

use super::account::{Summary, print_account};
use crate::args::{RunArgs, RunOptions, host, pipeline, source, with_argument};
use crate::commands::no_samples::no_samples_advice;
use crate::terminal::{Inputs, Out, OutputTarget, Progress, Status, output_path, to_terminal};

/// Returns true if an input arrives as a stream, so that samples can be printed before its end.
/// A regular file as standard input is not a stream.
pub(in crate::commands) fn is_stream(input: &Path) -> bool {
    let kind = |path: &Path| host().stat(path, Origin::User).map(|stat| stat.kind);
    if input == Path::new("-") {
        return !kind(Path::new("/dev/stdin")).is_ok_and(|kind| kind == FileKind::Regular);
    }
    kind(input).is_ok_and(|kind| kind == FileKind::Fifo)
}

/// Prints the samples of a stream as they arrive.
pub(super) fn print_lines(
    input: &Path,
    format: Format,
    printer: GrowingSamples,
    run: RunOptions,
    args: &RunArgs,
) -> anyhow::Result<Status> {
    let path = args.output.as_deref().map(|path| output_path(path, input, format));
    let RunOptions { options, map_files, .. } = run;
    let inputs = Inputs::new(input, &options, &map_files);
    let target = OutputTarget::new(path.as_deref(), &inputs)?;
    let progress = Arc::new(Progress::new(args.quiet, args.progress_lines));
    if path.is_none() && to_terminal() {
        // The bar and the samples would share lines.
        progress.clear();
    }
    let observer: Arc<dyn Observer> = progress.clone();
    let out = target.open().with_context(|| target.failed())?;
    let mut lines = Lines { printer, out, printed: 0 };
    let stream = StreamOptions::by(Schedule::ByTime);
    let analysis =
        pipeline().analyze_in_steps(source(input), stream, &options, &observer, &mut lines);
    progress.clear();
    let analysis = analysis.map_err(|error| match error {
        Error::Output(error) => anyhow::Error::new(error).context(target.failed()),
        error => with_argument(error),
    })?;
    if let Some(nothing) = no_samples_advice(&analysis, &options.samples) {
        bail!(nothing);
    }
    let Lines { printer, mut out, .. } = lines;
    printer.finish(&analysis.profile, &mut out).with_context(|| target.failed())?;
    out.complete().with_context(|| target.failed())?;
    let summary = Summary::new(&analysis, args)?;
    print_account(analysis, summary, None, args)
}

/// Prints the new samples of a growing profile.
#[derive(Debug)]
struct Lines {
    printer: GrowingSamples,
    out: Out,
    /// Number of samples printed.
    printed: usize,
}

impl Sink for Lines {
    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        let Self { printer, out, printed } = self;
        let end = grown.profile.samples.len();
        printer.print(grown.profile, *printed..end, out)?;
        *printed = end;
        out.flush()
    }
}
