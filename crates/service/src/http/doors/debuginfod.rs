//! A debuginfod server for perf, gdb and other clients: files that the runs of this machine's recordings used, by
//! build-id. Its clients can send neither tokens nor cookies, so that the token is in the path.
//!
//! Source: elfutils, debuginfod(8), "WEBAPI".

use std::fs::File;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use axum::routing::get;

use crate::front::{Door, Secrets, Service};
use crate::http::files::partly;
use crate::problem::{Kind, Problem};
use crate::protocol::{FileTask, Task};
use crate::symbolize::wanted_module;

/// The routes, where they are switched on. What debuginfod has beside (sources, sections) leads nowhere.
pub(in crate::http) fn routes(secrets: &Secrets) -> Router<Arc<Service>> {
    if !secrets.is_open(Door::Debuginfod) {
        return Router::new();
    }
    Router::new().route("/debuginfod/{token}/buildid/{id}/{kind}", get(file))
}

/// `GET /debuginfod/{token}/buildid/{id}/executable`, `…/debuginfo`
async fn file(
    State(service): State<Arc<Service>>,
    Path((_, id, kind)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let missing = || Problem::new(Kind::NotFound);
    let debug = match &*kind {
        "executable" => false,
        "debuginfo" => true,
        _ => return Err(missing()),
    };
    let id = id.to_ascii_lowercase();
    let wanted = || wanted_module(&id, None, service.store.known());
    // Stores of this machine may have more, which recordings that are served say nothing of.
    if wanted().places.is_empty() {
        return Err(missing().detail("no recording that was analysed used a file of this build-id"));
    }
    let answer = service.ask_for_files(false, || {
        Ok((Task::File(FileTask { module: wanted(), debug }), Vec::new()))
    });
    let (path, files) = answer.await?;
    let path: String = serde_json::from_str(path.get()).unwrap_or_default();
    let file = files.into_iter().next().map(File::from);
    let file = file.filter(|file| file.metadata().is_ok_and(|it| it.is_file()));
    let file = file.ok_or_else(missing)?;
    let size = file.metadata().map_or(0, |it| it.len());
    let mut response = partly(file, &headers)?;
    let mut say = |name: &'static str, value: &str| {
        // What is no text for a header is not said.
        let value = HeaderValue::from_str(value);
        response.headers_mut().extend(value.map(|value| (HeaderName::from_static(name), value)));
    };
    say("x-debuginfod-size", &size.to_string());
    say("x-debuginfod-file", &path);
    Ok(response)
}
