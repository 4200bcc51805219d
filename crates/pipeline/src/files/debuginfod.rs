//! Files from debuginfod servers, only where the user named one. What was fetched is kept where other clients keep
//! theirs, so that it is fetched once for all of them; what no server has is not asked for again for ten minutes. A server
//! is not believed: what comes is kept only where it is an ELF file of the wanted build-id, complete, and of a size that
//! such files have.
//!
//! Source: `debuginfod_find_debuginfo(3)`, "CACHE".

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use address::BuildId;
use budget::Budget;
use hashbrown::HashMap;
use host::{FileKind, FileStat, Host, Origin, replace_file};
use image_store::{Fetch, FetchKind, Fetcher, FileFinding, Image};
use options::FileSearch;

use crate::error::Error;
use crate::files::limits::DownloadLimits;
use crate::files::request::{NotGiven, Request, Requests, no_time};
use crate::files::servers::Server;
use crate::observer::Observer;

/// That long nobody is asked again for what no server has. Source: `debuginfod_find_debuginfo(3)`, `cache_miss_s`.
const MISS: Duration = Duration::from_secs(600);
/// All that is fetched in a run, in bytes as they are kept.
const LARGEST_IN_ALL: u64 = 32 << 30;

/// The fetcher that asks the servers that are named; none where there are none, and nothing is kept of them.
///
/// # Errors
/// Where a server is no address, the environment has limits that are no numbers, or no folder can keep files.
pub(crate) fn fetcher(
    search: &FileSearch,
    host: &Arc<dyn Host>,
    observer: &Arc<dyn Observer>,
    budget: Budget,
) -> Result<Option<Fetcher>, Error> {
    let urls = &search.debuginfod.urls;
    if urls.is_empty() && !search.fetched {
        return Ok(None);
    }
    let is_address = |url: &&String| url.starts_with("http://") || url.starts_with("https://");
    if let Some(url) = urls.iter().find(|url| !is_address(url)) {
        return Err(Error::NotAServer { url: url.clone() });
    }
    let limits = match urls.as_slice() {
        [] => DownloadLimits::default(),
        _ => DownloadLimits::of_environment(&**host)?,
    };
    let servers = urls.iter().map(|url| Server::new(url)).collect();
    let cache = cache_dir(&**host).ok_or(Error::NoCacheFolder)?;
    Ok(Some(Fetcher(Arc::new(Client {
        host: host.clone(),
        cache,
        requests: Requests::new(limits, budget),
        state: Mutex::new(State { servers, ..State::default() }),
        observer: observer.clone(),
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
    cache: PathBuf,
    requests: Requests,
    state: Mutex<State>,
    /// Told how far downloads have come, and what is waited for.
    observer: Arc<dyn Observer>,
}

/// What a run knows so far.
#[derive(Default)]
struct State {
    /// In the order in which they are asked.
    servers: Vec<Server>,
    asked: HashMap<(BuildId, FetchKind), Option<PathBuf>>,
    /// Bytes that were fetched.
    fetched: u64,
    /// Time that requests took.
    spent: Duration,
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
        self.state().servers.iter().filter_map(Server::finding).collect()
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
        let State { servers, fetched, spent, .. } = state;
        // Where nobody is to be asked, nothing is noted.
        let mut is_nowhere = !servers.is_empty();
        for server in servers {
            if !server.is_asked() {
                is_nowhere = false;
                continue;
            }
            let begin = Instant::now();
            let limits = &self.requests.limits;
            let time = limits.run.map(|run| run.saturating_sub(*spent));
            let given = if time.is_some_and(|time| time.is_zero()) {
                Err(NotGiven::Failed(no_time(limits)))
            } else {
                let bytes = LARGEST_IN_ALL.saturating_sub(*fetched);
                let request = Request { server: &server.url, id, kind, path, time, bytes };
                self.requests.send(&request, &*self.observer, &mut server.is_announced)
            };
            *spent += begin.elapsed();
            match given {
                Ok(bytes) => {
                    *fetched += bytes;
                    return true;
                }
                Err(NotGiven::NotThere) => {}
                Err(NotGiven::Stopped) => return false,
                Err(reason) => {
                    is_nowhere = false;
                    server.failed(&reason);
                }
            }
        }
        if is_nowhere {
            // Without a note the next run asks again.
            let _ = replace_file(path, |_| Ok(()));
        }
        false
    }
}
