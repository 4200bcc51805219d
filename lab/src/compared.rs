//! The compared programs: their output while they run, the options of a build of ours, and hotspot's backend.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use xtask::command::{announce, quiet_output, show};

/// Standard output of a running command.
pub(crate) type Output<'a> = BufReader<&'a mut ChildStdout>;

/// Runs the command and reads its standard output while it runs. Shows its diagnostics only if its exit status is not
/// one of `good`.
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
    // A read error comes first: it may have caused the tool's own failure.
    let value = value.with_context(|| format!("output of {}", show(command)))?;
    let reported = reported.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    if !status.code().is_some_and(|code| good.contains(&code)) {
        eprintln!("{}", String::from_utf8_lossy(&reported));
        bail!("{status}: {}", show(command));
    }
    Ok(value)
}

/// Returns those of the options that this build of the command has. Older builds in the comparison lack some.
pub(crate) fn options_of(ours: &Path, options: &[&'static str]) -> Result<Vec<&'static str>> {
    let help = quiet_output(Command::new(ours).arg("--help"))?;
    Ok(options.iter().copied().filter(|option| help.contains(option)).collect())
}

/// Returns the backend of hotspot: from the search path, or from the paths of Debian and upstream.
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
