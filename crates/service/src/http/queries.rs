//! Queries on analysed recordings: exports, tables and trees, comparisons, instructions and sources.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use host::NewFile;
use options::{ChoiceOrValue, Demangle, StackRoot};
use rustix::fs::SeekFrom;
use serde::Deserialize;

use super::files::whole;
use super::json::{JsonBody, as_json, json_text};
use super::params::Params;
use crate::front::{AnswerKey, Service, files, no_space, recording_refs};
use crate::problem::{Problem, ProblemKind};
use crate::protocol::Query;
use crate::protocol::{DIFF_TABLES, DiffTask, ExportTask, InstructionsTask, RunOptions, Task};
use crate::recordings::RecordingId;

/// Maximum number of recordings on each side of a comparison.
const MOST_OF_SIDE: usize = 20;

/// `GET /api/v1/recordings/{id}/export?format=NAME&weight=…&comm=…`: the same bytes as the command prints.
pub(super) async fn export(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    mut params: Params,
) -> Result<Response, Problem> {
    let mut options = params.options()?;
    let bad = |text: &str| Problem::new(ProblemKind::BadRequest).detail(text);
    let format = params.take("format")?.ok_or_else(|| bad("format is missing"))?;
    let weight = params.weight(&mut options)?;
    let root = params.take("root")?.map(|text| ChoiceOrValue::<StackRoot>::read(&text));
    let samples = params.samples()?;
    params.end()?;
    let known =
        formats::Format::from_name(&format).ok_or_else(|| bad("there is no such format"))?;
    if weight.is_some_and(|weight| !known.shows_weight(weight)) {
        return Err(bad("weight has no effect on this format"));
    }
    if root.is_some() && !known.shows_one_event() {
        return Err(bad("root has no effect on this format"));
    }
    if let Some(name) = root.as_ref().and_then(ChoiceOrValue::value) {
        options.values.add_values(name);
    }
    if known.usual_names() != Demangle::default() {
        options.usual.demangle.get_or_insert(known.usual_names());
    }
    let recording = service.roots.by_id(&id)?.recording;
    let output = scratch(&service)?;
    service
        .request(recording.foreign, || {
            let opened = service.roots.by_id(&id)?;
            let copy = emptied(&output)?;
            let task = ExportTask {
                recording: opened.recording_ref(&options),
                options: options.clone(),
                format: format.clone(),
                samples: samples.clone(),
                weight: weight.unwrap_or_default(),
                root: root.clone().unwrap_or_default(),
                written: opened.recording.written(),
            };
            Ok((Task::Export(Box::new(task)), files(opened, Some(copy))))
        })
        .await?;
    let stem = recording.name.rsplit('/').next().unwrap_or_default();
    answer_with(output, known.media_type(), &known.file_name(stem))
}

/// Creates a file for an answer of the worker.
fn scratch(service: &Service) -> Result<NewFile, Problem> {
    service.store.begin("answer").map_err(|error| no_space(&error))
}

/// Returns a descriptor of the file, truncated, since an earlier attempt may have written to it.
fn emptied(output: &NewFile) -> Result<OwnedFd, Problem> {
    let empty = || -> io::Result<OwnedFd> {
        let copy = output.as_fd().try_clone_to_owned()?;
        rustix::fs::ftruncate(&copy, 0)?;
        rustix::fs::seek(&copy, SeekFrom::Start(0))?;
        Ok(copy)
    };
    empty().map_err(|error| no_space(&error))
}

/// Returns a written answer; the file is deleted after the transfer.
fn answer_with(output: NewFile, kind: &'static str, name: &str) -> Result<Response, Problem> {
    let copy = output.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?;
    whole(copy.into(), kind, name, output)
}

/// `POST /api/v1/recordings/{id}/query`
pub(super) async fn query(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    mut params: Params,
    JsonBody(mut query): JsonBody<Query>,
) -> Result<Response, Problem> {
    let given = params.options()?;
    params.end()?;
    query.check()?;
    let options = query.run_options(given)?;
    let recording = service.roots.by_id(&id)?.recording;
    let profile = recording.key(&options);
    // Without a stored result, changes of the opened files cannot be detected, so the answer is not cached.
    let result = service.store.current(&profile, &*service.host);
    let key = AnswerKey::new(&profile, result, &query.normalized());
    let answer = service.answers.get(key, result.is_some(), async {
        let answer = service.request(recording.foreign, || {
            let opened = service.roots.by_id(&id)?;
            let recording = opened.recording_ref(&options);
            let task =
                Task::Query { recording, options: options.clone(), query: Box::new(query.clone()) };
            Ok((task, files(opened, None)))
        });
        let answer = answer.await.map_err(|problem| query.hinted(problem, &options));
        Ok(Bytes::from(String::from(Box::<str>::from(answer?))))
    });
    Ok(json_text(answer.await?))
}

/// `GET /api/v1/recordings/{id}/asm?module=BUILD_ID&address=0x…`
pub(super) async fn instructions(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    mut params: Params,
) -> Result<Response, Problem> {
    let options = params.options()?;
    let missing =
        |text: &str| Problem::new(ProblemKind::BadRequest).detail(format!("{text} is missing"));
    let module = params.take("module")?.ok_or_else(|| missing("module"))?;
    let address = params.take("address")?.ok_or_else(|| missing("address"))?;
    params.end()?;
    let digits = address.strip_prefix("0x").unwrap_or(&address);
    let address = u64::from_str_radix(digits, 16).map_err(|_| {
        Problem::new(ProblemKind::BadRequest).detail("address is a hexadecimal number")
    })?;
    let foreign = service.roots.by_id(&id)?.recording.foreign;
    let answer = service.request(foreign, || {
        let opened = service.roots.by_id(&id)?;
        let recording = opened.recording_ref(&options);
        let task = InstructionsTask {
            recording,
            options: options.clone(),
            module: module.clone(),
            address,
        };
        Ok((Task::Instructions(task), files(opened, None)))
    });
    Ok(as_json(StatusCode::OK, &answer.await?))
}

/// `GET /api/v1/recordings/{id}/source?file=NAME`
pub(super) async fn source(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    mut params: Params,
) -> Result<Response, Problem> {
    let options = params.options()?;
    let missing = || Problem::new(ProblemKind::BadRequest).detail("file is missing");
    let file = params.take("file")?.ok_or_else(missing)?;
    params.end()?;
    let foreign = service.roots.by_id(&id)?.recording.foreign;
    let answer = service.request(foreign, || {
        let opened = service.roots.by_id(&id)?;
        let recording = opened.recording_ref(&options);
        let task = Task::Source { recording, options: options.clone(), file: file.clone() };
        Ok((task, files(opened, None)))
    });
    Ok(as_json(StatusCode::OK, &answer.await?))
}

/// Body of a request for a comparison.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffRequest {
    /// Recordings of the baseline.
    a: Vec<RecordingId>,
    /// Recordings of the candidate.
    b: Vec<RecordingId>,
    #[serde(default)]
    options: RunOptions,
    normalize: Option<String>,
    #[serde(default)]
    exact_names: bool,
    format: Option<String>,
}

/// `POST /api/v1/diff`: the same bytes as `unwind-perf diff` prints.
pub(super) async fn diff(
    State(service): State<Arc<Service>>,
    params: Params,
    JsonBody(wanted): JsonBody<DiffRequest>,
) -> Result<Response, Problem> {
    params.end()?;
    let bad = |text: String| Problem::new(ProblemKind::BadRequest).detail(text);
    for side in [&wanted.a, &wanted.b] {
        if side.is_empty() || side.len() > MOST_OF_SIDE {
            return Err(bad(format!("a and b are lists of 1 to {MOST_OF_SIDE} ids")));
        }
    }
    let format = wanted.format.as_deref().unwrap_or("json");
    let known = formats::DiffFormat::from_name(format);
    if known.is_none() && format != DIFF_TABLES {
        return Err(bad("there is no such format".to_owned()));
    }
    let open = |side: &[RecordingId]| -> Result<Vec<_>, Problem> {
        side.iter().map(|id| service.roots.by_id(id.as_str())).collect()
    };
    let mut all = open(&wanted.a)?;
    all.extend(open(&wanted.b)?);
    // If one recording is untrusted, the worker for untrusted recordings reads all of them.
    let foreign = all.iter().any(|opened| opened.recording.foreign);
    let output = scratch(&service)?;
    service
        .request(foreign, || {
            let options = &wanted.options;
            let (before, mut files) = recording_refs(open(&wanted.a)?, options);
            let (after, more) = recording_refs(open(&wanted.b)?, options);
            files.extend(more);
            let copy = emptied(&output)?;
            files.push(copy);
            let task = DiffTask {
                before,
                after,
                options: options.clone(),
                normalize: wanted.normalize.clone(),
                exact_names: wanted.exact_names,
                format: format.to_owned(),
            };
            Ok((Task::Diff(Box::new(task)), files))
        })
        .await?;
    let kind = match known {
        Some(formats::DiffFormat::Json) => "application/json",
        Some(formats::DiffFormat::Pprof) => "application/gzip",
        Some(formats::DiffFormat::Report) => "text/html; charset=utf-8",
        Some(_) => "text/plain; charset=utf-8",
        None => "application/gzip",
    };
    let ending = known.map_or(".columns.gz", formats::DiffFormat::ending);
    answer_with(output, kind, &format!("diff{ending}"))
}
