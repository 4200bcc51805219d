//! `unwind-perf annotate`: source lines and instructions of a function with their costs.

use std::path::Path;
use std::sync::Arc;

use address::Svma;
use anyhow::bail;
use formats::{AnnotatedFunction, AnnotatedSource, ConsoleLook, StackWeight};
use options::TopFormat;
use pipeline::{Analysis, Demangle, FileSearch, NameOptions, Observer, Options, RecallNeeds};
use profile::query::{
    AddressCost, Annotation, Cost, FoldedFrames, FunctionMarks, FunctionQuery, Functions, Weights,
    address_costs, annotate, stack_costs,
};

use super::analyzed::analyzed;
use super::no_samples::no_samples_advice;
use super::profile::{TABLES, on_pool};
use profile::{StackId, StringId};

use super::sources::{not_found, plain_name};
use crate::args::{AnnotateArgs, RunOptions, host, pipeline, with_argument};
use crate::function_filter::filter_functions;
use crate::terminal::{
    Completeness, Inputs, OutputTarget, Progress, Status, console_look, print_damage,
    print_not_kept, print_other_events, print_summary, shown, summary_text, timings_text,
};

/// Maximum number of other functions with similar names that are listed.
const OTHERS: usize = 5;

/// Prints the function.
pub(super) fn run(args: &AnnotateArgs) -> anyhow::Result<Status> {
    let mut run = args.run.options_with(&args.sources.source_dir)?;
    run.weigh_by(&args.weight);
    run.refuse_fields(TABLES)?;
    run.refuse_spans(TABLES)?;
    on_pool(run.options.limits.threads(), || run_on_pool(args, run))
}

/// Returns the format of the arguments, else that of the output's ending.
fn format(args: &AnnotateArgs) -> TopFormat {
    let is_json = args.run.output.as_deref().and_then(Path::extension) == Some("json".as_ref());
    let usual = if is_json { TopFormat::Json } else { TopFormat::Text };
    args.format.unwrap_or(usual)
}

fn run_on_pool(args: &AnnotateArgs, run: RunOptions) -> anyhow::Result<Status> {
    let input = args.input.path()?;
    let off_cpu = args.weight.weight() == StackWeight::OffCpu || run.options.off_cpu;
    let options = Options { off_cpu, ..run.options };
    let inputs = Inputs::new(input, &options, &run.map_files);
    let target = OutputTarget::new(args.run.output.as_deref(), &inputs)?;
    let analysis = filtered_analysis(args, input, &options)?;
    let profile = &analysis.profile;
    let weights = Weights::new(profile, args.weight.weight());
    let stacks = stack_costs(profile, &weights);
    let functions = Functions::new(profile, true);
    let marks = FunctionMarks::new(profile, &functions.rows);
    let wanted = FunctionQuery { profile, functions: &functions, text: &args.function };
    let found = wanted.find(|is_wanted| annotate(profile, &stacks, &functions, is_wanted));
    let Some((function, others)) = found.split_first() else {
        bail!("no sampled function has {} in its name; unwind-perf top lists them", args.function);
    };
    let (instructions, addresses, why) = if args.no_code {
        (Vec::new(), Vec::new(), None)
    } else {
        code(&analysis, &stacks, function, &options.names)
    };
    let sources = sources(&analysis, function, &options.files);
    let names: Vec<_> = functions.rows.iter().map(|row| row.name).collect();
    let shown = PrintedFunction {
        function,
        marks: &marks,
        sources: &sources,
        instructions,
        addresses,
        names: &names,
        format: format(args),
        look: console_look(args.run.output.is_none()).with_names(options.names.demangle),
    };
    target.write_all(&text(&analysis, &weights, &shown)?)?;
    if args.run.timings {
        eprint!("{}", timings_text(&analysis.timings, profile.locations.len()));
    }
    if args.run.quiet {
        if analysis.is_damaged {
            print_damage(&analysis);
        }
    } else {
        print_summary(&summary_text(&analysis, args.run.verbose)?);
        print_not_kept(&analysis);
        print_other_events(profile, args.weight.weight());
        print(&analysis, others, &marks, &sources, why.as_deref());
    }
    Ok(status(&analysis, args))
}

/// Returns the analysis with the samples that the filters of functions leave.
fn filtered_analysis(
    args: &AnnotateArgs,
    input: &Path,
    options: &Options,
) -> anyhow::Result<Analysis> {
    let progress = Arc::new(Progress::new(args.run.quiet, args.run.progress_lines));
    let observer: Arc<dyn Observer> = progress.clone();
    let needs = if args.no_code { RecallNeeds::Profile } else { RecallNeeds::Files };
    let analysis = analyzed(&pipeline(), input, options, needs, &args.run, &observer);
    let mut analysis = analysis.map_err(with_argument)?;
    progress.clear();
    if let Some(nothing) = no_samples_advice(&analysis, &options.samples) {
        bail!(nothing);
    }
    let inlines = options.names.inlines;
    filter_functions(&mut analysis.profile, &args.run.functions, inlines)?;
    if let Some(frames) = args.weight.folded(FoldedFrames::Kernel)? {
        analysis.profile.fold_waits(frames);
    }
    Ok(analysis)
}

fn status(analysis: &Analysis, args: &AnnotateArgs) -> Status {
    let status = if analysis.is_damaged { Status::Damaged } else { Status::Complete };
    Completeness::of(&analysis.profile).judge(args.run.fail_if_incomplete.as_ref(), status)
}

/// Parts of the printed function.
struct PrintedFunction<'a> {
    function: &'a Annotation,
    marks: &'a FunctionMarks,
    sources: &'a [AnnotatedSource],
    instructions: Vec<(u64, u8, String)>,
    addresses: Vec<AddressCost>,
    names: &'a [Option<StringId>],
    look: ConsoleLook,
    format: TopFormat,
}

fn text(
    analysis: &Analysis,
    weights: &Weights,
    shown: &PrintedFunction<'_>,
) -> std::io::Result<Vec<u8>> {
    let printed = AnnotatedFunction {
        profile: &analysis.profile,
        weights,
        total: total(analysis, weights),
        function: shown.function,
        sources: shown.sources,
        instructions: &shown.instructions,
        addresses: &shown.addresses,
        marks: shown.marks,
        names: shown.names,
        look: shown.look,
    };
    let mut text = Vec::new();
    match shown.format {
        TopFormat::Json => printed.print_json(&mut text)?,
        _ => printed.print(&mut text)?,
    }
    Ok(text)
}

/// Total cost of all samples.
fn total(analysis: &Analysis, weights: &Weights) -> Cost {
    let weights = analysis.profile.samples.iter().filter_map(|row| weights.of(row));
    weights.map(|weight| Cost { samples: 1, weight }).sum()
}

/// Instructions of a function, the costs of their addresses, and the reason if the instructions cannot be shown.
type FunctionInstructions = (Vec<(u64, u8, String)>, Vec<AddressCost>, Option<String>);

fn code(
    analysis: &Analysis,
    stacks: &[(StackId, Cost)],
    function: &Annotation,
    names: &NameOptions,
) -> FunctionInstructions {
    let Some(&(place, _)) = function.code.first() else {
        let why = "the start of the function is unknown".to_owned();
        return (Vec::new(), Vec::new(), Some(why));
    };
    match analysis.code().instructions(place.0, Svma(place.1)) {
        Ok(mut instructions) => {
            let demangle = names.demangle.unwrap_or(Demangle::Short);
            analysis.name_targets(place.0, &mut instructions, demangle);
            let text = instructions.into_iter().map(|it| (it.address.0, it.len, it.text));
            (text.collect(), address_costs(&analysis.profile, stacks, place), None)
        }
        Err(error) => (Vec::new(), Vec::new(), Some(error.to_string())),
    }
}

/// Returns the source files that have lines of a function, the file of its declaration first.
fn sources(analysis: &Analysis, function: &Annotation, files: &FileSearch) -> Vec<AnnotatedSource> {
    let own = function.function.file;
    let mut names = vec![own];
    for line in function.lines.iter().filter(|line| line.line != 0 && line.file.is_some()) {
        if !names.contains(&line.file) {
            names.push(line.file);
        }
    }
    let local = host();
    let found = analysis.source_files(files, &*local);
    let source = |file: Option<StringId>| {
        let text = file.and_then(|file| found.text(analysis.profile.strings.get(file)));
        let lines =
            text.map(|text| String::from_utf8_lossy(&text).lines().map(str::to_owned).collect());
        AnnotatedSource { file, lines }
    };
    names.into_iter().map(source).collect()
}

/// Prints on standard error why source or instructions are missing, and the other functions that match the name.
fn print(
    analysis: &Analysis,
    others: &[Annotation],
    marks: &FunctionMarks,
    sources: &[AnnotatedSource],
    why: Option<&str>,
) {
    for source in sources.iter().filter(|source| source.lines.is_none()) {
        if let Some(file) = source.file {
            eprintln!("{}", not_found(&plain_name(analysis.profile.strings.get(file))));
        }
    }
    if let Some(why) = why {
        eprintln!("no instructions: {why}");
    }
    for other in others.iter().take(OTHERS) {
        let name = other.function.name.map_or(&b""[..], |id| analysis.profile.strings.get(id));
        let name = String::from_utf8_lossy(name);
        let name = match marks.of(&other.function) {
            Some(mark) => format!("{name} ({mark})"),
            None => name.into_owned(),
        };
        eprintln!("also: {}", shown(&name));
    }
    if let Some(more) = others.len().checked_sub(OTHERS).filter(|&more| more > 0) {
        eprintln!("and {more} more functions with such a name");
    }
}
