//! Jobs: progress as a value or as events, and the final state.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::mpsc::{Sender, channel};

use crate::front::Service;
use crate::http::json::as_json;
use crate::http::received::Received;
use crate::jobs::Job;
use crate::problem::{Problem, ProblemKind};

/// Minimum interval between progress events.
const PAUSE: Duration = Duration::from_millis(100);

/// `GET /api/v1/jobs/{id}`
pub(in crate::http) async fn show(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    Ok(as_json(StatusCode::OK, &service.jobs.get(&id)?.view()))
}

/// `DELETE /api/v1/jobs/{id}`
pub(in crate::http) async fn cancel(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let job = service.jobs.get(&id)?;
    job.cancel();
    Ok(as_json(StatusCode::ACCEPTED, &job.view()))
}

/// `GET /api/v1/jobs/{id}/events`: each state as an event, up to the final one.
pub(in crate::http) async fn events(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let job = service.jobs.get(&id)?;
    let place = Arc::clone(&service.listeners).try_acquire_owned();
    let place = place.map_err(|_| Problem::new(ProblemKind::Busy).detail("too many listeners"))?;
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        let _place = place;
        follow(&job, &sender).await;
    });
    Ok(Sse::new(Received(receiver)).keep_alive(KeepAlive::default()).into_response())
}

async fn follow(job: &Job, sender: &Sender<Result<Event, Infallible>>) {
    let mut watch = job.watch();
    loop {
        let state = watch.borrow_and_update().clone();
        let is_last = state.is_over();
        let text = serde_json::to_string(&job.view_of(state)).unwrap_or_default();
        if sender.send(Ok(Event::default().event("job").data(text))).await.is_err() || is_last {
            return;
        }
        tokio::time::sleep(PAUSE).await;
        if watch.changed().await.is_err() {
            return;
        }
    }
}
