//! Files from debuginfod servers that the user named. Fetched files go to the cache that all debuginfod clients share.
//! If no server has a file, it is not requested again for ten minutes.
//! Servers are untrusted: a file is stored only if it is a complete ELF file of the wanted build-id and of plausible
//! size.
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
use crate::files::request::{FetchError, Request, Requests, no_time};
use crate::files::servers::Server;
use crate::observer::Observer;

/// Lifetime of a cached miss: a file that no server had is not requested again before it ends.
/// Source: `debuginfod_find_debuginfo(3)`, `cache_miss_s`.
const MISS: Duration = Duration::from_secs(600);
/// Limit on the bytes fetched in a run, as stored.
const LARGEST_IN_ALL: u64 = 32 << 30;

/// Returns a fetcher for the named servers; `None` if none is named and the cache is not to be used either.
///
/// # Errors
/// If a server is not an HTTP address, if a limit in the environment is not a number, or if there is no cache folder.
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
        state: Mutex::new(DownloadState { servers, ..DownloadState::default() }),
        observer: observer.clone(),
    }))))
}

/// Returns the cache folder: `DEBUGINFOD_CACHE_PATH`, else `$XDG_CACHE_HOME/debuginfod_client`, else
/// `$HOME/.cache/debuginfod_client`.
/// Source: `debuginfod_find_debuginfo(3)`.
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
    state: Mutex<DownloadState>,
    /// Receives the progress of downloads and the requests that last long.
    observer: Arc<dyn Observer>,
}

/// The state of the downloads of a run.
#[derive(Default)]
struct DownloadState {
    /// In query order.
    servers: Vec<Server>,
    asked: HashMap<(BuildId, FetchKind), Option<PathBuf>>,
    /// Bytes fetched so far.
    fetched: u64,
    /// Total time of all requests.
    spent: Duration,
}

impl Fetch for Client {
    fn fetch(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf> {
        // Locked during the fetch: one request at a time is fair to a server, and no file is fetched twice.
        let mut state = self.state();
        if let Some(known) = state.asked.get(&(id, kind)) {
            return known.clone();
        }
        let path = self.cache.join(id.to_string()).join(kind.as_str());
        let found =
            self.is_cached(&path, id).unwrap_or_else(|| self.request(&mut state, id, kind, &path));
        let found = found.then_some(path);
        state.asked.insert((id, kind), found.clone());
        found
    }

    fn findings(&self) -> Vec<FileFinding> {
        self.state().servers.iter().filter_map(Server::finding).collect()
    }
}

impl Client {
    fn state(&self) -> MutexGuard<'_, DownloadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the cache has the file, false if it states that no server had it lately; `None` if it states
    /// neither.
    /// debuginfod clients write an empty file if no server has the wanted one.
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
        // The cached file of another client may be a different one.
        let image = Image::open(&*self.host, path, origin).ok()?;
        image.build_id().is_some_and(|found| found.matches(&id)).then_some(true)
    }

    /// Queries the servers one after the other.
    fn request(
        &self,
        state: &mut DownloadState,
        id: BuildId,
        kind: FetchKind,
        path: &Path,
    ) -> bool {
        let DownloadState { servers, fetched, spent, .. } = state;
        // A miss is recorded only if every server was queried and has no such file.
        let mut is_nowhere = !servers.is_empty();
        for server in servers {
            if !server.is_active() {
                is_nowhere = false;
                continue;
            }
            let begin = Instant::now();
            let limits = &self.requests.limits;
            let time = limits.run.map(|run| run.saturating_sub(*spent));
            let given = if time.is_some_and(|time| time.is_zero()) {
                Err(FetchError::Failed(no_time(limits)))
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
                Err(FetchError::NotFound) => {}
                Err(FetchError::Stopped) => return false,
                Err(reason) => {
                    is_nowhere = false;
                    server.failed(&reason);
                }
            }
        }
        if is_nowhere {
            // If the miss cannot be recorded, the next run queries again.
            let _ = replace_file(path, |_| Ok(()));
        }
        false
    }
}
