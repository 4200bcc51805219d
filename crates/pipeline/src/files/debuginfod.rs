//! Files from debuginfod servers, only where the user named one. What was fetched is kept where other clients keep
//! theirs, so that it is fetched once for all of them; what no server has is not asked for again for ten minutes. A server
//! is not believed: what comes is kept only where it is an ELF file of the wanted build-id, complete, and of a size that
//! such files have.
//!
//! Source: debuginfod(8), "WEBAPI": `/buildid/BUILDID/debuginfo`, `/buildid/BUILDID/executable`, `X-DEBUGINFOD-SIZE`;
//! `debuginfod_find_debuginfo(3)`, "CACHE".

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use address::BuildId;
use budget::{Budget, Resource};
use hashbrown::HashMap;
use host::{FileKind, FileStat, Host, Origin, replace_file};
use module_map::{Fetch, FetchKind, Fetcher, FileFinding, FileFindingKind, Image};

use crate::error::Error;
use crate::files::download::{Download as Body, check};
use crate::observer::{Download, Observer};
use crate::options::FileSearch;

/// A server has that long to begin its answer.
const FIRST_BYTE: Duration = Duration::from_secs(30);
/// All requests of a run together; what is not there by then is done without.
const WHOLE_RUN: Duration = Duration::from_secs(600);
/// That long nobody is asked again for what no server has. Source: `debuginfod_find_debuginfo(3)`, `cache_miss_s`.
const MISS: Duration = Duration::from_secs(600);
/// A file above that size is not kept.
const LARGEST: u64 = 8 << 30;
/// All that is fetched in a run, in bytes as they are kept.
const LARGEST_IN_ALL: u64 = 32 << 30;
/// A server that failed so often is not asked again in a run.
const FAILURES: u64 = 3;

/// The fetcher that asks the servers that are named; none where there are none, and nothing is kept of them.
pub(crate) fn fetcher(
    search: &FileSearch,
    host: &Arc<dyn Host>,
    observer: &Arc<dyn Observer>,
    budget: Budget,
) -> Result<Option<Fetcher>, Error> {
    let urls = &search.debuginfod;
    if urls.is_empty() && !search.fetched {
        return Ok(None);
    }
    let is_address = |url: &&String| url.starts_with("http://") || url.starts_with("https://");
    if let Some(url) = urls.iter().find(|url| !is_address(url)) {
        return Err(Error::NotAServer { url: url.clone() });
    }
    let servers = urls.iter().map(|url| url.trim_end_matches('/').to_owned()).collect();
    let cache = cache_dir(&**host).ok_or(Error::NoCacheFolder)?;
    let agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(FIRST_BYTE))
        .timeout_global(Some(WHOLE_RUN))
        .user_agent("unwind-perf")
        .build()
        .new_agent();
    Ok(Some(Fetcher(Arc::new(Client {
        host: host.clone(),
        servers,
        cache,
        agent,
        began: Instant::now(),
        state: Mutex::default(),
        observer: observer.clone(),
        budget,
    }))))
}

/// Source: `debuginfod_find_debuginfo(3)`: `DEBUGINFOD_CACHE_PATH`, else `$XDG_CACHE_HOME/debuginfod_client`, else
/// `$HOME/.cache/debuginfod_client`.
fn cache_dir(host: &dyn Host) -> Option<PathBuf> {
    let named = |name| host.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("DEBUGINFOD_CACHE_PATH")
        .or_else(|| Some(named("XDG_CACHE_HOME")?.join("debuginfod_client")))
        .or_else(|| Some(named("HOME")?.join(".cache/debuginfod_client")))
}

struct Client {
    host: Arc<dyn Host>,
    servers: Vec<String>,
    cache: PathBuf,
    agent: ureq::Agent,
    began: Instant,
    state: Mutex<State>,
    /// Told how far downloads have come.
    observer: Arc<dyn Observer>,
    /// What packed answers may become.
    budget: Budget,
}

/// What a run knows so far.
#[derive(Default)]
struct State {
    asked: HashMap<(BuildId, FetchKind), Option<PathBuf>>,
    /// Bytes that were fetched.
    fetched: u64,
    /// What went wrong with each server: the first time, and how often.
    failed: HashMap<String, (String, u64)>,
}

/// Why a server did not give a file.
enum NotGiven {
    /// It says that it has none.
    NotThere,
    /// The user stopped the run.
    Stopped,
    /// What went wrong.
    Failed(String),
}

impl Fetch for Client {
    fn fetch(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf> {
        // Held while fetching: one request at a time is fair to a server, and nothing is fetched twice.
        let mut state = self.state();
        if let Some(known) = state.asked.get(&(id, kind)) {
            return known.clone();
        }
        let path = self.cache.join(id.to_string()).join(kind.as_str());
        let found =
            self.is_cached(&path, id).unwrap_or_else(|| self.ask(&mut state, id, kind, &path));
        let found = found.then_some(path);
        state.asked.insert((id, kind), found.clone());
        found
    }

    fn findings(&self) -> Vec<FileFinding> {
        let state = self.state();
        let mut failed: Vec<_> = state.failed.iter().collect();
        failed.sort();
        let finding = |(server, (error, count)): (&String, &(String, u64))| FileFinding {
            kind: FileFindingKind::Server,
            message: format!("{server} failed: {error}; files may be missing"),
            count: *count,
        };
        failed.into_iter().map(finding).collect()
    }
}

impl Client {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the cache has the file, or says that no server had it lately; `None` where it says nothing. Other clients
    /// write an empty file for what no server has.
    fn is_cached(&self, path: &Path, id: BuildId) -> Option<bool> {
        let origin = Origin::Stored { root: &self.cache };
        let FileStat { kind, stamp } = self.host.stat(path, origin).ok()?;
        if kind != FileKind::Regular {
            return None;
        }
        if stamp.size == 0 {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let age = i128::try_from(now).ok()?.checked_sub(stamp.modified)?;
            return (0..i128::try_from(MISS.as_nanos()).ok()?).contains(&age).then_some(false);
        }
        // What another client kept may be no such file.
        let image = Image::open(&*self.host, path, origin).ok()?;
        image.build_id().is_some_and(|found| found.matches(&id)).then_some(true)
    }

    /// Asks the servers, one after the other.
    fn ask(&self, state: &mut State, id: BuildId, kind: FetchKind, path: &Path) -> bool {
        // Where nobody is to be asked, nothing is noted.
        let mut is_nowhere = !self.servers.is_empty();
        for server in &self.servers {
            if state.failed.get(server).is_some_and(|(_, count)| *count >= FAILURES) {
                is_nowhere = false;
                continue;
            }
            match self.get(server, id, kind, path, LARGEST_IN_ALL.saturating_sub(state.fetched)) {
                Ok(bytes) => {
                    state.fetched += bytes;
                    return true;
                }
                Err(NotGiven::NotThere) => {}
                Err(NotGiven::Stopped) => return false,
                Err(NotGiven::Failed(error)) => {
                    is_nowhere = false;
                    state.failed.entry(server.clone()).or_insert((error, 0)).1 += 1;
                }
            }
        }
        if is_nowhere {
            // Without a note the next run asks again.
            let _ = replace_file(path, |_| Ok(()));
        }
        false
    }

    /// Fetches a file from a server; returns its size.
    fn get(
        &self,
        server: &str,
        id: BuildId,
        kind: FetchKind,
        path: &Path,
        left: u64,
    ) -> Result<u64, NotGiven> {
        let Some(time) = WHOLE_RUN.checked_sub(self.began.elapsed()) else {
            return Err(NotGiven::Failed("there is no time left for it".to_owned()));
        };
        let name = format!("{} {id}", kind.as_str());
        let url = format!("{server}/buildid/{id}/{}", kind.as_str());
        let download = Download { name: &name, url: &url, done: 0, total: 0, ended: false };
        let request = self.agent.get(&url).config().timeout_global(Some(time)).build();
        let given = match request.call() {
            Ok(mut response) => {
                let body = body_of(&response, left, &self.budget);
                let total = response.body().content_length().unwrap_or(0);
                let report = |done: u64| {
                    let total = total.max(done);
                    self.observer.download(&Download { done, total, ..download });
                    !self.observer.is_cancelled()
                };
                keep(&body, response.body_mut().as_reader(), path, id, &report)
            }
            Err(ureq::Error::StatusCode(404)) => Err(NotGiven::NotThere),
            Err(error) => Err(NotGiven::Failed(error.to_string())),
        };
        self.observer.download(&Download { ended: true, ..download });
        given
    }
}

/// What the head of an answer says of its body.
fn body_of(response: &ureq::http::Response<ureq::Body>, left: u64, budget: &Budget) -> Body {
    let header = |name| response.headers().get(name)?.to_str().ok();
    let packed = header("content-encoding").is_some_and(|value| value != "identity");
    let stated = header("x-debuginfod-size").and_then(|size| size.trim().parse().ok());
    let length = response.body().content_length();
    // Of a packed body the length is that of the packed one.
    let limit = budget.limit(Resource::UnpackedBytes);
    let most = length.filter(|_| packed).map_or(LARGEST, |length| limit.of(length));
    let most = most.min(LARGEST).min(left);
    Body { size: stated.or_else(|| length.filter(|_| !packed)), most }
}

/// Puts what a server sends into the cache, where it is what was asked for.
fn keep(
    expected: &Body,
    mut body: impl io::Read,
    path: &Path,
    id: BuildId,
    report: &dyn Fn(u64) -> bool,
) -> Result<u64, NotGiven> {
    let mut stopped = false;
    let mut written = 0;
    let kept = replace_file(path, |file| {
        written = expected.copy(&mut body, file, &mut |done| {
            stopped = !report(done);
            !stopped
        })?;
        file.flush()?;
        check(file.path(), written, id)
    });
    match kept {
        Ok(()) => Ok(written),
        Err(_) if stopped => Err(NotGiven::Stopped),
        Err(error) => Err(NotGiven::Failed(error.to_string())),
    }
}
