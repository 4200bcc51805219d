//! Routes of the service.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};

use super::followed::{jobs, live};
use super::guard::guard;
use super::{external, log, pages, queries, recordings, symbols};
use crate::front::Service;
use crate::problem::{Problem, ProblemKind};

/// Maximum bytes of a JSON body.
const MOST_JSON: usize = 64 << 10;

/// Returns the router of the service. The guard runs before the routes.
pub(crate) fn router(service: Arc<Service>) -> Router {
    let inner = Router::new()
        .route("/", get(pages::list))
        .route("/r/{id}", get(pages::recording))
        .route("/status", get(pages::status_page))
        .route("/diff", get(pages::recording))
        .route("/live", get(pages::live))
        .route("/assets/{*path}", get(pages::asset))
        .route("/session", post(pages::session))
        .route("/healthz", get(pages::health))
        .route("/readyz", get(pages::ready))
        .route("/metrics", get(pages::metrics))
        .route("/api/v1/status", get(pages::status))
        .route("/api/v1/openapi.json", get(pages::openapi))
        .route("/api/v1/recordings", get(recordings::list).post(recordings::analyze))
        .route("/api/v1/recordings/{id}", get(recordings::show))
        .route("/api/v1/recordings/{id}/columns", get(recordings::columns))
        .route("/api/v1/recordings/{id}/export", get(queries::export))
        .route("/api/v1/recordings/{id}/query", post(queries::query))
        .route("/api/v1/recordings/{id}/asm", get(queries::instructions))
        .route("/api/v1/recordings/{id}/source", get(queries::source))
        .route("/api/v1/jobs/{id}", get(jobs::show).delete(jobs::cancel))
        .route("/api/v1/jobs/{id}/events", get(jobs::events))
        .route("/api/v1/symbolize", post(symbols::symbolize).layer(symbols::longer()))
        .route("/api/v1/live", get(live::show))
        .route("/api/v1/live/events", get(live::events))
        .route("/api/v1/live/columns", get(live::columns))
        .route("/api/v1/diff", post(queries::diff))
        .merge(external::firefox(&service.secrets))
        .merge(external::debuginfod(&service.secrets))
        .fallback(|| async { Problem::new(ProblemKind::NotFound) })
        .method_not_allowed_fallback(|| async { Problem::new(ProblemKind::WrongMethod) })
        .layer(from_fn(log::note_route))
        .layer(DefaultBodyLimit::max(MOST_JSON))
        .with_state(Arc::clone(&service));
    Router::new()
        .fallback_service(inner)
        .layer(from_fn_with_state(Arc::clone(&service), guard))
        .layer(from_fn_with_state(service, log::log))
}
