//! Debuginfod server for perf, gdb and other clients: files by build-id of this host's recordings and of the stores that
//! the operator named. These clients can send neither tokens nor cookies, so the token is in the path.
//!
//! Source: elfutils, debuginfod(8), "WEBAPI".

use std::fs::File;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use axum::routing::get;

use crate::front::{ExternalProtocol, Secrets, Service, learn_modules};
use crate::http::files::partly;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{FilePart, FileTask, HandedFile, Task};
use crate::symbolize::requested_module;

/// Returns the routes, if they are enabled.
pub(in crate::http) fn routes(secrets: &Secrets) -> Router<Arc<Service>> {
    if !secrets.is_open(ExternalProtocol::Debuginfod) {
        return Router::new();
    }
    Router::new()
        .route("/debuginfod/{token}/buildid/{id}/{kind}", get(file))
        .route("/debuginfod/{token}/buildid/{id}/section/{name}", get(section))
        .route("/debuginfod/{token}/buildid/{id}/source/{*path}", get(source))
}

/// `GET /debuginfod/{token}/buildid/{id}/executable`, `…/debuginfo`
async fn file(
    State(service): State<Arc<Service>>,
    Path((_, id, kind)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let part = match &*kind {
        "executable" => FilePart::Executable,
        "debuginfo" => FilePart::DebugInfo,
        _ => return Err(Problem::new(ProblemKind::NotFound)),
    };
    answer(&service, &id, &part, &headers).await
}

/// `GET /debuginfod/{token}/buildid/{id}/section/{name}`: the bytes of a section, from the file with the debug
/// information, else from the program.
async fn section(
    State(service): State<Arc<Service>>,
    Path((_, id, name)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&service, &id, &FilePart::Section(name), &headers).await
}

/// `GET /debuginfod/{token}/buildid/{id}/source/{path}`: a source file that the debug information names by this absolute
/// path.
async fn source(
    State(service): State<Arc<Service>>,
    Path((_, id, path)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&service, &id, &FilePart::Source(format!("/{path}")), &headers).await
}

async fn answer(
    service: &Arc<Service>,
    id: &str,
    part: &FilePart,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let missing = || Problem::new(ProblemKind::NotFound);
    let id = id.to_ascii_lowercase();
    let wanted = || requested_module(&id, None, service.store.file_paths());
    if wanted().paths.is_empty() {
        learn_modules(service).await;
    }
    let answer = service.request_files(false, || {
        Ok((Task::File(FileTask { module: wanted(), part: part.clone() }), Vec::new()))
    });
    let (handed, files) = answer.await?;
    let handed: HandedFile = serde_json::from_str(handed.get())
        .map_err(|error| Problem::new(ProblemKind::Internal).detail(error.to_string()))?;
    let file = files.into_iter().next().map(File::from).ok_or_else(missing)?;
    let facts = file.metadata().ok().filter(|it| it.is_file()).ok_or_else(missing)?;
    let (start, end) = handed.range.unwrap_or((0, facts.len()));
    if end > facts.len() {
        return Err(missing().detail("the file lacks a part of the section"));
    }
    let mut response = partly(file, start..end, headers)?;
    let mut say = |name: &'static str, value: &str| {
        // A value that is invalid in a header is omitted.
        let value = HeaderValue::from_str(value);
        response.headers_mut().extend(value.map(|value| (HeaderName::from_static(name), value)));
    };
    say("x-debuginfod-size", &end.saturating_sub(start).to_string());
    say("x-debuginfod-file", &handed.path);
    Ok(response)
}
