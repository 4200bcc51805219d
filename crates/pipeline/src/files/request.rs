//! A request for one file from one server, and the transfer of its answer into the cache.
//!
//! Source: debuginfod(8), "WEBAPI": `/buildid/BUILDID/debuginfo`, `/buildid/BUILDID/executable`, `X-DEBUGINFOD-SIZE`.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use address::BuildId;
use budget::{Budget, Resource};
use host::replace_file;
use image_store::FetchKind;
use ureq::Timeout;

use crate::files::download::{BodyLimits as Body, LEAST, TimedReader, check};
use crate::files::limits::DownloadLimits;
use crate::observer::{Download, Observer, ServerWait};

/// Requests that last longer than this are reported to the observer.
const NOTICED: Duration = Duration::from_secs(1);

/// The reason that a server did not deliver a file.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum FetchError {
    /// The server does not have it.
    NotFound,
    /// The user stopped the run.
    Stopped,
    /// The file is not wanted, for a reason that is not the server's fault.
    Unusable(String),
    /// An error, as a text.
    Failed(String),
    /// The server did not respond within the time limit.
    TimedOut(String),
}

/// HTTP client with the limits of a run.
#[derive(Debug)]
pub(crate) struct Requests {
    agent: ureq::Agent,
    pub(crate) limits: DownloadLimits,
    /// Limits the unpacked size of compressed answers.
    budget: Budget,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) server: &'a str,
    pub(crate) id: BuildId,
    pub(crate) kind: FetchKind,
    /// The file in the cache.
    pub(crate) path: &'a Path,
    /// Time left for requests of this run; `None` is no limit.
    pub(crate) time: Option<Duration>,
    /// Bytes that the run may still fetch.
    pub(crate) bytes: u64,
}

impl Requests {
    pub(crate) fn new(limits: DownloadLimits, budget: Budget) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_resolve(limits.connect)
            .timeout_connect(limits.connect)
            .timeout_send_request(limits.answer)
            .timeout_recv_response(limits.answer)
            .timeout_per_read(limits.answer)
            .user_agent("unwind-perf")
            .build()
            .new_agent();
        Self { agent, limits, budget }
    }

    /// Fetches a file and returns its size in bytes.
    /// If the request lasts longer than a second, reports it to the observer and sets `is_announced`, unless it is set
    /// already.
    pub(crate) fn send(
        &self,
        request: &Request<'_>,
        observer: &dyn Observer,
        is_announced: &mut bool,
    ) -> Result<u64, FetchError> {
        let name = format!("{} {}", request.kind.as_str(), request.id);
        if *is_announced {
            return self.fetch(request, &name, observer);
        }
        let waiting = ServerWait { server: request.server, name: &name, limit: self.limits.answer };
        let (running, ended) = channel::<()>();
        thread::scope(|scope| {
            let watch = move || {
                let lasts = ended.recv_timeout(NOTICED) == Err(RecvTimeoutError::Timeout);
                if lasts {
                    observer.waiting(&waiting);
                }
                lasts
            };
            // Without a thread there is no report, but the file is fetched all the same.
            let watch = thread::Builder::new().spawn_scoped(scope, watch);
            let given = self.fetch(request, &name, observer);
            drop(running);
            *is_announced = watch.is_ok_and(|watch| watch.join().unwrap_or(false));
            given
        })
    }

    fn fetch(
        &self,
        request: &Request<'_>,
        name: &str,
        observer: &dyn Observer,
    ) -> Result<u64, FetchError> {
        let url = format!("{}/buildid/{}/{}", request.server, request.id, request.kind.as_str());
        let download = Download { name, url: &url, done: 0, total: 0, ended: false };
        let time = request.time.into_iter().chain(self.limits.file).min();
        let call = self.agent.get(&url).config().timeout_global(time).build().call();
        let given = match call {
            Ok(mut response) => {
                let report = |done: u64, total: u64| {
                    let total = total.max(done);
                    observer.download(&Download { done, total, ..download });
                    !observer.is_cancelled()
                };
                self.store(&mut response, request, &report)
            }
            Err(ureq::Error::StatusCode(404)) => Err(FetchError::NotFound),
            Err(ureq::Error::Timeout(reason)) => Err(self.timed_out(reason, request)),
            Err(error) => Err(FetchError::Failed(error.to_string())),
        };
        observer.download(&Download { ended: true, ..download });
        given
    }

    /// Stores the body in the cache, if it is the requested file.
    fn store(
        &self,
        response: &mut ureq::http::Response<ureq::Body>,
        request: &Request<'_>,
        report: &dyn Fn(u64, u64) -> bool,
    ) -> Result<u64, FetchError> {
        let expected = self.body_of(response, request)?;
        let total = response.body().content_length().unwrap_or(0);
        let mut body = TimedReader::new(response.body_mut().as_reader(), self.limits.answer);
        let mut stopped = false;
        let mut written = 0;
        let stored = replace_file(request.path, |file| {
            written = expected.copy(&mut body, file, &mut |done| {
                stopped = !report(done, total);
                !stopped
            })?;
            file.flush()?;
            check(&file.path(), written, request.id)
        });
        match stored {
            Ok(()) => Ok(written),
            Err(_) if stopped => Err(FetchError::Stopped),
            Err(error) => Err(self.interrupted(error, request)),
        }
    }

    /// Returns the size limits of the body, from the head of an answer.
    fn body_of(
        &self,
        response: &ureq::http::Response<ureq::Body>,
        request: &Request<'_>,
    ) -> Result<Body, FetchError> {
        let header = |name| response.headers().get(name)?.to_str().ok();
        let packed = header("content-encoding").is_some_and(|value| value != "identity");
        let stated = header("x-debuginfod-size").and_then(|size| size.trim().parse().ok());
        let length = response.body().content_length();
        let size: Option<u64> = stated.or_else(|| length.filter(|_| !packed));
        let largest = self.limits.largest;
        if let Some(size) = size.filter(|size| *size > largest) {
            let limit = format!("it has {size} bytes, and DEBUGINFOD_MAXSIZE is {largest}");
            return Err(FetchError::Unusable(limit));
        }
        // The content length of a compressed body is the compressed length.
        let limit = self.budget.limit(Resource::UnpackedBytes);
        let most = length.filter(|_| packed).map_or(largest, |length| limit.of(length));
        Ok(Body { size, most: most.min(largest).min(request.bytes) })
    }

    /// Returns the reason that a body did not arrive completely.
    fn interrupted(&self, error: io::Error, request: &Request<'_>) -> FetchError {
        let is_slow = error.kind() == io::ErrorKind::TimedOut;
        match ureq::Error::from(error) {
            ureq::Error::Timeout(reason) => self.timed_out(reason, request),
            ureq::Error::Io(_) if is_slow => {
                let time = seconds(self.limits.answer);
                FetchError::TimedOut(format!("it sent less than {} KiB in {time}", LEAST >> 10))
            }
            error => FetchError::Failed(error.to_string()),
        }
    }

    /// Converts a timeout of the client to its reason.
    fn timed_out(&self, reason: Timeout, request: &Request<'_>) -> FetchError {
        let limits = &self.limits;
        match reason {
            Timeout::Resolve | Timeout::Connect => FetchError::TimedOut(format!(
                "there was no connection within {}",
                seconds(limits.connect)
            )),
            // The file may be large; a smaller one can arrive in time.
            Timeout::Global
                if limits.file.is_some_and(|file| request.time.is_none_or(|time| file < time)) =>
            {
                let time = seconds(limits.file);
                FetchError::Failed(format!(
                    "a file did not come within {time} (DEBUGINFOD_MAXTIME)"
                ))
            }
            Timeout::Global => FetchError::Failed(no_time(limits)),
            _ => FetchError::TimedOut(format!("it sent nothing for {}", seconds(limits.answer))),
        }
    }
}

/// Error text for the time limit of a run.
pub(crate) fn no_time(limits: &DownloadLimits) -> String {
    format!("the {} for all requests of a run are over", seconds(limits.run))
}

fn seconds(time: Option<Duration>) -> String {
    format!("{} s", time.unwrap_or_default().as_secs())
}
