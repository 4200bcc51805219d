//! Live recording: its state, its current tables, and new rows as events.

use std::convert::Infallible;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch;

use crate::front::{Service, no_space};
use crate::http::files::tables;
use crate::http::json::as_json;
use crate::http::params::Params;
use crate::http::received::Received;
use crate::live::{LiveRecording, LiveView, NextChange};
use crate::problem::{Problem, ProblemKind};
use crate::protocol::Task;

/// Time limit for the worker to write the tables.
const PATIENCE: Duration = Duration::from_secs(30);

fn watched(service: &Service) -> Result<Arc<LiveRecording>, Problem> {
    let none = || {
        let problem =
            Problem::new(ProblemKind::NotFound).detail("this service watches no recording");
        problem.hint("perf record -o - … | unwind-perf live -")
    };
    service.live.clone().ok_or_else(none)
}

/// `GET /api/v1/live`
pub(in crate::http) async fn show(
    State(service): State<Arc<Service>>,
    params: Params,
) -> Result<Response, Problem> {
    params.end()?;
    Ok(as_json(StatusCode::OK, &watched(&service)?.view()))
}

/// `GET /api/v1/live/columns`: all current tables, with their tick in the header.
pub(in crate::http) async fn columns(
    State(service): State<Arc<Service>>,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    params.end()?;
    let watched = watched(&service)?;
    let view = watched.view();
    let kept = match &*watched.last() {
        Some(last) => Some(opened(&last.path())?),
        None => None,
    };
    let file = match kept {
        Some(file) => file,
        None => request(&service).await?,
    };
    let size = file.metadata().map_err(|error| no_space(&error))?.len();
    let newest = view.numbers.newest.unwrap_or(0);
    tables(file, size, &format!("live-{newest}-{}-{:?}", view.tick, view.state), &headers)
}

/// Requests the current tables from the worker.
async fn request(service: &Service) -> Result<File, Problem> {
    let output = service.store.begin("answer").map_err(|error| no_space(&error))?;
    let copy = output.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?;
    let mut call = service.watcher.call(Task::LiveColumns, vec![copy])?;
    let answer = tokio::time::timeout(PATIENCE, call.answer()).await;
    let (answer, _) =
        answer.map_err(|_| Problem::new(ProblemKind::Busy).detail("the worker is behind"))??;
    if answer.get() == "null" {
        return Err(Problem::new(ProblemKind::Gone).detail("no sample has arrived yet"));
    }
    // The file is unlinked, but its data remain until the read ends.
    opened(&output.path())
}

#[allow(clippy::disallowed_methods, reason = "a file that the service has made is read")]
fn opened(path: &std::path::Path) -> Result<File, Problem> {
    File::open(path).map_err(|error| no_space(&error))
}

/// `GET /api/v1/live/events`: changes after the client's tables, whose tick is in `Last-Event-ID` or `after`.
pub(in crate::http) async fn events(
    State(service): State<Arc<Service>>,
    mut params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = params.take("after")?;
    params.end()?;
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok()).map(str::to_owned);
    let wrong = |_| Problem::new(ProblemKind::BadRequest).detail("after is the number of a tick");
    let after = last.or(after).map(|tick| tick.parse::<u64>()).transpose().map_err(wrong)?;
    let watched = watched(&service)?;
    let place = Arc::clone(&service.listeners).try_acquire_owned();
    let place = place.map_err(|_| Problem::new(ProblemKind::Busy).detail("too many listeners"))?;
    let (sender, receiver) = channel(1);
    let stopping = service.stopping.subscribe();
    tokio::spawn(async move {
        let _place = place;
        follow(&watched, after, &sender, stopping).await;
    });
    Ok(Sse::new(Received(receiver)).keep_alive(KeepAlive::default()).into_response())
}

/// Sends changes at the speed of the client; a client that falls too far back must reload the tables.
async fn follow(
    watched: &LiveRecording,
    mut have: Option<u64>,
    sender: &Sender<Result<Event, Infallible>>,
    mut stopping: watch::Receiver<bool>,
) {
    let mut views = watched.follow();
    loop {
        let view = views.borrow_and_update().clone();
        let mut has_rows = false;
        loop {
            let next = match have {
                Some(tick) => watched.recent().after(tick),
                None if view.tick == 0 => break,
                None => NextChange::FromScratch,
            };
            let event = match next {
                NextChange::NotYet => break,
                NextChange::FromScratch => {
                    let _ = sender.send(Ok(live_event(&view, "anew"))).await;
                    return;
                }
                NextChange::Rows(tick, rows) => {
                    have = Some(tick);
                    let text = format!("{{\"live\":{},\"rows\":\"{rows}\"}}", text_of(&view));
                    Event::default().event("tick").id(tick.to_string()).data(text)
                }
            };
            has_rows = true;
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if view.is_over() {
            let _ = sender.send(Ok(live_event(&view, "end"))).await;
            return;
        }
        if !has_rows && sender.send(Ok(live_event(&view, "state"))).await.is_err() {
            return;
        }
        tokio::select! {
            changed = views.changed() => if changed.is_err() { return },
            _ = stopping.wait_for(|stopping| *stopping) => return,
            () = sender.closed() => return,
        }
    }
}

fn text_of(view: &LiveView) -> String {
    serde_json::to_string(view).unwrap_or_default()
}

fn live_event(view: &LiveView, name: &str) -> Event {
    Event::default().event(name).data(text_of(view))
}
