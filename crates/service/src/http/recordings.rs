//! Routes of recordings: the list, one recording, analysis, and the tables.

use std::sync::Arc;

use axum::extract::{FromRequest as _, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::files::tables;
use super::json::{JsonBody, as_json};
use super::params::Params;
use crate::front::{Service, files, receive};
use crate::jobs::{JobState, JobView};
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{RunOptions, Task};
use crate::recordings::{Opened, Recording, RecordingId};

/// Recordings per page of the list.
const PAGE: usize = 100;

/// Recording in the list.
#[derive(Debug, Serialize)]
struct RecordingRow {
    id: RecordingId,
    name: String,
    /// Size in bytes; for a folder, without its files.
    size: u64,
    /// Modification time in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<i64>,
    /// True if the recording is untrusted.
    foreign: bool,
    /// `analyzed`, `queued`, `running` or `new`.
    state: &'static str,
    /// Header of the recording, or the account of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<Box<RawValue>>,
    /// Reason for a missing `about`.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobView>,
}

#[derive(Debug, Serialize)]
struct RecordingList {
    recordings: Vec<RecordingRow>,
    /// Value of `after` for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    total: usize,
}

/// `GET /api/v1/recordings?after=NAME`
pub(super) async fn list(
    State(service): State<Arc<Service>>,
    mut params: Params,
) -> Result<Response, Problem> {
    let after = params.take("after")?.unwrap_or_default();
    params.end()?;
    let listing = Arc::clone(&service);
    let all = tokio::task::spawn_blocking(move || listing.roots.list()).await;
    let all = all.map_err(|error| Problem::new(ProblemKind::Internal).detail(error.to_string()))?;
    service.background.look();
    let total = all.len();
    let mut rest = all.into_iter().filter(|it| after.is_empty() || it.name > after);
    let page: Vec<Recording> = rest.by_ref().take(PAGE).collect();
    let next = rest.next().and_then(|_| page.last().map(|last| last.name.clone()));
    let mut recordings = Vec::with_capacity(page.len());
    for recording in page {
        if let Ok(opened) = service.roots.by_id(recording.id.as_str()) {
            recordings.push(row(&service, opened, &RunOptions::default()).await);
        }
    }
    Ok(as_json(StatusCode::OK, &RecordingList { recordings, next, total }))
}

/// `GET /api/v1/recordings/{id}`
pub(super) async fn show(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    mut params: Params,
) -> Result<Response, Problem> {
    let options = params.options()?;
    params.end()?;
    let opened = service.roots.by_id(&id)?;
    Ok(as_json(StatusCode::OK, &row(&service, opened, &options).await))
}

async fn row(service: &Arc<Service>, opened: Opened, options: &RunOptions) -> RecordingRow {
    let recording = opened.recording.clone();
    let mut row = RecordingRow {
        id: recording.id.clone(),
        written: recording.written(),
        name: recording.name,
        size: recording.stamp.size,
        foreign: recording.foreign,
        state: "new",
        about: None,
        problem: None,
        job: None,
    };
    if let Some(artefact) = service.artefact(&opened, options) {
        row.state = "analyzed";
        row.about = Some(artefact.account.about);
        return row;
    }
    if let Some(job) = service.jobs.of(&recording.id) {
        row.state = if job.state() == JobState::Queued { "queued" } else { "running" };
        row.job = Some(job.view());
        // The worker that reads headers is not busy with a job of the background.
        if !job.background {
            return row;
        }
    }
    match describe(service, opened).await {
        Ok(about) => row.about = Some(about),
        Err(problem) => row.problem = Some(problem),
    }
    row
}

/// Returns the header of a recording.
async fn describe(service: &Arc<Service>, opened: Opened) -> Result<Box<RawValue>, Problem> {
    let key = opened.recording.key(&RunOptions::default());
    if let Some(known) = service.headers.get(&key) {
        return known;
    }
    let foreign = opened.recording.foreign;
    let id = opened.recording.id.clone();
    let answer = service.request(foreign, || {
        let opened = service.roots.by_id(id.as_str())?;
        let recording = opened.recording_ref(&RunOptions::default());
        Ok((Task::Describe(recording), files(opened, None)))
    });
    let answer = answer.await;
    // Other failures may be temporary and are not cached.
    if answer.as_ref().map_or_else(|problem| problem.is(ProblemKind::NotARecording), |_| true) {
        service.headers.put(key, answer.clone());
    }
    answer
}

/// Body of a request for an analysis.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalysisRequest {
    /// Name below a root, or path.
    path: Option<String>,
    /// Id of the recording.
    id: Option<RecordingId>,
    #[serde(default)]
    options: RunOptions,
    /// True to analyse again even if there is a result, since more files may be available now.
    #[serde(default)]
    fresh: bool,
}

/// `POST /api/v1/recordings`: returns a job for a recording; the body is JSON, or the recording itself.
pub(super) async fn analyze(
    State(service): State<Arc<Service>>,
    mut params: Params,
    request: Request,
) -> Result<Response, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let (opened, options, fresh) = if kind == Some("application/octet-stream") {
        let name = params.take("name")?.unwrap_or_default();
        let options = params.options()?;
        params.end()?;
        (receive(&service, &name, request.into_body()).await?, options, false)
    } else {
        params.end()?;
        let JsonBody(wanted) = JsonBody::<AnalysisRequest>::from_request(request, &()).await?;
        let opened = match (&wanted.path, &wanted.id) {
            (Some(path), None) => service.roots.by_name(path)?,
            (None, Some(id)) => service.roots.by_id(id.as_str())?,
            _ => return Err(Problem::new(ProblemKind::BadRequest).detail("either path or id")),
        };
        (opened, wanted.options, wanted.fresh)
    };
    let location = format!("/api/v1/recordings/{}", opened.recording.id.as_str());
    if fresh {
        service.store.remove(&opened.recording.key(&options));
    }
    if service.artefact(&opened, &options).is_some() {
        let row = row(&service, opened, &options).await;
        return Ok(with_location(as_json(StatusCode::CREATED, &row), &location));
    }
    let job = service.submit(&opened, options)?;
    let location = format!("/api/v1/jobs/{}", job.id);
    Ok(with_location(as_json(StatusCode::ACCEPTED, &job.view()), &location))
}

fn with_location(mut response: Response, location: &str) -> Response {
    let value = HeaderValue::from_str(location);
    response.headers_mut().extend(value.map(|value| (header::LOCATION, value)));
    response
}

/// `GET /api/v1/recordings/{id}/columns`
pub(super) async fn columns(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    mut params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let options = params.options()?;
    params.end()?;
    let opened = service.roots.by_id(&id)?;
    let key = opened.recording.key(&options);
    let Some(artefact) = service.artefact(&opened, &options) else {
        let problem =
            Problem::new(ProblemKind::Gone).detail("it is not analysed, or its result was removed");
        return Ok(problem.hint("POST /api/v1/recordings").into_response());
    };
    tables(artefact.tables, artefact.size, &key, &headers)
}
