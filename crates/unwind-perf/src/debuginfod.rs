//! Files from debuginfod servers, only where the user named one. What was fetched is kept where other clients keep
//! theirs, so that it is fetched once for all of them; what a server does not have is not asked for twice in a run.
//!
//! Source: debuginfod(8), "WEBAPI": `/buildid/BUILDID/debuginfo`, `/buildid/BUILDID/executable`;
//! `debuginfod_find_debuginfo(3)`, "CACHE".

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use address::BuildId;
use anyhow::{Context as _, bail};
use hashbrown::HashMap;
use indicatif::{ProgressBar, ProgressStyle};
use module_map::{Fetch, FetchKind, Fetcher};

use crate::args::FileArgs;
use crate::stream::{Shared, lock};

/// A server has that long to begin its answer.
const FIRST_BYTE: Duration = Duration::from_secs(30);
/// All requests of a run together; what is not there by then is done without.
const WHOLE_RUN: Duration = Duration::from_secs(600);
/// Bytes of a download between two words about it.
const TOLD: u64 = 256 << 10;
/// A file above that size is not fetched.
const LARGEST: u64 = 8 << 30;

/// The fetcher that the arguments ask for, if they do.
pub(crate) fn fetcher(args: &FileArgs, watch: Option<Shared>) -> anyhow::Result<Option<Fetcher>> {
    let urls = match &args.debuginfod {
        None => return Ok(None),
        Some(Some(url)) => url.clone(),
        Some(None) => std::env::var("DEBUGINFOD_URLS")
            .ok()
            .filter(|urls| !urls.trim().is_empty())
            .context("--debuginfod names no server, and DEBUGINFOD_URLS is not set")?,
    };
    let mut servers = Vec::new();
    // elfutils lists may hold words such as `ima:enforcing`, which are no servers.
    for url in urls.split_whitespace().filter(|url| !url.starts_with("ima:")) {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            bail!("--debuginfod {url}: expected an address that begins with http:// or https://");
        }
        servers.push(url.trim_end_matches('/').to_owned());
    }
    let cache = cache_dir().context("no directory to keep fetched files in: set HOME")?;
    let agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(FIRST_BYTE))
        .timeout_global(Some(WHOLE_RUN))
        .user_agent("unwind-perf")
        .build()
        .new_agent();
    Ok(Some(Fetcher(Arc::new(Client {
        servers,
        cache,
        agent,
        began: Instant::now(),
        asked: Mutex::default(),
        bar: ProgressBar::new_spinner().with_style(style()),
        watch,
    }))))
}

/// Source: `debuginfod_find_debuginfo(3)`: `DEBUGINFOD_CACHE_PATH`, else `$XDG_CACHE_HOME/debuginfod_client`, else
/// `$HOME/.cache/debuginfod_client`.
fn cache_dir() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("DEBUGINFOD_CACHE_PATH")
        .or_else(|| Some(named("XDG_CACHE_HOME")?.join("debuginfod_client")))
        .or_else(|| Some(named("HOME")?.join(".cache/debuginfod_client")))
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} fetching {msg} {bytes} {bytes_per_sec}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

struct Client {
    servers: Vec<String>,
    cache: PathBuf,
    agent: ureq::Agent,
    began: Instant,
    asked: Mutex<HashMap<(BuildId, FetchKind), Option<PathBuf>>>,
    bar: ProgressBar,
    /// A stream in which downloads are told.
    watch: Option<Shared>,
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
        let cached = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        let found =
            cached || self.servers.iter().any(|server| self.get(server, id, kind, &path).is_ok());
        let found = found.then_some(path);
        asked.insert((id, kind), found.clone());
        found
    }
}

impl Client {
    fn get(&self, server: &str, id: BuildId, kind: FetchKind, path: &Path) -> anyhow::Result<()> {
        let left = WHOLE_RUN.checked_sub(self.began.elapsed()).context("out of time")?;
        self.bar.set_message(format!("{} {id}", kind.as_str()));
        let url = format!("{server}/buildid/{id}/{}", kind.as_str());
        let request = self.agent.get(&url);
        let response = request.config().timeout_global(Some(left)).build().call();
        let mut response = match response {
            Ok(response) => response,
            Err(error) => {
                self.bar.finish_and_clear();
                return Err(error.into());
            }
        };
        let expected = response.body().content_length().unwrap_or(0);
        let name = format!("{} {id}", kind.as_str());
        let told = |done: u64| {
            self.bar.set_position(done);
            if let Some(watch) = &self.watch {
                let expected = expected.max(done);
                // A reader that is gone is noticed when the next samples are written.
                let _ = lock(watch).download(name.as_bytes(), url.as_bytes(), done, expected);
            }
        };
        let written = keep(response.body_mut().as_reader(), path, &told);
        self.bar.finish_and_clear();
        Ok(written?)
    }
}

/// Writes a file beside its place and renames it, so that nobody ever sees a part of it.
fn keep(mut body: impl io::Read, path: &Path, told: &dyn Fn(u64)) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    fs::create_dir_all(dir)?;
    let temporary = path.with_extension(format!("{}.part", std::process::id()));
    let mut write = || {
        let mut file = File::create(&temporary)?;
        let mut buffer = vec![0; 1 << 16];
        let (mut total, mut last_told) = (0_u64, 0);
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
            if total - last_told >= TOLD {
                told(total);
                last_told = total;
            }
        }
        told(total);
        file.flush()?;
        fs::rename(&temporary, path)
    };
    let written = write();
    if written.is_err() {
        // Nothing more can be done about a file that cannot be removed either.
        let _ = fs::remove_file(&temporary);
    }
    written
}
