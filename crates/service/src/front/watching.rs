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
use crate::live::{LiveInput, LiveStream, Phase, Watched};
use crate::problem::{Kind, Problem};
use crate::protocol::{Event, LiveTask, RunOptions, Task};
use crate::workers::{Call, Incoming};

/// Time limit for the worker to stop.
const PATIENCE: Duration = Duration::from_secs(5);

/// Copy of the stream, and a descriptor that reads the rest of the stream if the worker fails.
struct Kept {
    file: GrowingFile,
    stream: OwnedFd,
}

impl Kept {
    /// Creates the copy and reports its path, because the file remains if the service is killed.
    fn beside(place: &Path, stream: &OwnedFd, tell: fn(&str)) -> io::Result<Self> {
        let kept = Self { file: GrowingFile::create(place)?, stream: stream.try_clone()? };
        let (path, place) = (kept.file.path().display(), place.display());
        tell(&format!("the copy is {path} while the stream comes, and {place} afterwards"));
        Ok(kept)
    }
}

/// Follows a stream to its end, or until the service stops.
///
/// # Errors
/// If nothing could be shown at all.
pub(crate) async fn watch(
    service: Arc<Service>,
    watched: Arc<Watched>,
    input: LiveInput,
) -> Result<(), Problem> {
    let LiveInput { stream, name, keep, copy, tell } = input;
    let opened = tokio::task::spawn_blocking(move || opened(stream));
    let mut stopping = service.stopping.subscribe();
    let stream = tokio::select! {
        opened = opened => opened.map_err(io::Error::other).and_then(|it| it),
        _ = stopping.wait_for(|stopping| *stopping) => return Ok(()),
    };
    let stream = stream.map_err(|error| not_opened(&name, &error))?;
    let task = LiveTask {
        name,
        options: RunOptions::default(),
        keep: keep.map(|keep| u64::try_from(keep.as_millis()).unwrap_or(u64::MAX)),
        copied: copy.is_some(),
    };
    let tables = service.store.begin("live").map_err(|error| no_space(&error))?;
    let kept = copy.as_deref().map(|place| Kept::beside(place, &stream, tell));
    let kept = kept.transpose().map_err(|error| not_kept(copy.as_ref(), &error))?;
    let output = tables.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?;
    let mut files = vec![stream, output];
    if let Some(kept) = &kept {
        files.push(kept.file.as_fd().try_clone_to_owned().map_err(|error| no_space(&error))?);
    }
    let mut call = service.watcher.call(Task::Live(task), files)?;
    if let Some(process) = call.process() {
        watched.add_process(process);
    }
    let outcome = follow(&watched, &mut call, &mut stopping).await;
    let outcome = match kept {
        Some(kept) => complete(&service, &watched, kept, copy, outcome).await,
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
                tell(&format!("{problem}; what was shown until then is still served"));
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
    Problem::new(Kind::NotFound).detail(format!("{name}: {error}"))
}

fn not_kept(place: Option<&PathBuf>, error: &io::Error) -> Problem {
    let place = place.map(|place| place.display().to_string()).unwrap_or_default();
    Problem::new(Kind::NoSpace).detail(format!("{place}: {error}"))
}

/// Receives the worker's events until the last one.
async fn follow(
    watched: &Watched,
    call: &mut Call,
    stopping: &mut tokio::sync::watch::Receiver<bool>,
) -> Result<Box<RawValue>, Problem> {
    let mut is_asked = false;
    loop {
        let incoming = if is_asked {
            let incoming = tokio::time::timeout(PATIENCE, call.next()).await;
            incoming.map_err(|_| Problem::new(Kind::Stopping))?
        } else {
            tokio::select! {
                incoming = call.next() => incoming,
                _ = stopping.wait_for(|stopping| *stopping) => {
                    call.cancel();
                    is_asked = true;
                    continue;
                }
            }
        };
        match incoming {
            Incoming::Event(Event::Live(tick), _) => watched.add(*tick),
            Incoming::Event(Event::Done(about), _) => return Ok(about),
            Incoming::Event(Event::Failed(problem), _) => return Err(problem),
            Incoming::Event(..) => {}
            Incoming::Ended(how) => return Err(Problem::new(Kind::WorkerEnded).detail(how)),
        }
    }
}

/// Gives the copy its final name. If the worker failed, the rest of the stream is copied here, so that the recording is
/// complete.
async fn complete(
    service: &Service,
    watched: &Watched,
    kept: Kept,
    copy: Option<PathBuf>,
    outcome: Result<Box<RawValue>, Problem>,
) -> Result<Box<RawValue>, Problem> {
    let Kept { file, stream } = kept;
    let breaks = outcome.as_ref().is_err_and(|problem| !problem.is(Kind::NoSpace));
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
        not_kept(copy.as_ref(), &error)
    })?;
    let name = copy.as_deref().and_then(|place| place.file_name()?.to_str());
    if let Some(opened) = name.and_then(|name| service.roots.by_name(name).ok()) {
        service.roots.name_live(Ok(opened.recording.id.clone()));
        watched.change(|view| view.recording = Some(opened.recording.id));
    }
    outcome
}
