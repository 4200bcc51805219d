//! Files with probed functions: the recorded programs, and the libraries that they load.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use host::{Host, Origin};
use image_store::{FileOptions, ImageStore};

use super::tracefs::is_writable;
use crate::args::{RecordArgs, host};
use crate::terminal::shown;

/// Maximum number of libraries of a program.
const MOST_LIBRARIES: usize = 512;
/// Folders of libraries, after those that the program and the environment name.
const FOLDERS: [&str; 9] = [
    "/usr/local/lib",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// The recorded programs, followed by their libraries.
pub(super) struct ProbedFiles {
    files: anyhow::Result<Vec<PathBuf>>,
}

impl ProbedFiles {
    /// Lists the files of the command or the processes.
    pub(super) fn new(args: &RecordArgs, host: &dyn Host) -> Self {
        Self { files: list(args, host) }
    }

    /// Returns the files to search for a function, in order.
    ///
    /// # Errors
    /// If no file is known, or the named one is missing.
    pub(super) fn candidates(&self, named: Option<&str>) -> anyhow::Result<Vec<PathBuf>> {
        let found = match named {
            None => match &self.files {
                Ok(files) => files.clone(),
                Err(error) => bail!("{error:#}"),
            },
            Some(name) => vec![self.named(name)?],
        };
        match found.as_slice() {
            [one] if !is_writable(one) => {
                bail!("the kernel takes no path with spaces: {}", shown(&one.to_string_lossy()))
            }
            _ => Ok(found.into_iter().filter(|it| is_writable(it)).collect()),
        }
    }

    fn named(&self, name: &str) -> anyhow::Result<PathBuf> {
        let host = host();
        let is_file = |path: &PathBuf| host.is_file(path, Origin::User);
        if name.contains('/') {
            let path = std::path::absolute(name).with_context(|| shown(name))?;
            return Some(path).filter(is_file).with_context(|| format!("no file {}", shown(name)));
        }
        let is_library = |path: &&PathBuf| {
            let file = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
            let rest = file.strip_prefix(name);
            rest.is_some_and(|it| it.is_empty() || it.starts_with(".so"))
        };
        let known = self.files.as_ref().ok().and_then(|files| files.iter().find(is_library));
        let in_path = || in_path(OsStr::new(name), &*host);
        let in_folder = || FOLDERS.iter().map(|it| Path::new(it).join(name)).find(is_file);
        let here = || std::path::absolute(name).ok().filter(is_file);
        known
            .cloned()
            .or_else(here)
            .or_else(in_path)
            .or_else(in_folder)
            .with_context(|| format!("no file {}; write its path, as ./{0}", shown(name)))
    }
}

fn list(args: &RecordArgs, host: &dyn Host) -> anyhow::Result<Vec<PathBuf>> {
    if args.is_system_wide() {
        bail!("name the file of the function: --probe FILE:FUNCTION");
    }
    if !args.pid.is_empty() {
        let mut files = Vec::new();
        for pid in &args.pid {
            of_process(*pid, host, &mut files)?;
        }
        return Ok(files);
    }
    let command = args.command.first().context("no command")?;
    let program = in_path(command, host)
        .with_context(|| format!("there is no program {}", shown(&command.to_string_lossy())))?;
    with_libraries(program, host)
}

/// Returns the program that a command starts.
fn in_path(command: &OsStr, host: &dyn Host) -> Option<PathBuf> {
    let is_file = |path: &PathBuf| host.is_file(path, Origin::User);
    if command.as_bytes().contains(&b'/') {
        return std::path::absolute(command).ok().filter(is_file);
    }
    let search = host.variable("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let places = std::env::split_paths(&search).map(|folder| folder.join(command));
    places.filter_map(|path| std::path::absolute(path).ok()).find(is_file)
}

/// Adds the files that a process has mapped as code, the program first. In another container, its root leads to them.
///
/// Source: proc(5), `/proc/PID/maps`.
fn of_process(pid: u32, host: &dyn Host, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let maps = PathBuf::from(format!("/proc/{pid}/maps"));
    let maps = host.read(&maps, Origin::System).with_context(|| format!("process {pid}"))?;
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    for line in String::from_utf8_lossy(&maps).lines() {
        let Some(at) = line.find('/').filter(|_| line.contains("xp ")) else { continue };
        let path = line.get(at..).unwrap_or_default();
        let inside = root.join(path.trim_start_matches('/'));
        let path = PathBuf::from(path);
        let stamp = |path: &Path| host.stat(path, Origin::User).ok().map(|stat| stat.stamp);
        let Some(of_process) = stamp(&inside) else { continue };
        let path = if stamp(&path) == Some(of_process) { path } else { inside };
        if !files.contains(&path) && files.len() < MOST_LIBRARIES {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("process {pid} has no files that can be read");
    }
    Ok(())
}

/// Returns a program and the libraries that the dynamic loader finds for it.
///
/// Source: ld.so(8).
fn with_libraries(program: PathBuf, host: &dyn Host) -> anyhow::Result<Vec<PathBuf>> {
    let images = ImageStore::new(FileOptions { host: super::host(), ..FileOptions::default() });
    if let Err(error) = images.file_at(&program) {
        let start = host.open(&program, Origin::User);
        if start.is_ok_and(|it| it.content.starts_with(b"#!")) {
            let name = shown(&program.to_string_lossy());
            bail!("{name} is a script; name the file of the function: --probe FILE:FUNCTION");
        }
        bail!("{error}");
    }
    let environment = host.variable("LD_LIBRARY_PATH").unwrap_or_default();
    let environment: Vec<PathBuf> = std::env::split_paths(&environment).collect();
    let mut files = vec![program];
    let mut next = 0;
    while let Some(file) = files.get(next).cloned() {
        next += 1;
        let Ok(image) = images.file_at(&file) else { continue };
        let needed = image.image().needed_libraries();
        let origin = file.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
        let own = needed.folders.iter().map(|it| {
            let folder = String::from_utf8_lossy(it);
            PathBuf::from(folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin))
        });
        let folders: Vec<PathBuf> =
            own.chain(environment.iter().cloned()).chain(FOLDERS.map(PathBuf::from)).collect();
        for name in needed.names {
            let name = OsStr::from_bytes(&name);
            let mut places = folders.iter().map(|folder| folder.join(name));
            let found = places.find(|path| host.is_file(path, Origin::User));
            if let Some(found) = found.filter(|it| !files.contains(it))
                && files.len() < MOST_LIBRARIES
            {
                files.push(found);
            }
        }
    }
    Ok(files)
}
