//! The main job and the pictures: a recording becomes a profile, and the profile an output.

mod account;
mod lines;
mod tables;

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use formats::{
    Format, FormatOptions, GrowingSamples, Printer, ScriptFields, StackWeight, TopTable,
};
use host::{FreedMemory, Origin};
use pipeline::{Analysis, Observer, Options, RecallNeeds, StreamOptions};
use profile::Profile;
use profile::query::FoldedFrames;

use self::account::{Summary, print_account};
pub(super) use self::lines::is_stream;
use self::lines::print_lines;
pub(super) use self::tables::{spans, top, tree};
use super::analyzed::analyzed;
use super::no_samples::{no_samples_advice, no_samples_advice_of};
use super::page::{Embedded, EmbeddedSources, page};
#[cfg(feature = "flamegraph")]
use crate::args::FlamegraphArgs;
use crate::args::{GroupedBy, MainArgs, ReportArgs, RunArgs, RunOptions, host, pipeline, source};
use crate::function_filter::filter_functions;
use crate::hotspot;
use crate::terminal::{
    Inputs, OutputTarget, PictureFile, Progress, Status, console_look, is_plain, output_path,
    print_error, print_note, print_profile, to_terminal,
};

/// A run: its input, its output and its options.
pub(super) struct ProfileJob<'a> {
    pub(super) input: &'a Path,
    pub(super) output: OutputFile,
    /// Contents of a page in addition to the tables.
    pub(super) embedded: Embedded,
    /// The user's name for the recorded service.
    pub(super) service_name: Option<&'a str>,
    /// True to leave the browser closed.
    pub(super) no_open: bool,
    pub(super) run: RunOptions,
    /// The frames of times off the processor that the output omits.
    pub(super) folded: Option<FoldedFrames>,
    /// The arguments of the command that are not options of the run.
    pub(super) args: &'a RunArgs,
}

/// Kind of output.
pub(super) enum OutputFile {
    /// A format.
    Format(Format, FormatOptions),
    /// A table for people, and the weight of its samples if it counts those of one event.
    Table(Box<dyn Printer + Send>, Option<StackWeight>),
}

impl OutputFile {
    /// Returns whether inlined functions are separate frames; `None` if the output is not the page.
    const fn page_inlines(&self) -> Option<bool> {
        match self {
            Self::Format(Format::Report, options) => Some(options.inlines),
            _ => None,
        }
    }

    /// Returns the parts of a result that the output needs. A page shows instructions and source files.
    const fn needs(&self) -> RecallNeeds {
        if self.page_inlines().is_some() { RecallNeeds::Files } else { RecallNeeds::Profile }
    }

    /// Returns the weight of samples.
    const fn weight(&self) -> StackWeight {
        match self {
            Self::Format(_, options) => options.weight,
            Self::Table(_, Some(weight)) => *weight,
            Self::Table(_, None) => StackWeight::Samples,
        }
    }
}

/// Number of rows of the table on a terminal.
const ROWS: usize = 20;

/// Outputs without a place for the values of fields.
pub(super) const TABLES: &str = "tables";

/// Minimum size, in bytes, of recordings that return freed tables to the system.
/// This takes a seventh less memory and 2 % more processor time, which shorter recordings avoid.
const LARGE: u64 = 2 << 30;
/// Maximum size, in bytes, of recordings that retain freed memory for later tables.
/// This takes 3.5 % less processor time (a compile of 78 MB, 61 pairs) and a few MB more memory.
/// Longer recordings gain nothing by it.
const SMALL: u64 = 256 << 20;

/// Runs the main job.
pub(super) fn main(args: &MainArgs) -> anyhow::Result<Status> {
    let by_ending = || Format::from_path(args.run.output.as_deref()?);
    let chosen = args.format.or_else(by_ending);
    let to_terminal = args.run.output.is_none() && to_terminal();
    let input = args.input.path()?;
    let format = chosen.unwrap_or(Format::Json);
    let mut run = args.run.options()?;
    run.weigh_by(&args.folded.weight);
    run.group_by("--root", args.folded.root.as_ref());
    let fields = select_fields(&mut run.options, args, format);
    if format == Format::PerfScript {
        run.options.names.demangle.get_or_insert(format.usual_names());
    }
    let options = FormatOptions {
        fields,
        rows: args.exchange.rows,
        stacks: args.exchange.stacks,
        ..args.folded.format_options(&run.options)
    };
    let output = match chosen {
        None if to_terminal => {
            let StackWeight::Samples = options.weight else {
                bail!(
                    "--weight needs a format that adds samples up: choose one with --format, or use unwind-perf top"
                )
            };
            let (inlines, weight) = (options.inlines, options.weight);
            let look = console_look(true).with_names(run.options.names.demangle);
            let table = TopTable { limit: ROWS, ..TopTable::new(inlines, weight, look) };
            OutputFile::Table(Box::new(table), Some(weight))
        }
        Some(format) if to_terminal && format.is_binary() => {
            bail!("{} is binary and is not written to a terminal; add -o FILE", format.name())
        }
        _ => OutputFile::Format(format, options),
    };
    let mut without_effect = args.folded.without_effect(format);
    without_effect.extend(args.exchange.without_effect(format));
    if args.script.fields.is_some() && format != Format::PerfScript {
        without_effect.push("--fields");
    }
    if args.no_open && PictureFile::new(input, format).is_none() {
        without_effect.push("--no-open");
    }
    if let Some(option) = without_effect.first() {
        bail!("{option} has no effect on the format {}", format.name());
    }
    if args.exchange.stacks {
        run.leave_names_to_symbolize(&args.run.functions)?;
    }
    let service_name = args.exchange.service_name.as_deref();
    let (embedded, no_open) = (Embedded::default(), args.no_open);
    let folded = args.folded.weight.folded(FoldedFrames::Kernel)?;
    let folded = folded.filter(|_| format.shows_one_event());
    let args = &args.run;
    ProfileJob { input, output, embedded, service_name, no_open, run, folded, args }.run()
}

/// Adds the fields of the arguments to the selected ones. Returns the fields of perf-script, which include their values.
fn select_fields(options: &mut Options, args: &MainArgs, format: Format) -> ScriptFields {
    let has_labels = !options.labels.is_empty() || !options.values.is_empty();
    let selection = &mut options.with_fields;
    let fields = args.script.fields.unwrap_or(ScriptFields::DEFAULT);
    selection.patterns.extend_from_slice(&args.exchange.with_fields);
    if format == Format::PerfScript && fields.has(ScriptFields::TRACE) {
        options.trace_text = true;
    }
    if format == Format::PerfScript && fields.has(ScriptFields::BRANCHES) {
        options.branches = true;
    }
    let has_values = has_labels || !selection.is_empty();
    if format == Format::PerfScript {
        selection.patterns.extend(fields.memory().map(str::to_owned));
    }
    if has_values { fields.with_trace() } else { fields }
}

/// Draws a flame graph.
#[cfg(feature = "flamegraph")]
pub(super) fn flamegraph(args: &FlamegraphArgs) -> anyhow::Result<Status> {
    let mut run = args.run.options()?;
    run.weigh_by(&args.folded.weight);
    run.group_by("--root", args.folded.root.as_ref());
    let options =
        FormatOptions { inverted: args.inverted, ..args.folded.format_options(&run.options) };
    let output = fixed(Format::Flamegraph, options, &args.run)?;
    let (input, no_open) = (args.input.path()?, args.no_open);
    let embedded = Embedded::default();
    let folded = args.folded.weight.folded(FoldedFrames::Kernel)?;
    let (service_name, args) = (None, &args.run);
    ProfileJob { input, output, embedded, service_name, no_open, run, folded, args }.run()
}

/// Writes a page for a browser.
pub(super) fn report(args: &ReportArgs) -> anyhow::Result<Status> {
    let mut run = args.run.options_with(&args.sources.source_dir)?;
    run.options.with_fields.patterns.extend_from_slice(&args.with_fields);
    let options = FormatOptions {
        inlines: run.options.names.inlines,
        weight: args.weight.weight(),
        ..FormatOptions::DEFAULT
    };
    let output = fixed(Format::Report, options, &args.run)?;
    let sources = match (args.embed_sources, args.no_sources) {
        (true, _) => EmbeddedSources::All,
        (false, true) => EmbeddedSources::None,
        (false, false) => EmbeddedSources::Own,
    };
    let embedded = Embedded { sources, code: !args.no_code };
    let (input, no_open) = (args.input.path()?, args.no_open);
    let (service_name, folded, args) = (None, None, &args.run);
    ProfileJob { input, output, embedded, service_name, no_open, run, folded, args }.run()
}

/// Returns the output of a command with a single format. Refuses a file with the ending of another format.
fn fixed(format: Format, options: FormatOptions, args: &RunArgs) -> anyhow::Result<OutputFile> {
    let path = args.output.as_deref();
    let by_ending = path.and_then(Format::from_path).filter(|&other| other != format);
    if let (Some(other), Some(path)) = (by_ending, path) {
        let (name, other, ending) = (format.name(), other.name(), format.endings().first());
        bail!(
            "{} is named like the format {other}, and this command writes {name} (FILE{}); for {other}: unwind-perf \
             PERF_DATA -o {}",
            path.display(),
            ending.unwrap_or(&""),
            path.display(),
        );
    }
    Ok(OutputFile::Format(format, options))
}

impl ProfileJob<'_> {
    /// Runs it.
    pub(super) fn run(self) -> anyhow::Result<Status> {
        match &self.output {
            OutputFile::Format(format, _) => {
                self.run.check_redaction(Some(*format))?;
                let name = format!("the format {}", format.name());
                if !format.has_fields() {
                    self.run.refuse_fields(&name)?;
                }
                if !format.has_spans() {
                    self.run.refuse_spans(&name)?;
                }
            }
            OutputFile::Table(..) => {
                self.run.check_redaction(None)?;
                self.run.refuse_fields(TABLES)?;
                self.run.refuse_spans(TABLES)?;
            }
        }
        let threads = self.run.options.limits.threads();
        choose_freed_memory(self.input);
        on_pool(threads, || match self.output {
            OutputFile::Format(Format::Hotspot, _) => {
                let RunOptions { options, map_files, .. } = self.run;
                let filters = options.samples.clone();
                let output = hotspot::HotspotJob {
                    source: source(self.input),
                    options,
                    stream: StreamOptions::default(),
                    output: self.args.output.as_deref(),
                    functions: Some(&self.args.functions).filter(|filters| !filters.is_empty()),
                    map_files: &map_files,
                    quiet: self.args.quiet,
                    verbose: self.args.verbose,
                    progress_lines: self.args.progress_lines,
                    timings: self.args.timings,
                    statistics: false,
                };
                let outcome = hotspot::run(output)?;
                let hotspot::HotspotOutcome { mut status, completeness, samples, .. } = outcome;
                let nothing =
                    no_samples_advice_of(samples, outcome.filtered, &outcome.rejected, &filters);
                if let Some(message) = nothing {
                    // The stream has been written by now.
                    print_error(&message);
                    status = Status::Incomplete;
                }
                Ok(completeness.judge(self.args.fail_if_incomplete.as_ref(), status))
            }
            _ => run_on_pool(self),
        })
    }
}

/// Chooses what happens to freed memory by the size of a recording.
pub(super) fn choose_freed_memory(recording: &Path) {
    if let Ok(input) = host().stat(recording, Origin::User) {
        match input.stamp.size {
            LARGE.. => FreedMemory::Returned.set(),
            // The length of a stream is unknown.
            1..SMALL => FreedMemory::Retained.set(),
            _ => {}
        }
    }
}

/// Runs `work` on a pool of `threads` threads; 0 means one per processor.
pub(crate) fn on_pool<T: Send>(
    threads: usize,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .context("cannot start threads")?;
    pool.install(work)
}

/// Adds off-CPU times to the options of a run if its output has them; a page has them if the recording shows them.
fn with_off_cpu(options: Options, is_weight: bool, is_page: bool) -> Options {
    let is_wanted = is_weight || options.off_cpu;
    let off_cpu_optional = options.off_cpu_optional || (is_page && !is_wanted);
    Options { off_cpu: is_page || is_wanted, off_cpu_optional, ..options }
}

/// Analyzes a recording, or finds the result of an equal earlier run, and applies the filters of functions.
fn finished(
    input: &Path,
    options: &Options,
    args: &RunArgs,
    grouped_by: Option<&GroupedBy>,
    needs: RecallNeeds,
    progress: &Arc<Progress>,
) -> anyhow::Result<Analysis> {
    let observer: Arc<dyn Observer> = progress.clone();
    let analysis = analyzed(&pipeline(), input, options, needs, args, &observer);
    let mut analysis = analysis.map_err(|error| GroupedBy::with_argument(grouped_by, error))?;
    if let Some(nothing) = no_samples_advice(&analysis, &options.samples) {
        progress.clear();
        bail!(nothing);
    }
    let profile = &mut analysis.profile;
    filter_functions(profile, &args.functions, options.names.inlines)
        .inspect_err(|_| progress.clear())?;
    if !args.functions.is_empty() {
        profile.retain_strings();
    }
    Ok(analysis)
}

/// Returns the printer of a format. The name of the output says whether it is compressed.
fn printer_of(format: Format, options: FormatOptions, args: &RunArgs) -> Box<dyn Printer> {
    let plain = is_plain(format, args.output.as_deref());
    format.printer(FormatOptions { plain, ..options })
}

fn run_on_pool(job: ProfileJob<'_>) -> anyhow::Result<Status> {
    let ProfileJob { input, output, embedded, service_name, no_open, run, folded, args } = job;
    let (page_inlines, off_cpu) = (output.page_inlines(), output.weight() == StackWeight::OffCpu);
    let needs = output.needs();
    if let OutputFile::Format(format, options) = &output
        && let Some(printer) = GrowingSamples::new(*format, options)
        && is_stream(input)
        && !off_cpu
        && !run.options.needs_whole_recording()
        && args.functions.is_empty()
    {
        return print_lines(input, *format, printer, run, args);
    }
    let (printer, one_event, format) = match output {
        OutputFile::Format(format, options) => {
            let one_event = format.shows_one_event().then_some(options.weight);
            (printer_of(format, options, args), one_event, Some(format))
        }
        OutputFile::Table(table, weight) => (table as Box<dyn Printer>, weight, None),
    };
    let path = args.output.as_deref().map(|path| match format {
        Some(format) => output_path(path, input, format),
        None => path.to_owned(),
    });
    let options = with_off_cpu(run.options, off_cpu, page_inlines.is_some());
    let inputs = Inputs::new(input, &options, &run.map_files);
    let target = OutputTarget::new(path.as_deref(), &inputs)?;
    let on_terminal = path.is_none() && to_terminal();
    let picture = format.filter(|_| on_terminal).and_then(|format| PictureFile::new(input, format));
    let progress = Arc::new(Progress::new(args.quiet, args.progress_lines));
    let grouped_by = run.grouped_by.as_ref();
    let mut analysis = finished(input, &options, args, grouped_by, needs, &progress)?;
    analysis.profile.recording.service = service_name.map(|name| name.as_bytes().into());
    if on_terminal && picture.is_none() {
        // The bar and the output would share lines.
        progress.clear();
    } else {
        progress.begin("writing");
    }
    let (printer, message): (Box<dyn Printer>, _) = match page_inlines {
        Some(inlines) => {
            let (page, message) = page(&analysis, input, &options, inlines, embedded);
            (Box::new(page), message)
        }
        None => (printer, None),
    };
    // A page is opened only after the bar is cleared; its name is output.
    let write = |profile: &Profile| match &picture {
        Some(picture) => picture.write(profile, &*printer).map(Some),
        None => print_profile(profile, &*printer, &target).map(|()| None),
    };
    let (written, summary) = written_and_summed_up(&mut analysis, folded, write, args);
    progress.clear();
    if let Some(written) = written? {
        written.announce(!no_open)?;
    }
    if let Some(message) = message.filter(|_| !args.quiet) {
        print_note(&message);
    }
    print_account(analysis, summary?, one_event, args)
}

/// Writes the output, without the frames of waits that `folded` selects, and makes the summary of all frames. If no
/// frames are removed, another thread makes the summary during the output.
fn written_and_summed_up<T>(
    analysis: &mut Analysis,
    folded: Option<FoldedFrames>,
    write: impl FnOnce(&Profile) -> T,
    args: &RunArgs,
) -> (T, io::Result<Summary>) {
    if let Some(frames) = folded {
        let removed = analysis.profile.fold_waits(frames);
        let written = write(&analysis.profile);
        analysis.profile.unfold_waits(removed);
        return (written, Summary::new(analysis, args));
    }
    let analysis = &*analysis;
    let mut summary = None;
    let written = rayon::in_place_scope(|scope| {
        scope.spawn(|_| summary = Some(Summary::new(analysis, args)));
        write(&analysis.profile)
    });
    (written, summary.unwrap_or_else(|| Summary::new(analysis, args)))
}
