//! `unwind-perf diff`: differences between recordings.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use formats::{DiffFormat, DiffGate, DiffPrintOptions, StackWeight, diff_function_name};
use host::Origin;
use options::{Normalization, Percent};
use pipeline::{Analysis, Observer, Options, Pipeline, RecallNeeds};
use profile::query::diff::{Change, Diff, DiffError, DiffInput, DiffMethod, DiffOptions, diff};

use super::analyzed::analyzed;
use super::extensions::refuse_unknown;
use super::no_samples::no_samples_advice;
use super::profile::on_pool;
use crate::args::{DiffArgs, RunOptions, host, pipeline, with_argument};
use crate::function_filter::filter_functions;
use crate::terminal::{
    Completeness, Inputs, OutputTarget, Progress, Status, console_look, print_error, print_to,
    shown, timings_text,
};

/// Compares recordings.
pub(super) fn run(args: &DiffArgs) -> anyhow::Result<Status> {
    let sides = args.sides()?;
    let format = format(args)?;
    let run = args.run.options()?;
    run.refuse_fields("a comparison")?;
    run.refuse_spans("a comparison")?;
    on_pool(run.options.limits.threads(), || run_on_pool(args, run, &sides, format))
}

/// Returns the requested format, or the one that the file's ending selects.
fn format(args: &DiffArgs) -> anyhow::Result<DiffFormat> {
    let by_ending = || DiffFormat::from_path(args.run.output.as_deref()?);
    let format = args.format.or_else(by_ending).unwrap_or(DiffFormat::Text);
    if let Some(option) = args.without_effect(format) {
        bail!("{option} has no effect on the format {}", format.name());
    }
    let to_terminal = args.run.output.is_none() && std::io::stdout().is_terminal();
    if to_terminal && format.is_binary() {
        bail!("{} is binary and is not written to a terminal; add -o FILE", format.name());
    }
    Ok(format)
}

fn run_on_pool(
    args: &DiffArgs,
    run: RunOptions,
    sides: &[Vec<&Path>; 2],
    format: DiffFormat,
) -> anyhow::Result<Status> {
    let off_cpu = args.weight.weight() == StackWeight::OffCpu || run.options.off_cpu;
    let options = Options { off_cpu, ..run.options };
    let inputs = sides.iter().flatten().map(|path| Inputs::new(path, &options, &run.map_files));
    let inputs = inputs.reduce(Inputs::and).unwrap_or_default();
    let output = args.run.output.as_deref().map(|path| file_in(path, format));
    let target = OutputTarget::new(output.as_deref(), &inputs)?;
    if let (None, Some(path)) = (args.format, &output)
        && DiffFormat::from_path(path).is_none()
    {
        let endings: Vec<&str> = DiffFormat::ALL.iter().map(|format| format.ending()).collect();
        refuse_unknown(path, &endings)?;
    }
    let mut loader = Loader::new(args, options);
    let mut load = |side: DiffSide| -> anyhow::Result<Vec<(String, Analysis)>> {
        loader.select(side);
        sides[side as usize].iter().map(|path| loader.load(path)).collect()
    };
    let (before, after) = (load(DiffSide::Before)?, load(DiffSide::After)?);
    loader.progress.begin("comparing");
    let inlines = loader.options.names.inlines;
    let compared = compare(args, inlines, &before, &after);
    loader.progress.clear();
    let compared = compared?;
    let judged = args.fail_above.as_ref().map(|limit| judge(&compared, args.inclusive(), limit));
    let print = DiffPrintOptions {
        inclusive: args.inclusive(),
        limit: args.rows(),
        look: console_look(args.run.output.is_none()),
        gate: judged.as_ref().map(|(gate, _)| *gate),
    };
    print_to(&target, |out| format.print(&compared, print, out))?;
    let mut status = loader.status;
    if let Some((gate, lines)) = judged {
        lines.iter().for_each(|line| print_error(line));
        if gate != DiffGate::Passed {
            status = Status::Changed;
        }
    }
    // The process ends here; dropping the tables would take time.
    std::mem::forget((before, after, compared));
    Ok(status)
}

/// Returns the path to write: in a folder, a new file with the usual ending of the format.
fn file_in(path: &Path, format: DiffFormat) -> PathBuf {
    if host().is_dir(path, Origin::User) {
        return path.join(format!("diff{}", format.ending()));
    }
    path.to_owned()
}

/// A side of the comparison.
#[derive(Clone, Copy)]
enum DiffSide {
    Before,
    After,
}

/// Analyses recordings, and remembers the worst status.
struct Loader<'a> {
    args: &'a DiffArgs,
    options: Options,
    pipeline: Pipeline,
    progress: Arc<Progress>,
    status: Status,
}

impl<'a> Loader<'a> {
    fn new(args: &'a DiffArgs, options: Options) -> Self {
        let progress = Arc::new(Progress::new(args.run.quiet, args.run.progress_lines));
        Self { args, options, pipeline: pipeline(), progress, status: Status::Complete }
    }

    /// Selects the samples of a side of `--slow`: those inside spans up to the limit, or inside longer ones.
    fn select(&mut self, side: DiffSide) {
        let Some(limit) = &self.args.slow else { return };
        let spans = &mut self.options.spans;
        (spans.up_to, spans.longer_than) = match side {
            DiffSide::Before => (Some(limit.clone()), None),
            DiffSide::After => (None, Some(limit.clone())),
        };
    }

    /// Returns the name of a recording, with its spans if there are several kinds.
    fn name(&self, path: &Path) -> String {
        let name = path.display();
        let spans = &self.options.spans;
        let inside = spans.inside.as_deref().unwrap_or_default();
        match (&spans.up_to, &spans.longer_than) {
            _ if self.args.slow.is_none() => name.to_string(),
            (Some(limit), _) => format!("{name}, {inside} up to {limit}"),
            (_, Some(limit)) => format!("{name}, {inside} longer than {limit}"),
            (None, None) => name.to_string(),
        }
    }

    /// Analyses a recording; returns its name as well. Files that were opened for one recording are reused for the
    /// next.
    fn load(&mut self, path: &Path) -> anyhow::Result<(String, Analysis)> {
        let run = &self.args.run;
        let name = self.name(path);
        let observer: Arc<dyn Observer> = self.progress.clone();
        let needs = RecallNeeds::Profile;
        let analysis = analyzed(&self.pipeline, path, &self.options, needs, run, &observer);
        let analysis = analysis.map_err(with_argument);
        self.progress.clear();
        let mut analysis = analysis?;
        if let Some(nothing) = no_samples_advice(&analysis, &self.options.samples) {
            return Err(anyhow::Error::new(nothing).context(name));
        }
        let inlines = self.options.names.inlines;
        filter_functions(&mut analysis.profile, &run.functions, inlines)
            .with_context(|| shown(&name))?;
        if run.timings {
            let timings = timings_text(&analysis.timings, analysis.profile.locations.len());
            eprint!("{}:\n{timings}", shown(&name));
        }
        if analysis.is_damaged {
            print_error(&format!(
                "{name} is damaged, or names are missing in it; unwind-perf {name} tells more",
                name = shown(&name)
            ));
            self.status = Status::Damaged;
        }
        let completeness = Completeness::of(&analysis.profile);
        self.status = completeness.judge(run.fail_if_incomplete.as_ref(), self.status);
        Ok((name, analysis))
    }
}

fn compare(
    args: &DiffArgs,
    inlines: bool,
    before: &[(String, Analysis)],
    after: &[(String, Analysis)],
) -> anyhow::Result<Diff> {
    let options = DiffOptions {
        normalization: args.normalize.or(args.slow.as_ref().map(|_| Normalization::Share)),
        exact_names: args.exact_names,
        inlines,
        pairs: &args.pairs,
    };
    let compared = diff(&named(before), &named(after), options).map_err(|error| {
        let hint = match &error {
            DiffError::DifferentUnits { .. } => ": --normalize samples",
            _ => "",
        };
        anyhow::Error::msg(format!("{error}{hint}"))
    })?;
    if args.fail_above.is_some() && compared.method == DiffMethod::Unknown {
        bail!("--fail-above needs one recording on each side, or three or more on each");
    }
    Ok(compared)
}

fn named(side: &[(String, Analysis)]) -> Vec<DiffInput<'_>> {
    side.iter().map(|(name, analysis)| DiffInput { name, profile: &analysis.profile }).collect()
}

/// The gate is undecided if a larger share of a side is not compared.
const UNDECIDED_ABOVE: f64 = 0.05;

/// Returns the verdict of `--fail-above` and its lines for standard error.
/// If more than [`UNDECIDED_ABOVE`] of a side is not compared, the gate is undecided and the lines name that side.
/// Otherwise the lines list the marked functions that grew by a larger share of the baseline's total than `limit`.
fn judge(diff: &Diff, inclusive: bool, limit: &Percent) -> (DiffGate, Vec<String>) {
    let sides = ["BEFORE", "AFTER"].into_iter().zip(diff.not_compared_shares());
    let undecided = sides.filter(|&(_, share)| share > UNDECIDED_ABOVE).map(|(side, share)| {
        format!("gate not decided: {:.1} % of {side} not compared", 100.0 * share)
    });
    let lines: Vec<String> = undecided.collect();
    if !lines.is_empty() {
        return (DiffGate::Undecided, lines);
    }
    let ranked = diff.ranked(inclusive);
    let too_much = ranked.into_iter().filter_map(|(_, row)| {
        let change: Change = if inclusive { row.inclusive } else { row.own };
        let part = change.delta() / diff.total.before.value;
        let what = if inclusive { "including its callees" } else { "by itself" };
        (change.marked && part > limit.share()).then(|| {
            format!(
                "{} costs more {what}: {:+.2} % of the total before, more than the {limit} % of --fail-above",
                diff_function_name(diff, row),
                100.0 * part,
            )
        })
    });
    let lines: Vec<String> = too_much.collect();
    let gate = if lines.is_empty() { DiffGate::Passed } else { DiffGate::Failed };
    (gate, lines)
}
