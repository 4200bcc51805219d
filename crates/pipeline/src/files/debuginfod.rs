//! Files from debuginfod servers, only where the user named one. What was fetched is kept where other clients keep
//! theirs, so that it is fetched once for all of them; what a server does not have is not asked for twice in a run.
//!
//! Source: debuginfod(8), "WEBAPI": `/buildid/BUILDID/debuginfo`, `/buildid/BUILDID/executable`;
//! `debuginfod_find_debuginfo(3)`, "CACHE".

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use address::BuildId;
use hashbrown::HashMap;
use host::{FileKind, Host, Origin, replace_file};
use module_map::{Fetch, FetchKind, Fetcher};

use crate::error::Error;
use crate::observer::{Download, Observer};

/// A server has that long to begin its answer.
const FIRST_BYTE: Duration = Duration::from_secs(30);
/// All requests of a run together; what is not there by then is done without.
const WHOLE_RUN: Duration = Duration::from_secs(600);
/// Bytes of a download between two reports of it.
const REPORTED: u64 = 256 << 10;
/// A file above that size is not fetched.
const LARGEST: u64 = 8 << 30;

/// The fetcher that asks these servers; none where there are none.
pub(crate) fn fetcher(
    urls: &[String],
    host: &Arc<dyn Host>,
    observer: &Arc<dyn Observer>,
) -> Result<Option<Fetcher>, Error> {
    if urls.is_empty() {
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
        asked: Mutex::default(),
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
    servers: Vec<String>,
    cache: PathBuf,
    agent: ureq::Agent,
    began: Instant,
    asked: Mutex<HashMap<(BuildId, FetchKind), Option<PathBuf>>>,
    /// Told how far downloads have come.
    observer: Arc<dyn Observer>,
}

impl Fetch for Client {
    fn fetch(&self, id: BuildId, kind: FetchKind) -> Option<PathBuf> {
        // Held while fetching: one request at a time is fair to a server, and nothing is fetched twice.
        let mut asked = self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = asked.get(&(id, kind)) {
            return known.clone();
        }
        let path = self.cache.join(id.to_string()).join(kind.as_str());
        // Other clients write an empty file for what no server has.
        let cached = self.host.stat(&path, Origin::System);
        let cached = cached.is_ok_and(|file| file.kind == FileKind::Regular && file.stamp.size > 0);
        let found =
            cached || self.servers.iter().any(|server| self.get(server, id, kind, &path).is_ok());
        let found = found.then_some(path);
        asked.insert((id, kind), found.clone());
        found
    }
}

impl Client {
    fn get(&self, server: &str, id: BuildId, kind: FetchKind, path: &Path) -> io::Result<()> {
        let late = || io::Error::from(io::ErrorKind::TimedOut);
        let left = WHOLE_RUN.checked_sub(self.began.elapsed()).ok_or_else(late)?;
        let name = format!("{} {id}", kind.as_str());
        let url = format!("{server}/buildid/{id}/{}", kind.as_str());
        let download = Download { name: &name, url: &url, done: 0, total: 0, ended: false };
        let request = self.agent.get(&url);
        let response = request.config().timeout_global(Some(left)).build().call();
        let written = response.map_err(io::Error::other).and_then(|mut response| {
            let total = response.body().content_length().unwrap_or(0);
            let report = |done: u64| {
                let total = total.max(done);
                self.observer.download(&Download { done, total, ..download });
                !self.observer.is_cancelled()
            };
            keep(response.body_mut().as_reader(), path, &report)
        });
        self.observer.download(&Download { ended: true, ..download });
        written
    }
}

/// Puts what a server sends into the cache.
fn keep(mut body: impl io::Read, path: &Path, report: &dyn Fn(u64) -> bool) -> io::Result<()> {
    replace_file(path, |file| {
        let mut buffer = vec![0; 1 << 16];
        let (mut total, mut last_reported) = (0_u64, 0);
        loop {
            let n = body.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            total += n as u64;
            if total > LARGEST {
                return Err(io::Error::other("larger than any file that is of use here"));
            }
            file.write_all(buffer.get(..n).unwrap_or_default())?;
            if total - last_reported >= REPORTED {
                if !report(total) {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                last_reported = total;
            }
        }
        report(total);
        file.flush()
    })
}
