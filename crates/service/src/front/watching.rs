//! Live recording: passes the stream to its own worker and publishes the worker's updates to clients.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::GrowingFile;
use serde_json::value::RawValue;

use super::service::{Service, no_space};
use crate::live::{LiveInput, LiveRecording, LiveStream, Phase};
use crate::problem::{Problem, ProblemKind};
use crate::protocol::{LiveTask, RunOptions, Task, WorkerEvent};
use crate::workers::{Incoming, WorkerCall};

/// Time limit for the worker to stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// Copy of the stream, and a descriptor that reads the rest of the stream if the worker fails.
struct StreamCopy {
    file: GrowingFile,
    stream: OwnedFd,
}

impl StreamCopy {
    /// Creates the copy and reports its path, because the file remains if the service is killed.
    fn create(path_of_copy: &Path, stream: &OwnedFd, report: fn(&str)) -> io::Result<Self> {
        let stream_copy =
            Self { file: GrowingFile::create(path_of_copy)?, stream: stream.try_clone()? };
        let (path, path_of_copy) = (stream_copy.file.path().display(), path_of_copy.display());
        report(&format!("the copy is {path} during the stream, and {path_of_copy} afterwards"));
        Ok(stream_copy)
    }
}

/// Follows a stream to its end, or until the service stops.
///
/// # Errors
/// If nothing could be shown at all.
pub(crate) async fn watch(
    service: Arc<Service>,
    watched: Arc<LiveRecording>,
    input: LiveInput,
) -> Result<(), Problem> {
    let LiveInput { stream, name, max_age, copy, report } = input;
    let opened = tokio::task::spawn_blocking(move || opened(stream));
    let mut stopping = service.stopping.subscribe();
    let stream = tokio::select! {
        opened = opened => opened.map_err(io::Error::other).and_then(|it| it),
        _ = stopping.wait_for(|stopping| *stopping) => return Ok(()),
    };
    let stream = stream.map_err(|error| not_opened(&name, &error))?;
    let task = LiveTask {
        name,
        options: RunOptions::default().with_off_cpu(false),
        keep: max_age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
        copied: copy.is_some(),
    };
    let tables = service.store.begin("live").map_err(|error| no_space(&error))?;
    let stream_copy =
        copy.as_deref().map(|path_of_copy| StreamCopy::create(path_of_copy, &stream, report));
    let stream_copy = stream_copy.transpose().map_err(|error| not_copied(copy.as_ref(), &error))?;
    let output = tables.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?;
    let mut files = vec![stream, output];
    if let Some(stream_copy) = &stream_copy {
        files
            .push(stream_copy.file.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?);
    }
    let mut call = service.watcher.call(Task::Live(task), files)?;
    if let Some(process) = call.process() {
        watched.add_process(process);
    }
    let outcome = follow(&watched, &mut call, &mut stopping).await;
    let outcome = match stream_copy {
        Some(stream_copy) => complete(&service, &watched, stream_copy, copy, outcome).await,
        None => outcome,
    };
    let was_shown = watched.view().tick > 0;
    match outcome {
        Ok(about) => {
            *watched.last() = Some(tables);
            watched.change(|view| (view.state, view.about) = (Phase::Ended, Some(about)));
            Ok(())
        }
        Err(problem) => {
            watched.change(|view| {
                (view.state, view.problem) = (Phase::Failed, Some(problem.clone()));
            });
            if *stopping.borrow() {
                return Ok(());
            }
            if was_shown {
                report(&format!("{problem}; the samples shown until then are still served"));
                return Ok(());
            }
            Err(problem)
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the operator named the FIFO")]
fn opened(stream: LiveStream) -> io::Result<OwnedFd> {
    match stream {
        LiveStream::Open(stream) => Ok(stream),
        LiveStream::Path(path) => Ok(OwnedFd::from(File::open(path)?)),
    }
}

fn not_opened(name: &str, error: &io::Error) -> Problem {
    Problem::new(ProblemKind::NotFound).detail(format!("{name}: {error}"))
}

fn not_copied(path_of_copy: Option<&PathBuf>, error: &io::Error) -> Problem {
    let path_of_copy =
        path_of_copy.map(|path_of_copy| path_of_copy.display().to_string()).unwrap_or_default();
    Problem::new(ProblemKind::NoSpace).detail(format!("{path_of_copy}: {error}"))
}

/// Receives the worker's events until the last one.
async fn follow(
    watched: &LiveRecording,
    call: &mut WorkerCall,
    stopping: &mut tokio::sync::watch::Receiver<bool>,
) -> Result<Box<RawValue>, Problem> {
    let mut is_cancelled = false;
    loop {
        let incoming = if is_cancelled {
            let incoming = tokio::time::timeout(PATIENCE, call.next()).await;
            incoming.map_err(|_| Problem::new(ProblemKind::Stopping))?
        } else {
            tokio::select! {
                incoming = call.next() => incoming,
                _ = stopping.wait_for(|stopping| *stopping) => {
                    call.cancel();
                    is_cancelled = true;
                    continue;
                }
            }
        };
        match incoming {
            Incoming::Event(WorkerEvent::Live(tick), _) => watched.add(*tick),
            Incoming::Event(WorkerEvent::Done(about), _) => return Ok(about),
            Incoming::Event(WorkerEvent::Failed(problem), _) => return Err(problem),
            Incoming::Event(..) => {}
            Incoming::Ended(how) => return Err(Problem::new(ProblemKind::WorkerEnded).detail(how)),
        }
    }
}

/// Gives the copy its final name. If the worker failed, the rest of the stream is copied here, so that the recording is
/// complete.
async fn complete(
    service: &Service,
    watched: &LiveRecording,
    stream_copy: StreamCopy,
    copy: Option<PathBuf>,
    outcome: Result<Box<RawValue>, Problem>,
) -> Result<Box<RawValue>, Problem> {
    let StreamCopy { file, stream } = stream_copy;
    let breaks = outcome.as_ref().is_err_and(|problem| !problem.is(ProblemKind::NoSpace));
    if breaks && !*service.stopping.borrow() {
        watched.change(|view| view.problem = outcome.as_ref().err().cloned());
        let mut stopping = service.stopping.subscribe();
        let sink = file.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?;
        let copying = tokio::task::spawn_blocking(move || {
            // The part before an error is retained.
            io::copy(&mut File::from(stream), &mut File::from(sink))
        });
        tokio::select! {
            _ = copying => {}
            _ = stopping.wait_for(|stopping| *stopping) => {}
        }
    }
    let path = file.path().display().to_string();
    let renamed = file.complete();
    renamed.map_err(|error| {
        let error = io::Error::new(error.kind(), format!("{error}; the copy stays in {path}"));
        not_copied(copy.as_ref(), &error)
    })?;
    let name = copy.as_deref().and_then(|path_of_copy| path_of_copy.file_name()?.to_str());
    if let Some(opened) = name.and_then(|name| service.roots.by_name(name).ok()) {
        service.roots.name_live(Ok(opened.recording.id.clone()));
        watched.change(|view| view.recording = Some(opened.recording.id));
    }
    outcome
}
