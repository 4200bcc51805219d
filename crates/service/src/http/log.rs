//! Request log: one line of JSON on standard error per request, with the route instead of the path, so without names
//! and tokens.
#![allow(
    clippy::print_stderr,
    reason = "a service logs to its standard error, for journald and containers"
)]

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::json;

use crate::front::Service;

/// Route of an answer.
#[derive(Clone, Debug)]
struct Route(MatchedPath);

/// Stores the route of a request in its answer.
pub(super) async fn note_route(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(Route(route));
    }
    response
}

/// Counts and logs a request.
pub(super) async fn log(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    service.metrics.answered(status);
    let route = response.extensions().get::<Route>().map(|Route(path)| path.as_str());
    if service.logs.has(route, status) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |it| it.as_secs_f64());
        let line = json!({
            "time": (time * 1e3).round() / 1e3,
            "method": method.as_str(),
            "route": route,
            "status": status,
            "ms": (began.elapsed().as_secs_f64() * 1e4).round() / 10.0,
        });
        eprintln!("{line}");
    }
    response
}
