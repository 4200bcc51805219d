//! `unwind-perf tui`: the interactive view on a terminal, of a recording or of a stream while it grows.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

use address::{ModuleId, Svma};
use anyhow::{Context as _, bail};
use host::Host;
use pipeline::{
    Analysis, Demangle, Error, FileSearch, Grown, Observer, Options, RecallNeeds, Schedule, Sink,
    SourceFiles, StreamOptions, Ticks,
};
use profile::Profile;
use profile::query::FoldedFrames;
use tui::{Code, Feed, Instruction, Update, ViewOptions};

use super::analyzed::analyzed;
use super::no_samples::no_samples_advice;
use super::profile::{TABLES, is_stream, on_pool};
use crate::args::{RunOptions, TuiArgs, host, pipeline, source, with_argument};
use crate::terminal::{Completeness, Progress, Status, has_colors, print_damage, timings_text};
use options::Weight;

/// Said of a stream of which samples were dropped.
const DROPPED: &str = "earlier samples were dropped, their tables exceeded 1 GiB";

/// Limit on the bytes of the tables of a stream, apart from its samples. Beyond it, all samples so far are dropped, and
/// the view begins again with those that follow.
const TABLE_BYTES: u64 = 1 << 30;

/// Shows the recording until the user closes the view.
pub(super) fn run(args: &TuiArgs) -> anyhow::Result<Status> {
    check_terminal(args)?;
    let input = args.input.path()?;
    let mut run = args.run.options_with(&args.sources.source_dir)?;
    run.weigh_by(&args.weight);
    run.refuse_fields(TABLES)?;
    run.refuse_spans(TABLES)?;
    let RunOptions { options, .. } = run;
    let folded = args.weight.folded(FoldedFrames::Kernel)?;
    let off_cpu = args.weight.weight() == Weight::OffCpu || options.off_cpu;
    let options = Options { off_cpu, ..options };
    let view = ViewOptions {
        title: input.file_name().unwrap_or(input.as_os_str()).to_string_lossy().into_owned(),
        inlines: options.names.inlines,
        colors: has_colors(),
        weight: args.weight.weight(),
        filter: args.run.functions.query_filter(),
        full_names: args.run.symbols.demangle.is_some(),
    };
    host::restore_before_end(tui::restore_terminal);
    if is_stream(input) && !off_cpu {
        growing(args, input, &options, view)
    } else {
        whole(args, input, &options, view, folded)
    }
}

/// Refuses what is not a terminal, before the recording is read.
fn check_terminal(args: &TuiArgs) -> anyhow::Result<()> {
    if args.run.output.is_some() {
        bail!("tui writes no file; use unwind-perf top or unwind-perf tree with -o FILE");
    }
    if !io::stdout().is_terminal() {
        bail!("standard output is not a terminal; use unwind-perf top or unwind-perf tree");
    }
    let term = std::env::var_os("TERM").unwrap_or_default();
    if term.is_empty() || term == "dumb" {
        bail!(
            "the terminal (TERM={}) cannot be drawn on; use unwind-perf top or unwind-perf tree",
            term.display()
        );
    }
    Ok(())
}

/// Shows a recording that is read first.
fn whole(
    args: &TuiArgs,
    input: &Path,
    options: &Options,
    view: ViewOptions,
    folded: Option<FoldedFrames>,
) -> anyhow::Result<Status> {
    let progress = Arc::new(Progress::new(args.run.quiet, args.run.progress_lines));
    let observer: Arc<dyn Observer> = progress.clone();
    let analysis = on_pool(options.limits.threads(), || {
        let needs = RecallNeeds::Files;
        analyzed(&pipeline(), input, options, needs, &args.run, &observer).map_err(with_argument)
    });
    progress.clear();
    let mut analysis = analysis?;
    if let Some(nothing) = no_samples_advice(&analysis, &options.samples) {
        bail!(nothing);
    }
    if let Some(frames) = folded {
        analysis.profile.fold_waits(frames);
    }
    let (feed, shown) = Feed::new();
    let read = ReadThrough::of(&analysis.profile);
    let analysis = hand_over(&feed, analysis, options);
    tui::run(view, shown).context("cannot use the terminal")?;
    Ok(end(args, &analysis, read))
}

/// Shows a stream while it grows.
fn growing(
    args: &TuiArgs,
    input: &Path,
    options: &Options,
    view: ViewOptions,
) -> anyhow::Result<Status> {
    let (feed, shown) = Feed::new();
    let observer: Arc<dyn Observer> = Arc::new(Reading { feed: feed.clone() });
    feed.send(Update::Progress("waiting for samples".to_owned()));
    feed.send(Update::Code(Box::new(GrowingCode { files: options.files.clone(), host: host() })));
    let read = || -> anyhow::Result<(Arc<Analysis>, ReadThrough)> {
        let ticks = Ticks { max_age: None, table_bytes: TABLE_BYTES, ..Ticks::default() };
        let stream = StreamOptions::by(Schedule::Ticks(ticks));
        let mut sink = GrowingView { feed: feed.clone(), has_dropped: false, is_behind: false };
        let analysis = on_pool(options.limits.threads(), || {
            let source = source(input);
            let run = pipeline().analyze_in_steps(source, stream, options, &observer, &mut sink);
            run.map_err(with_argument)
        });
        match analysis {
            Ok(analysis) => {
                let read = ReadThrough::of(&analysis.profile);
                let analysis = hand_over(&feed, analysis, options);
                feed.send(Update::Ended);
                if sink.has_dropped {
                    feed.send(Update::Progress(DROPPED.to_owned()));
                }
                Ok((analysis, read))
            }
            Err(error) => {
                feed.send(Update::Progress(format!("ended: {error:#}")));
                Err(error)
            }
        }
    };
    let (shown, read) = std::thread::scope(|scope| {
        let reader = scope.spawn(read);
        let shown = tui::run(view, shown);
        (shown, reader.join())
    });
    shown.context("cannot use the terminal")?;
    let Ok(read) = read else { bail!("the recording could not be read to its end") };
    match read {
        Ok((analysis, read)) => Ok(end(args, &analysis, read)),
        Err(error) if is_cancelled(&error) => {
            if args.run.timings {
                eprintln!("no timings: the view was closed before the recording ended");
            }
            Ok(Status::Complete)
        }
        Err(error) => Err(error),
    }
}

/// Sends the profile and access to its code to the view. Returns the rest of the analysis.
fn hand_over(feed: &Feed, mut analysis: Analysis, options: &Options) -> Arc<Analysis> {
    let profile = Box::new(std::mem::take(&mut analysis.profile));
    let analysis = Arc::new(analysis);
    let code = AnalysisCode {
        analysis: Arc::clone(&analysis),
        files: options.files.clone(),
        local: host(),
        demangle: options.names.demangle.unwrap_or(Demangle::Short),
    };
    feed.send(Update::Code(Box::new(code)));
    feed.send(Update::Profile(profile));
    analysis
}

/// Facts of a profile that was handed over to the view.
struct ReadThrough {
    completeness: Completeness,
    /// Number of addresses.
    addresses: usize,
}

impl ReadThrough {
    fn of(profile: &Profile) -> Self {
        Self { completeness: Completeness::of(profile), addresses: profile.locations.len() }
    }
}

/// Prints the timings, and returns the status after the view was closed.
fn end(args: &TuiArgs, analysis: &Analysis, read: ReadThrough) -> Status {
    if args.run.timings {
        eprint!("{}", timings_text(&analysis.timings, read.addresses));
    }
    if analysis.is_damaged {
        print_damage(analysis);
    }
    let status = if analysis.is_damaged { Status::Damaged } else { Status::Complete };
    read.completeness.judge(args.run.fail_if_incomplete.as_ref(), status)
}

fn is_cancelled(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref::<Error>(), Some(Error::Cancelled)))
}

/// Ends the run when the view is closed.
#[derive(Debug)]
struct Reading {
    feed: Feed,
}

impl Observer for Reading {
    fn is_cancelled(&self) -> bool {
        self.feed.is_closed()
    }
}

/// Sends copies of a growing profile to the view, one when the former is shown.
struct GrowingView {
    feed: Feed,
    /// Whether the tables exceeded [`TABLE_BYTES`].
    has_dropped: bool,
    /// Whether the view was busy at the last output.
    is_behind: bool,
}

impl Sink for GrowingView {
    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        let account = grown.account;
        self.has_dropped = grown.generation > 0;
        self.is_behind = !self.feed.is_ready();
        let text = progress_text(account.bytes, account.lost_samples, self.has_dropped);
        self.feed.send(Update::Progress(text));
        if !self.is_behind {
            self.feed.send(Update::Profile(Box::new(grown.profile.clone())));
        }
        Ok(())
    }

    fn is_behind(&self) -> bool {
        self.is_behind && self.feed.is_ready()
    }

    fn is_enough(&self) -> bool {
        self.feed.is_closed()
    }
}

fn progress_text(bytes: u64, lost_samples: u64, has_dropped: bool) -> String {
    let mut text = format!("reading, {} MB", bytes >> 20);
    if lost_samples > 0 {
        text += &format!(", {lost_samples} lost");
    }
    if has_dropped {
        text += &format!("; {DROPPED}");
    }
    text
}

/// Source of a recording that is being read.
struct GrowingCode {
    files: FileSearch,
    host: Arc<dyn Host>,
}

impl Code for GrowingCode {
    fn source(&self, file: &[u8]) -> Option<Vec<u8>> {
        SourceFiles::new(&self.files, &*self.host).text(file)
    }

    fn instructions(&self, _: ModuleId, _: u64) -> Result<Vec<Instruction>, String> {
        Err("they are shown when the recording ended".to_owned())
    }
}

/// Source and instructions of an analysed recording.
struct AnalysisCode {
    analysis: Arc<Analysis>,
    files: FileSearch,
    local: Arc<dyn Host>,
    /// The form of the names of functions that code calls.
    demangle: Demangle,
}

impl Code for AnalysisCode {
    fn source(&self, file: &[u8]) -> Option<Vec<u8>> {
        self.analysis.source_files(&self.files, &*self.local).text(file)
    }

    fn instructions(&self, module: ModuleId, start: u64) -> Result<Vec<Instruction>, String> {
        let found = self.analysis.code().instructions(module, Svma(start));
        let mut found = found.map_err(|error| error.to_string())?;
        self.analysis.name_targets(module, &mut found, self.demangle);
        let instruction = |it: pipeline::Instruction| Instruction {
            address: it.address.0,
            len: it.len,
            text: it.text,
        };
        Ok(found.into_iter().map(instruction).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_samples_are_said_in_the_progress() {
        assert_eq!(progress_text(5 << 20, 0, false), "reading, 5 MB");
        assert_eq!(
            progress_text(5 << 20, 3, true),
            "reading, 5 MB, 3 lost; earlier samples were dropped, their tables exceeded 1 GiB"
        );
    }
}
