//! Running other programs: every command is printed before it runs, and a failure names it.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

/// The folder of the workspace.
pub fn root() -> PathBuf {
    // Set by `cargo run`; without it we are in the workspace's folder.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    manifest.as_deref().and_then(Path::parent).map_or_else(here, Path::to_path_buf)
}

/// A command from one line of words; for lines written in this source, without quoting.
pub fn words(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// The command as one would type it, with its folder where it has one.
pub fn show(command: &Command) -> String {
    let quoted = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_alphanumeric() || "-_./=:,+%@".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let mut line = quoted(command.get_program());
    for word in command.get_args() {
        line.push(' ');
        line.push_str(&quoted(word));
    }
    match command.get_current_dir() {
        Some(dir) => format!("(cd {} && {line})", dir.display()),
        None => line,
    }
}

/// Prints the command as it is about to run.
pub fn announce(command: &Command) {
    eprintln!("$ {}", show(command));
}

/// Runs it with our own terminal.
///
/// # Errors
/// If it cannot be started or fails.
pub fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command.status().with_context(|| show(command))?;
    if !status.success() {
        bail!("{status}: {}", show(command));
    }
    Ok(())
}

/// Runs it and gives its standard output.
///
/// # Errors
/// If it cannot be started or fails; the message has the end of its diagnostics.
pub fn output(command: &mut Command) -> Result<String> {
    announce(command);
    quiet_output(command)
}

/// As [`output`], for questions too small to be printed (versions and the like).
///
/// # Errors
/// As of [`output`].
pub fn quiet_output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| show(command))?;
    if !output.status.success() {
        let reported = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = reported.lines().rev().take(5).collect();
        bail!(
            "{}: {}\n{}",
            output.status,
            show(command),
            last.into_iter().rev().collect::<Vec<_>>().join("\n")
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

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

/// First line of what the command prints, or a note that it is missing.
pub fn version_of(line: &str) -> String {
    match quiet_output(&mut words(line)) {
        Ok(text) => text.lines().next().unwrap_or_default().trim().to_owned(),
        Err(_) => format!("{} is not installed", line.split(' ').next().unwrap_or_default()),
    }
}

/// The program to test: the one given with `--ours`, else a release build of this workspace.
///
/// # Errors
/// If the build fails.
pub fn ours(given: Option<String>) -> Result<PathBuf> {
    if let Some(path) = given {
        return std::path::absolute(&path).with_context(|| path);
    }
    let root = root();
    run(words("cargo build --release --package unwind-perf").current_dir(&root))?;
    Ok(target().join("release/unwind-perf"))
}

/// Those of the options that this build of the command has. Older ones, which are compared with it, lack some.
pub(crate) fn options_of(ours: &Path, options: &[&'static str]) -> Result<Vec<&'static str>> {
    let help = quiet_output(Command::new(ours).arg("--help"))?;
    Ok(options.iter().copied().filter(|option| help.contains(option)).collect())
}

/// Makes the programs that hotspot and pprof start, as links to ours in a folder.
pub(crate) fn link_others(ours: &Path, folder: &Path) -> Result<()> {
    let ours = std::path::absolute(ours).with_context(|| ours.display().to_string())?;
    for name in ["hotspot-perfparser", "perf_to_profile"] {
        let link = folder.join(name);
        std::os::unix::fs::symlink(&ours, &link)
            .with_context(|| format!("cannot make {}", link.display()))?;
    }
    Ok(())
}

/// The folder of what is built.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
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

/// A file's name without its folders.
pub fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
