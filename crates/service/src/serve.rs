//! Lifetime of the front, from start to end.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::Host;
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};

use crate::front::{
    self, Answers, Background, ExternalProtocol, LISTENERS, Metrics, ModuleIndex, QUEUE,
    RequestLog, Secrets, Service, Uploads,
};
use crate::http::{ConnectionPolicy, Listener, router, serve_connections};
use crate::jobs::Jobs;
use crate::live::{LiveInput, LiveRecording};
use crate::recordings::{RecordingRoot, Roots};
use crate::store::{Artefacts, HeaderCache};
use crate::workers::{WorkerCommand, WorkerSlot};

/// Signals that end the service.
const SIGNALS: [fn() -> SignalKind; 3] =
    [SignalKind::interrupt, SignalKind::terminate, SignalKind::hangup];

/// Listening address of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// TCP address; port 0 selects a free port.
    Tcp(SocketAddr),
    /// Unix socket in the file system.
    Unix(PathBuf),
}

/// Options of a service.
#[derive(Debug)]
pub struct ServeOptions {
    /// Recordings, and folders of recordings.
    pub paths: Vec<PathBuf>,
    /// Live recording to follow.
    pub live: Option<LiveInput>,
    /// Listening address.
    pub listen: Listen,
    /// True to accept connections from other hosts, without encryption.
    pub open: bool,
    /// Additional host names of the service, such as that of a proxy.
    pub names: Vec<String>,
    /// Addresses of proxies; their connections are exempt from the limit per address.
    pub proxies: Vec<IpAddr>,
    /// Folder for results.
    pub store: PathBuf,
    /// Maximum bytes of stored results.
    pub store_bytes: u64,
    /// Folder for untrusted uploads; `None` to accept no uploads.
    pub uploads: Option<PathBuf>,
    /// Maximum duration of a job.
    pub deadline: Duration,
    /// Commands that start the workers: for recordings of this host, and for untrusted ones.
    pub workers: [WorkerCommand; 2],
    /// Requests to log.
    pub logs: RequestLog,
    /// True to analyse recordings of this host without a request.
    pub background: bool,
    /// True to let the page of the Firefox Profiler query functions, sources and instructions.
    pub firefox: bool,
    /// True to serve files of recordings as a debuginfod server.
    pub debuginfod: bool,
    /// Token of the debuginfod server; `None` for a random one.
    pub debuginfod_token: Option<String>,
}

/// Addresses of a running service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Address of the page, with the token in its fragment.
    pub page: String,
    /// Address of the symbol server for the Firefox Profiler, if enabled.
    pub firefox: Option<String>,
    /// Address of the debuginfod server, if enabled.
    pub debuginfod: Option<String>,
}

/// Reason why a service does not start, or ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A folder or recording cannot be opened.
    #[error("cannot open {}", path.display())]
    Root {
        /// Path.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Untrusted uploads would be treated as recordings of this host.
    #[error("{} overlaps a served directory of this machine; name another one", path.display())]
    UploadsInside {
        /// Folder for uploads.
        path: PathBuf,
    },
    /// The folder for results cannot be used.
    #[error("cannot store results in {}", path.display())]
    Store {
        /// Path.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The service cannot listen at the address.
    #[error("cannot listen at {address}")]
    Listen {
        /// Address.
        address: String,
        /// Cause.
        source: io::Error,
    },
    /// Others than this machine could connect, and nobody said that they may.
    #[error("{address} is reachable from other machines, and traffic is not encrypted")]
    NotLoopback {
        /// Address.
        address: SocketAddr,
    },
    /// The live recording is invalid.
    #[error("{0}")]
    LiveRecording(String),
    /// A system resource is missing.
    #[error("cannot start")]
    System(#[from] io::Error),
}

/// Serves until a signal ends the service. Calls `ready` with the addresses.
///
/// # Errors
/// If the service cannot start.
pub fn serve(
    options: ServeOptions,
    host: Arc<dyn Host>,
    ready: impl FnOnce(&Addresses),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(run(options, host, ready));
    // File readers that have no client any more may still run.
    runtime.shutdown_timeout(Duration::from_secs(1));
    result
}

/// Makes the path of uploads absolute.
fn with_absolute_uploads(mut options: ServeOptions) -> Result<ServeOptions, ServeError> {
    if let Some(path) = &mut options.uploads {
        let failed = |source| ServeError::Root { path: path.clone(), source };
        *path = absolute_path(path).map_err(failed)?;
    }
    Ok(options)
}

async fn run(
    options: ServeOptions,
    host: Arc<dyn Host>,
    ready: impl FnOnce(&Addresses),
) -> Result<(), ServeError> {
    let options = with_absolute_uploads(options)?;
    let roots = roots(&options)?;
    let store = Artefacts::open(&options.store, options.store_bytes)
        .map_err(|source| ServeError::Store { path: options.store.clone(), source })?;
    let (listener, address) = listen(&options).await?;
    let mut secrets = Secrets::new(address.map(|address| address.port()), &options.names)?;
    let addresses = addresses(&options, address, &mut secrets)?;
    let [local, foreign] = options.workers;
    let watched = options.live.as_ref().map(|input| Arc::new(LiveRecording::new(input)));
    if let Some(watched) = &watched {
        roots.name_live(Err(watched.no_recording()));
    }
    let service = Arc::new(Service {
        roots,
        store,
        answers: Answers::default(),
        jobs: Jobs::new(QUEUE),
        watcher: WorkerSlot::lasting(local.clone()),
        live: watched.clone(),
        background: Background::new(options.background, WorkerSlot::nice(local.clone())),
        local: WorkerSlot::new(local),
        foreign: WorkerSlot::new(foreign),
        host,
        secrets,
        metrics: Metrics::default(),
        uploads: options.uploads.as_deref().map(Uploads::new),
        modules: ModuleIndex::default(),
        headers: HeaderCache::default(),
        logs: options.logs,
        deadline: options.deadline,
        questions: Service::questions(),
        listeners: Arc::new(Semaphore::new(LISTENERS)),
        began: Instant::now(),
        stopping: watch::Sender::new(false),
    });
    let stopping = service.stopping.subscribe();
    let report = options.live.as_ref().map(|live| live.report);
    // Signals are handled before the addresses are published.
    tokio::spawn(end_by_signal(Arc::clone(&service), SIGNALS.map(|it| signal(it())), report));
    ready(&addresses);
    if service.background.enabled {
        tokio::spawn(front::analyze_in_background(Arc::clone(&service)));
    }
    let watching = options.live.zip(watched).map(|(input, watched)| {
        let (service, stopper) = (Arc::clone(&service), Arc::clone(&service));
        let watching = front::watch(service, watched, input);
        tokio::spawn(async move { watching.await.inspect_err(|_| stopper.stop()) })
    });
    let policy = ConnectionPolicy::new(options.proxies);
    serve_connections(listener, router(Arc::clone(&service)), policy, stopping).await;
    let watched = match watching {
        Some(watching) => watching.await.map_err(io::Error::other)?,
        None => Ok(()),
    };
    service.end_workers();
    if let Listen::Unix(path) = &options.listen {
        remove_socket(path);
    }
    watched.map_err(|problem| ServeError::LiveRecording(problem.to_string()))
}

/// Stops the service at a signal. The first SIGINT during a live recording is meant for its producer, so the stream is
/// read to its end.
async fn end_by_signal(
    service: Arc<Service>,
    mut signals: [io::Result<Signal>; 3],
    report: Option<fn(&str)>,
) {
    let [interrupt, two, three] = &mut signals;
    let mut is_told = false;
    loop {
        tokio::select! {
            () = heard(interrupt) => {}
            () = heard(two) => break,
            () = heard(three) => break,
        }
        match (report, &service.live) {
            (Some(report), Some(live)) if !is_told && live.shares_signals() => {
                report("reading on to the end of the stream; a second interrupt ends it at once");
                is_told = true;
            }
            _ => break,
        }
    }
    service.stop();
}

/// Enables the requested external protocols and returns all addresses.
fn addresses(
    options: &ServeOptions,
    address: Option<SocketAddr>,
    secrets: &mut Secrets,
) -> io::Result<Addresses> {
    let url = match (&options.listen, address) {
        (Listen::Unix(path), _) => format!("http+unix:{}", path.display()),
        (_, Some(address)) => format!("http://{address}"),
        (_, None) => String::new(),
    };
    let mut open = |door: ExternalProtocol, wanted: bool, token: Option<&String>| {
        let path = wanted.then(|| secrets.open(door, token.cloned())).transpose()?;
        Ok::<_, io::Error>(path.map(|path| format!("{url}{path}")))
    };
    let firefox = open(ExternalProtocol::Firefox, options.firefox, None)?;
    let token = options.debuginfod_token.as_ref();
    let debuginfod = open(ExternalProtocol::Debuginfod, options.debuginfod, token)?;
    let page = if options.live.is_some() { "live" } else { "" };
    Ok(Addresses { page: format!("{url}/{page}#token={}", secrets.token()), firefox, debuginfod })
}

/// Waits for a signal; never returns if the signal cannot be caught.
async fn heard(signal: &mut io::Result<Signal>) {
    match signal {
        Ok(signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

/// Returns the roots: each named folder, and the folders of named recordings, restricted to those names.
fn roots(options: &ServeOptions) -> Result<Roots, ServeError> {
    let mut roots: Vec<RecordingRoot> = Vec::new();
    let mut files: Vec<(PathBuf, BTreeSet<PathBuf>)> = Vec::new();
    for path in &options.paths {
        let failed = |source| ServeError::Root { path: path.clone(), source };
        if is_folder(path).map_err(failed)? {
            roots.push(RecordingRoot::folder(path, false).map_err(failed)?);
            continue;
        }
        let (folder, name) = folder_and_name(path);
        match files.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, names)) => {
                names.insert(name);
            }
            None => files.push((folder, BTreeSet::from([name]))),
        }
    }
    for (folder, names) in files {
        let root = RecordingRoot::with_names(&folder, names);
        roots.push(root.map_err(|source| ServeError::Root { path: folder, source })?);
    }
    if let Some(copy) = options.live.as_ref().and_then(|live| live.copy.as_deref()) {
        let (folder, name) = folder_and_name(copy);
        let root = RecordingRoot::with_names(&folder, BTreeSet::from([name]));
        roots.push(root.map_err(|source| ServeError::Root { path: folder, source })?);
    }
    if let Some(path) = &options.uploads {
        let failed = |source| ServeError::Root { path: path.clone(), source };
        let uploads = RecordingRoot::folder(path, true).map_err(failed)?;
        if roots.iter().any(|root| root.overlaps(&uploads)) {
            return Err(ServeError::UploadsInside { path: path.clone() });
        }
        roots.push(uploads);
    }
    Ok(Roots::new(roots))
}

/// Returns the folder of a file, and its name there.
fn folder_and_name(path: &Path) -> (PathBuf, PathBuf) {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    (folder, PathBuf::from(path.file_name().unwrap_or_default()))
}

/// Returns the absolute path without symbolic links, as in the paths of recordings below it.
#[allow(clippy::disallowed_methods, reason = "reads a path that the operator named")]
fn absolute_path(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Returns true if a path is a folder with recordings; a folder of `perf record --threads` is itself a recording.
#[allow(clippy::disallowed_methods, reason = "reads a path that the operator named")]
fn is_folder(path: &Path) -> io::Result<bool> {
    let metadata = std::fs::metadata(path)?;
    Ok(metadata.is_dir() && !path.join("data").is_file())
}

async fn listen(options: &ServeOptions) -> Result<(Listener, Option<SocketAddr>), ServeError> {
    match &options.listen {
        Listen::Tcp(address) => {
            let is_loopback = match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback(),
                IpAddr::V6(ip) => ip.is_loopback(),
            };
            if !is_loopback && !options.open {
                return Err(ServeError::NotLoopback { address: *address });
            }
            let failed = |source| ServeError::Listen { address: address.to_string(), source };
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            let bound = listener.local_addr()?;
            Ok((Listener::Tcp(listener), Some(bound)))
        }
        Listen::Unix(path) => {
            let failed =
                |source| ServeError::Listen { address: path.display().to_string(), source };
            Ok((Listener::Unix(bind_socket(path).map_err(failed)?), None))
        }
    }
}

/// Binds a socket that only this user can connect to. A stale socket at the path is replaced.
#[allow(clippy::disallowed_methods, reason = "a socket that was left behind is removed")]
fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};

    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err() {
        std::fs::remove_file(path)?;
    }
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    rustix::process::umask(before);
    let listener = bound?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

#[allow(clippy::disallowed_methods, reason = "the socket of this service is removed")]
fn remove_socket(path: &Path) {
    let _ = std::fs::remove_file(path);
}
