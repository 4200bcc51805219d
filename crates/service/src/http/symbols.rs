//! The names of addresses, without a recording.

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

/// Bytes of a question with as many addresses as it may have.
const MOST_BYTES: usize = 2 << 20;

/// Questions may be longer than others.
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
    // Files of this machine, whoever the recordings are of that have such addresses.
    question.task(service.store.known())?;
    let answer = service.ask(false, || {
        let task = question.task(service.store.known())?;
        Ok((Task::Symbolize(task), Vec::new()))
    });
    Ok(as_json(StatusCode::OK, &answer.await?))
}
