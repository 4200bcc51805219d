//! The programs that are compared: their output while they run, the options that a build of ours has, and hotspot's
//! backend.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::command::{announce, quiet_output, show};

/// What a command writes on its standard output, while it runs.
pub(crate) type Output<'a> = BufReader<&'a mut ChildStdout>;

/// Runs it and reads its standard output while it runs. Its diagnostics are shown only where it ends with another status
/// than the good ones.
pub(crate) fn read_output<T>(
    command: &mut Command,
    good: &[i32],
    read: impl FnOnce(Output<'_>) -> Result<T>,
) -> Result<T> {
    announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| show(command))?;
    let mut stdout = child.stdout.take().context("no output")?;
    let mut stderr = child.stderr.take().context("no diagnostics")?;
    let reported = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).map(|_| bytes)
    });
    let value = read(BufReader::with_capacity(1 << 20, &mut stdout));
    drop(stdout);
    let status = child.wait()?;
    // What could not be read comes first: the tool's own failure may be that nobody read on.
    let value = value.with_context(|| format!("output of {}", show(command)))?;
    let reported = reported.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    if !status.code().is_some_and(|code| good.contains(&code)) {
        eprintln!("{}", String::from_utf8_lossy(&reported));
        bail!("{status}: {}", show(command));
    }
    Ok(value)
}

/// Those of the options that this build of the command has. Older ones, which are compared with it, lack some.
pub(crate) fn options_of(ours: &Path, options: &[&'static str]) -> Result<Vec<&'static str>> {
    let help = quiet_output(Command::new(ours).arg("--help"))?;
    Ok(options.iter().copied().filter(|option| help.contains(option)).collect())
}

/// The backend of hotspot: in the search path, or where Debian and upstream install it.
pub(crate) fn hotspot() -> Result<PathBuf> {
    let places = [
        "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser",
        "/usr/lib/aarch64-linux-gnu/libexec/hotspot-perfparser",
        "/usr/libexec/hotspot-perfparser",
        "/usr/lib/libexec/hotspot-perfparser",
    ];
    let search = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&search)
        .map(|dir| dir.join("hotspot-perfparser"))
        .chain(places.map(PathBuf::from))
        .find(|path| path.is_file())
        .context("hotspot-perfparser is not installed (package hotspot)")
}
