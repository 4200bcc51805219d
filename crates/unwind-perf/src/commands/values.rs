//! `unwind-perf values`: the parameters and locals of a function.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use options::TopFormat;
use pipeline::{ListedFunction, Observer, VariableError, VariableListing};
use serde::Serialize;

use super::extensions::by_ending;
use super::no_samples::no_samples_advice;
use super::profile::on_pool;
use crate::args::{RunOptions, ValuesArgs, pipeline, source, with_argument};
use crate::terminal::{Inputs, OutputTarget, Progress, Status, print_to, shown};

/// File endings of the formats.
const ENDINGS: [(&str, TopFormat); 3] =
    [(".txt", TopFormat::Text), (".text", TopFormat::Text), (".json", TopFormat::Json)];

/// A variable of all instances of a function in a file.
#[derive(Serialize)]
struct Row {
    file: String,
    function: String,
    name: String,
    parameter: bool,
    #[serde(rename = "type")]
    type_name: String,
    /// Bytes of code in which the variable exists.
    bytes: u64,
    /// Of these, bytes with a location.
    available_bytes: u64,
    /// Number of instances of the function with the variable.
    instances: usize,
    /// Location in the largest instance, in words.
    location: String,
}

/// Lists the variables.
pub(super) fn run(args: &ValuesArgs) -> anyhow::Result<Status> {
    let run = args.run.options()?;
    run.refuse_fields("a list of variables")?;
    run.refuse_spans("a list of variables")?;
    on_pool(run.options.limits.threads(), || run_on_pool(args, &run))
}

fn run_on_pool(args: &ValuesArgs, run: &RunOptions) -> anyhow::Result<Status> {
    let input = args.input.path()?;
    let by_ending = args.run.output.as_deref().map(|path| by_ending(path, &ENDINGS)).transpose()?;
    let format = args.format.or(by_ending.flatten()).unwrap_or_default();
    let inputs = Inputs::new(input, &run.options, &run.map_files);
    let target = OutputTarget::new(args.run.output.as_deref(), &inputs)?;
    let progress = Arc::new(Progress::new(args.run.quiet, args.run.progress_lines));
    let observer: Arc<dyn Observer> = progress.clone();
    let analysis = pipeline().analyze(source(input), &run.options, &observer);
    progress.clear();
    let analysis = analysis.map_err(with_argument)?;
    if let Some(nothing) = no_samples_advice(&analysis, &run.options.samples) {
        bail!(nothing);
    }
    let files = analysis.function_variables(&args.function);
    let rows = rows(&files);
    if rows.is_empty() {
        bail!("{}", problem(&args.function, files));
    }
    print_to(&target, |out| {
        if format == TopFormat::Json {
            serde_json::to_writer_pretty(&mut *out, &rows)?;
            return out.write_all(b"\n");
        }
        out.write_all(text(&rows).as_bytes())
    })?;
    Ok(Status::Complete)
}

/// Returns the variables by file, function and name, in the order of their declaration.
fn rows(files: &[(PathBuf, Result<Vec<ListedFunction>, VariableError>)]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (path, functions) in files {
        let file = path.display().to_string();
        let mut functions: Vec<&ListedFunction> = functions.iter().flatten().collect();
        functions.sort_by_key(|function| std::cmp::Reverse(function.bytes));
        for function in functions {
            for variable in &function.variables {
                add(&mut rows, &file, function, variable);
            }
        }
    }
    rows
}

fn add(rows: &mut Vec<Row>, file: &str, function: &ListedFunction, variable: &VariableListing) {
    let VariableListing { name, is_parameter, type_name, bytes, available_bytes, location } =
        variable;
    let known = rows.iter_mut().find(|row| {
        row.file == file
            && row.function == function.name
            && row.name == *name
            && row.type_name == *type_name
    });
    if let Some(row) = known {
        row.bytes = row.bytes.saturating_add(*bytes);
        row.available_bytes = row.available_bytes.saturating_add(*available_bytes);
        row.instances += 1;
        return;
    }
    rows.push(Row {
        file: file.to_owned(),
        function: function.name.clone(),
        name: name.clone(),
        parameter: *is_parameter,
        type_name: type_name.clone(),
        bytes: *bytes,
        available_bytes: *available_bytes,
        instances: 1,
        location: location.clone(),
    });
}

fn text(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut last = None;
    let width = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).chars().count()).max();
    let name = width(|row| &row.name).unwrap_or(0);
    let type_name = width(|row| &row.type_name).unwrap_or(0).min(40);
    for row in rows {
        let head = (&row.file, &row.function);
        if last != Some(head) {
            let (file, function) = (shown(&row.file), shown(&row.function));
            let gap = if last.is_some() { "\n" } else { "" };
            text.push_str(&format!("{gap}{function} of {file}\n"));
            text.push_str("  available  instances  kind\n");
            last = Some(head);
        }
        let share = 100.0 * row.available_bytes as f64 / row.bytes.max(1) as f64;
        let kind = if row.parameter { "parameter" } else { "local" };
        let line = format!(
            "  {share:>7.1} %  {:>9}  {kind:<9}  {:<name$}  {:<type_name$}  {}",
            row.instances,
            shown(&row.name),
            shown(&row.type_name),
            shown(&row.location),
        );
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    text
}

/// Returns the reason that no file has the function.
fn problem(
    function: &str,
    files: Vec<(PathBuf, Result<Vec<ListedFunction>, VariableError>)>,
) -> String {
    if files.is_empty() {
        return format!("no sampled file has debug information, so {function} is unknown");
    }
    if files.iter().any(|(_, found)| found.is_ok()) {
        return format!("{function} has neither parameters nor locals");
    }
    let mut similar: Vec<String> = Vec::new();
    for (_, found) in files {
        if let Err(VariableError::UnknownFunction { similar: names, .. }) = found {
            similar.extend(names);
        }
    }
    similar.truncate(8);
    let error = VariableError::UnknownFunction { name: function.to_owned(), similar };
    error.to_string()
}
