//! `unwind-perf serve`: the service, and the worker that it starts.

use std::io::{IsTerminal as _, Write as _};
use std::num::NonZeroU16;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use cache::make_folder;
use confine::{Confinement, confine};
use host::{
    Host as _, Origin, RealHost, ScratchDir, default_memory_limit, limit_memory, replace_file,
};
use options::{CacheLocation, FileSearch, FolderOption, Limits, Options};
use pipeline::{Error, StreamOptions, usual_build_id_dirs};
use service::{Addresses, RequestLog, ServeOptions, WorkerCommand, WorkerOptions, WorkerSetup};

use crate::args::{
    FrontArgs, ServeArgs, WorkerArgs, host, is_cache_off, usual_cache, with_argument,
};
use crate::hotspot;
use crate::spelling::SPELLING;
use crate::terminal::{Out, Status, print_note, shown};

/// Bytes of profiles that a worker retains for later queries.
const KEPT: u64 = 1 << 30;

/// Default memory limit of a worker in bytes, if the machine has twice as much.
const WORKER_MEMORY: u64 = 4 << 30;

/// Default limit of the stored results in bytes, and default time limit for the work on a recording.
const RESULTS: u64 = 2 << 30;
const DEADLINE: Duration = Duration::from_secs(600);

/// Serves recordings until a signal ends it.
pub(super) fn run(args: &ServeArgs) -> anyhow::Result<Status> {
    let mut paths: Vec<PathBuf> = args.paths.iter().chain(&args.root).cloned().collect();
    if paths.is_empty() && args.uploads.is_none() {
        paths.push(PathBuf::from("."));
    }
    let (options, _scratch) = options(&args.front)?;
    let deadline = Duration::from_secs(args.deadline);
    let uploads = args.uploads.clone();
    let (store_bytes, background) = (args.keep, !args.no_background);
    let options = ServeOptions { paths, store_bytes, uploads, deadline, background, ..options };
    serve(options, &args.front)
}

/// Returns the options that all serving commands share, and the store if it is a temporary one.
pub(super) fn options(args: &FrontArgs) -> anyhow::Result<(ServeOptions, Option<ScratchDir>)> {
    let program = std::env::current_exe().context("cannot locate the file of this program")?;
    // Files that the operator named are read once here, so that a mistake is reported before any job.
    let WorkerArgs { jobs, max_memory, files, sources } = &args.worker;
    let limits =
        Limits { memory: max_memory.unwrap_or_default(), jobs: jobs.and_then(NonZeroU16::new) };
    let run =
        Options { files: files.search_with(&sources.source_dir)?, limits, ..Options::default() };
    let (store, scratch) = store(args)?;
    let names = usual_cache(&RealHost).filter(|_| run.files.sysroots.is_empty());
    let own = || CacheLocation::of_default_size(store.join("names"));
    let names = names.or_else(|| (!is_cache_off(&RealHost)).then(own));
    // Untrusted recordings do not use the cache.
    let workers = [false, true].map(|foreign| {
        let cache = names.clone().filter(|_| !foreign);
        let setup = WorkerSetup { options: Options { cache, ..run.clone() }, foreign };
        WorkerCommand { program: program.clone(), setup }
    });
    let options = ServeOptions {
        paths: Vec::new(),
        live: None,
        listen: args.listen.clone(),
        open: args.open,
        names: args.host_name.clone(),
        proxies: args.trusted_proxy.clone(),
        store,
        store_bytes: RESULTS,
        uploads: None,
        deadline: DEADLINE,
        workers,
        logs: match (args.quiet, args.verbose) {
            (true, _) => RequestLog::Off,
            (_, true) => RequestLog::Full,
            _ => RequestLog::Usual,
        },
        background: false,
        firefox: args.firefox,
        debuginfod: args.debuginfod_server,
        debuginfod_token: args.debuginfod_token.as_deref().map(token_of).transpose()?,
    };
    Ok((options, scratch))
}

/// Returns the token in a file.
///
/// # Errors
/// If others can read the file, or it has no such token.
fn token_of(path: &Path) -> anyhow::Result<String> {
    let failed = || format!("--debuginfod-token {}", path.display());
    if is_readable_by_others(path).with_context(failed)? {
        return Err(anyhow!("other users can read it; chmod o-rw it")).with_context(failed);
    }
    let bytes = RealHost.read(path, Origin::User).with_context(failed)?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !is_plain || !(32..=128).contains(&text.len()) {
        return Err(anyhow!("it is not one line of 32 to 128 letters, digits, - and _"))
            .with_context(failed);
    }
    Ok(text.to_owned())
}

#[allow(clippy::disallowed_methods, reason = "looks at a file that the operator named")]
fn is_readable_by_others(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::metadata(path)?.permissions().mode() & 0o006 != 0)
}

/// Returns the folder of the results: the named one, else the usual one, else a temporary one.
fn store(args: &FrontArgs) -> anyhow::Result<(PathBuf, Option<ScratchDir>)> {
    let folder = args.store.clone().map_or_else(usual_store, Ok)?;
    let Some(distrust) = RealHost.distrust(&folder) else { return Ok((folder, None)) };
    if args.store.is_some() {
        let refused = Error::SharedFolder { option: "store", path: folder, distrust };
        return Err(with_argument(refused));
    }
    let distrust = shown(&distrust.to_string());
    print_note(&format!("{distrust}; results are kept until the service ends"));
    let scratch = ScratchDir::below(&std::env::temp_dir()).context("no folder for results")?;
    Ok((scratch.path().to_owned(), Some(scratch)))
}

/// Serves until a signal ends it.
pub(super) fn serve(options: ServeOptions, args: &FrontArgs) -> anyhow::Result<Status> {
    let opens = !args.no_open && has_desktop();
    let mut page = None;
    service::serve(options, host(), |addresses| {
        // A reader at a pipe waits for this line.
        let _ = print(addresses);
        if opens {
            page = open_browser(&addresses.page);
        }
    })?;
    Ok(Status::Complete)
}

/// Prints the address of the page and the settings for other programs that use the service.
fn print(addresses: &Addresses) -> std::io::Result<()> {
    let Addresses { page, firefox, debuginfod } = addresses;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{page}")?;
    for (name, url) in [("symbolServer", firefox), ("DEBUGINFOD_URLS", debuginfod)] {
        if let Some(url) = url {
            writeln!(out, "{name}={url}")?;
        }
    }
    out.flush()
}

/// Returns true if a user sits in front of a screen.
fn has_desktop() -> bool {
    let is_set = |name| RealHost.variable(name).is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Shows an address in the browser. Other users can see the arguments of a program, so the token is not among them.
/// Instead the browser gets a page that only this user can read and that redirects. It exists until the service ends.
fn open_browser(address: &str) -> Option<ScratchDir> {
    let folder = ScratchDir::below(&std::env::temp_dir()).ok()?;
    let page = folder.path().join("unwind-perf.html");
    let text = format!("<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url={address}\">");
    replace_file(&page, |file| file.write_all(text.as_bytes())).ok()?;
    // Without a browser, the address is on the terminal.
    open::that_detached(&page).ok()?;
    Some(folder)
}

/// Answers a service until it ends.
pub(super) fn work() -> anyhow::Result<Status> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned().context("no socket")?;
    let socket = UnixStream::from(socket);
    let setup = WorkerSetup::receive(&socket).context("the service has ended")?;
    let Some(WorkerSetup { mut options, foreign }) = setup else { return Ok(Status::Complete) };
    let files = &options.files;
    let readable = if foreign { readable(files) } else { vec![PathBuf::from("/")] };
    let temporary = std::env::temp_dir();
    let cache = RealHost.home().map(|home| home.join(".cache"));
    let network = !files.debuginfod.is_empty();
    // Without the cache, names are looked up again each time.
    options.cache = options.cache.filter(|place| make_folder(place).is_ok());
    let folder = options.cache.as_ref().map(|place| place.folder.clone());
    let writable = [Some(temporary), cache.filter(|_| network), folder];
    let writable = writable.into_iter().flatten().collect();
    let memory = options.limits.memory.bytes();
    let usual = default_memory_limit().map_or(WORKER_MEMORY, |bytes| bytes.min(WORKER_MEMORY));
    limit_memory(options.limits.memory.or_usual(Some(usual)));
    confine(&Confinement { memory, readable, writable, network, outlives_parent: false })
        .context("cannot confine the worker")?;
    let options = WorkerOptions {
        options,
        foreign,
        spelling: SPELLING,
        hotspot: |pipeline, source, options, observer, out| {
            let (reading, out) = (StreamOptions::default(), Out::to(out));
            hotspot::write_stream(pipeline, source, reading, options, observer, out).map(drop)
        },
        cache_bytes: memory.map_or(KEPT, |bytes| bytes / 4),
    };
    service::work(socket, host(), options).context("the service has ended")?;
    Ok(Status::Complete)
}

/// The folders that a worker may read for untrusted recordings: those in which files are identified by their build-ids.
fn readable(files: &FileSearch) -> Vec<PathBuf> {
    let named = files.folders().into_iter().filter(|(option, _)| match option {
        FolderOption::Sysroot | FolderOption::BuildIdStore | FolderOption::Debug => true,
        FolderOption::Extra | FolderOption::PerfMap | FolderOption::Source => false,
    });
    let usual = files.sysroots.is_empty().then(usual_stores).into_iter().flatten();
    named.flat_map(|(_, folders)| folders).cloned().chain(usual).collect()
}

/// Returns the stores by build-id that are used if none is named.
fn usual_stores() -> impl Iterator<Item = PathBuf> {
    usual_build_id_dirs(&RealHost).chain([PathBuf::from("/usr/lib/debug")])
}

/// Returns the default folder of results, below the user's cache directory.
fn usual_store() -> anyhow::Result<PathBuf> {
    let caches = RealHost
        .cache_home()
        .context("there is no directory for results: set HOME, or add --store DIR")?;
    Ok(caches.join("unwind-perf/service"))
}
