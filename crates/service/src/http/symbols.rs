//! Symbolization of addresses without a recording.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::json::{JsonBody, as_json};
use super::params::Params;
use crate::front::Service;
use crate::problem::Problem;
use crate::protocol::Task;
use crate::symbolize::Symbolize;

/// Maximum bytes of a query, enough for the maximum number of addresses.
const MOST_BYTES: usize = 2 << 20;

/// Returns a body limit above the default one.
pub(super) fn longer() -> DefaultBodyLimit {
    DefaultBodyLimit::max(MOST_BYTES)
}

/// `POST /api/v1/symbolize`
pub(super) async fn symbolize(
    State(service): State<Arc<Service>>,
    params: Params,
    JsonBody(question): JsonBody<Symbolize>,
) -> Result<Response, Problem> {
    params.end()?;
    // The trusted worker answers, even if the addresses come from an untrusted recording: only files of this host are
    // read.
    question.task(service.store.file_paths())?;
    let answer = service.request(false, || {
        let task = question.task(service.store.file_paths())?;
        Ok((Task::Symbolize(task), Vec::new()))
    });
    Ok(as_json(StatusCode::OK, &answer.await?))
}
