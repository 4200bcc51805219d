//! Pages and their assets: equal for all clients, and without data of recordings.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::json::{JsonBody, as_json};
use super::server::CONNECTIONS;
use crate::front::{BACKGROUND, ExternalProtocol, LISTENERS, QUESTIONS, QUEUE, Service};
use crate::problem::{Problem, ProblemKind};
use crate::workers::WorkerSlot;

const HTML: &str = "text/html; charset=utf-8";

fn page(text: String) -> Response {
    ([(header::CONTENT_TYPE, HTML)], text).into_response()
}

/// `GET /`: the list of recordings.
pub(super) async fn list() -> Response {
    page(web::list_page().to_owned())
}

/// `GET /status`: the state of the service.
pub(super) async fn status_page() -> Response {
    page(web::status_page().to_owned())
}

/// `GET /r/{id}`: a recording. `GET /diff?a=ID&b=ID`: a comparison of two.
pub(super) async fn recording() -> Response {
    page(web::recording_page())
}

/// `GET /live`: the live recording.
pub(super) async fn live() -> Response {
    page(web::live_page())
}

/// `GET /assets/{*path}`
pub(super) async fn asset(Path(path): Path<String>) -> Result<Response, Problem> {
    let text = web::served(&path)
        .ok_or_else(|| Problem::new(ProblemKind::NotFound).detail(path.clone()))?;
    let kind = if path.ends_with(".css") { "text/css" } else { "text/javascript" };
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, text).into_response())
}

/// `POST /session`: exchanges the token for a session cookie.
pub(super) async fn session(
    State(service): State<Arc<Service>>,
    JsonBody(wanted): JsonBody<SessionRequest>,
) -> Result<Response, Problem> {
    if !service.secrets.is_token(&wanted.token) {
        return Err(Problem::new(ProblemKind::NoToken));
    }
    let mut headers = HeaderMap::new();
    let cookie = HeaderValue::from_str(&service.secrets.cookie());
    headers.extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}

/// Body of a request for a session.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionRequest {
    token: String,
}

/// `GET /healthz`: succeeds if the front responds.
pub(super) async fn health() -> Response {
    "ok\n".into_response()
}

/// `GET /readyz`: succeeds if the service accepts work.
pub(super) async fn ready(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    if *service.stopping.borrow() {
        return Err(Problem::new(ProblemKind::Stopping));
    }
    Ok("ready\n".into_response())
}

/// `GET /api/v1/status`: version, features and load of the service.
pub(super) async fn status(State(service): State<Arc<Service>>) -> Response {
    let jobs = service.jobs.counts();
    let store = service.store.size();
    let [done, failed, ended] = service.metrics.ends();
    let [analyzed, waiting] = service.background.counts();
    let worker = |slot: &WorkerSlot| {
        let counts = slot.counts();
        serde_json::json!({ "runs": counts.runs, "starts": counts.starts })
    };
    let value = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "seconds": service.began.elapsed().as_secs(),
        "uploads": service.uploads.is_some(),
        "live": service.live.is_some(),
        "firefox": service.secrets.is_open(ExternalProtocol::Firefox),
        "debuginfod": service.secrets.is_open(ExternalProtocol::Debuginfod),
        "jobs": {
            "queued": jobs.queued, "running": jobs.running, "begun": jobs.begun,
            "refused": jobs.refused, "done": done, "failed": failed,
        },
        "background": {
            "enabled": service.background.enabled, "analyzed": analyzed, "waiting": waiting,
        },
        "results": { "count": store.results, "bytes": store.bytes },
        "workers": {
            "local": worker(&service.local), "foreign": worker(&service.foreign), "ended": ended,
        },
        "limits": {
            "results_bytes": service.store.most(),
            "job_seconds": service.deadline.as_secs(),
            "waiting_jobs": QUEUE,
            "background_jobs": BACKGROUND,
            "listeners": LISTENERS,
            "questions": QUESTIONS,
            "connections": CONNECTIONS,
        },
        "formats": formats::Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>(),
    });
    as_json(StatusCode::OK, &value)
}

/// `GET /metrics`
pub(super) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], service.metrics.text(&service)).into_response()
}

/// `GET /api/v1/openapi.json`
pub(super) async fn openapi() -> Response {
    let kind = "application/vnd.oai.openapi+json;version=3.1";
    ([(header::CONTENT_TYPE, kind)], crate::OPENAPI).into_response()
}
