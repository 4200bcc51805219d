//! The stream for hotspot, written while the recording is unwound.

mod details;
mod output;
mod records;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::Arch;
use anyhow::Context as _;
use formats::{Details, ErrorKind, ErrorRow, Format, HotspotStream, write_summary};
use perf_data::{Finding, Findings, MachineSource};
use pipeline::{
    Analysis, Error, Observer, Options, Pipeline, RejectedSamples, Source, StreamOptions,
};

use crate::args::{FunctionArgs, pipeline, with_argument};
use crate::function_filter::filter_functions;
use crate::hotspot::output::{CollectedDetails, SharedStream, StreamObserver, StreamOutput};
use crate::terminal::{
    Completeness, Inputs, Out, OutputTarget, Progress, Status, output_path, print_not_kept,
    print_summary, summary_text, timings_text,
};

/// A conversion of a recording to the stream.
#[derive(Debug)]
pub(crate) struct HotspotJob<'a> {
    /// The recording.
    pub(crate) source: Source,
    /// Options of the analysis.
    pub(crate) options: Options,
    /// Options for reading a stream. With a limit on waiting records, exceeding it is an error.
    pub(crate) stream: StreamOptions,
    /// Path of the output; `None` for standard output.
    pub(crate) output: Option<&'a Path>,
    /// The filters of functions. With them, the stream is written when the recording is complete.
    pub(crate) functions: Option<&'a FunctionArgs>,
    /// The files that map hints were read from.
    pub(crate) map_files: &'a [PathBuf],
    /// True to print neither progress nor summary.
    pub(crate) quiet: bool,
    /// All details in the summary.
    pub(crate) verbose: bool,
    /// Whether progress is told in lines.
    pub(crate) progress_lines: bool,
    /// True to print the time of each stage.
    pub(crate) timings: bool,
    /// True to print the summary instead of the stream.
    pub(crate) statistics: bool,
}

/// Result of the conversion.
#[derive(Clone, Debug)]
pub(crate) struct HotspotOutcome {
    pub(crate) status: Status,
    /// Numbers of all and of incomplete callchains.
    pub(crate) completeness: Completeness,
    /// Number of samples that were written.
    pub(crate) samples: u64,
    /// Number of samples that the filter rejected, and their description.
    pub(crate) filtered: u64,
    pub(crate) rejected: RejectedSamples,
    /// Processor architecture, if the recording states it.
    pub(crate) arch: Option<Arch>,
    /// True if the input stream ended with an error.
    pub(crate) peer_broke: bool,
}

/// The recording does not state its architecture.
#[derive(Debug)]
pub(crate) struct NoArchitecture;

impl fmt::Display for NoArchitecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the recording does not state its architecture; add --arch")
    }
}

impl std::error::Error for NoArchitecture {}

/// More records waited for the end of their round than allowed.
#[derive(Debug)]
pub(crate) struct BufferTooSmall;

impl fmt::Display for BufferTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the records cannot be sorted within --max-buffer-size; raise it")
    }
}

impl std::error::Error for BufferTooSmall {}

/// Converts the recording to the stream, on the current thread pool.
pub(crate) fn run(job: HotspotJob<'_>) -> anyhow::Result<HotspotOutcome> {
    let path = job.source.name();
    let output = job.output.map(|output| output_path(output, path, Format::Hotspot));
    let inputs = Inputs::new(path, &job.options, job.map_files);
    let target = OutputTarget::new(output.as_deref(), &inputs)?;
    let progress = Arc::new(Progress::new(job.quiet, job.progress_lines));
    let out = if job.statistics { Ok(Out::nowhere()) } else { target.open() };
    let out = out.with_context(|| target.failed())?;
    let HotspotJob { source, options, stream: reading, .. } = job;
    let observer: Arc<dyn Observer> = progress.clone();
    let written = match job.functions {
        None => write_stream(&pipeline(), source, reading, &options, observer, out)
            .map_err(|error| explained(error, &target)),
        Some(functions) => {
            let mut collected = CollectedDetails::default();
            pipeline()
                .analyze_in_steps(source, reading, &options, &observer, &mut collected)
                .map_err(|error| explained(error, &target))
                .and_then(|analysis| {
                    let inlines = options.names.inlines;
                    let out = HotspotStream::new(out, inlines);
                    let written = write_filtered(analysis, functions, inlines, collected, out);
                    written.with_context(|| target.failed())?
                })
        }
    };
    progress.clear();
    let mut analysis = written?;
    analysis.timings.ended("print");
    if job.timings {
        eprint!("{}", timings_text(&analysis.timings, analysis.profile.locations.len()));
    }
    write_statistics(&analysis, &target, job.statistics, (!job.quiet).then_some(job.verbose))?;
    if !job.quiet {
        print_not_kept(&analysis);
    }
    let disorder = |finding: &Finding| matches!(finding, Finding::RoundsMissing { .. });
    if reading.pending_bytes.is_some() && has(&analysis.findings, disorder) {
        return Err(BufferTooSmall.into());
    }
    let outcome = outcome(&analysis);
    // The process ends here; dropping the tables would take a while.
    std::mem::forget(analysis);
    Ok(outcome)
}

/// Writes the stream of a recording.
///
/// # Errors
/// As for [`Pipeline::analyze_in_steps`].
pub(crate) fn write_stream(
    pipeline: &Pipeline,
    source: Source,
    reading: StreamOptions,
    options: &Options,
    progress: Arc<dyn Observer>,
    out: Out,
) -> Result<Analysis, Error> {
    let stream = SharedStream::new(HotspotStream::new(out, options.names.inlines));
    let observer: Arc<dyn Observer> = Arc::new(StreamObserver { progress, stream: stream.clone() });
    let mut growth = StreamOutput::new(stream.clone());
    let analysis = pipeline.analyze_in_steps(source, reading, options, &observer, &mut growth)?;
    let mut details = growth.into_details();
    add_disorder(&mut details, &analysis.findings);
    stream
        .with(|stream| {
            stream.finish(&analysis.profile, &details)?;
            stream.output().complete()
        })
        .map_err(Error::Output)?;
    Ok(analysis)
}

/// Writes the stream of a complete recording with the samples and functions that filters leave.
/// The inner error is about the filters, the outer one about the output.
fn write_filtered(
    mut analysis: Analysis,
    functions: &FunctionArgs,
    inlines: bool,
    collected: CollectedDetails,
    mut stream: HotspotStream<Out>,
) -> io::Result<anyhow::Result<Analysis>> {
    if let Err(error) = filter_functions(&mut analysis.profile, functions, inlines) {
        return Ok(Err(error));
    }
    let profile = &analysis.profile;
    let mut details = collected.into_details();
    add_disorder(&mut details, &analysis.findings);
    stream.begin(profile, &details)?;
    stream.samples(profile, &details, profile.samples.len())?;
    stream.finish(profile, &details)?;
    stream.output().complete()?;
    Ok(Ok(analysis))
}

/// Converts an error of the run to the form that users of this stream expect.
fn explained(error: Error, target: &OutputTarget) -> anyhow::Error {
    match error {
        Error::UnknownProcessor => NoArchitecture.into(),
        Error::Output(error) => anyhow::Error::new(error).context(target.failed()),
        error => with_argument(error),
    }
}

fn outcome(analysis: &Analysis) -> HotspotOutcome {
    let machine = analysis.head.as_ref().map(|head| head.machine());
    HotspotOutcome {
        status: if analysis.is_damaged { Status::Damaged } else { Status::Complete },
        completeness: Completeness::of(&analysis.profile),
        samples: analysis.profile.samples.len() as u64,
        filtered: analysis.profile.summary.samples_filtered,
        rejected: analysis.rejected.clone(),
        arch: machine.and_then(|it| it.arch.filter(|_| it.source != MachineSource::Nothing)),
        peer_broke: has(&analysis.findings, |it| matches!(it, Finding::StreamBroken { .. })),
    }
}

/// The summary: as the output itself, or on standard error, with all details if `verbose`; `None` for none.
fn write_statistics(
    analysis: &Analysis,
    target: &OutputTarget,
    statistics: bool,
    verbose: Option<bool>,
) -> anyhow::Result<()> {
    if statistics {
        let mut text = Vec::new();
        write_summary(&analysis.profile, &mut text)?;
        target.write_all(&text)?;
    } else if let Some(verbose) = verbose {
        print_summary(&summary_text(analysis, verbose)?);
    }
    Ok(())
}

/// Reports records that could not be sorted.
fn add_disorder(details: &mut Details, found: &Findings) {
    let disorder =
        |it: &Finding| matches!(it, Finding::OutOfOrder { .. } | Finding::RoundsMissing { .. });
    let groups = found.iter().filter_map(|group| group.examples.first());
    for finding in groups.filter(|finding| disorder(finding)) {
        let (kind, message) = (ErrorKind::TimeOrder, finding.to_string());
        details.errors.push(ErrorRow { kind, message });
    }
}

fn has(found: &Findings, wanted: impl Fn(&Finding) -> bool) -> bool {
    found.iter().filter_map(|group| group.examples.first()).any(wanted)
}
