//! Running other programs: every command is printed before it runs, and a failure names it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Returns the folder of the workspace.
pub fn root() -> PathBuf {
    // Set by `cargo run`; otherwise the current folder is the workspace's.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    manifest.as_deref().and_then(Path::parent).map_or_else(here, Path::to_path_buf)
}

/// Returns the package of a crate by the name of its folder. Libraries are published under the name of the project.
pub fn package(folder: &str) -> String {
    match folder {
        "unwind-perf" | "lab" | "xtask" => folder.to_owned(),
        library => format!("unwind-perf-{library}"),
    }
}

/// Splits a line of words into a command; for lines in this source, without quoting.
pub fn words(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Returns the command as a shell line, with its folder if it has one.
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

/// Prints a command before it runs.
pub fn announce(command: &Command) {
    eprintln!("$ {}", show(command));
}

/// Runs a command with our own terminal.
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

/// Runs a command and returns its standard output.
///
/// # Errors
/// If it cannot be started or fails; the message has the end of its diagnostics.
pub fn output(command: &mut Command) -> Result<String> {
    announce(command);
    quiet_output(command)
}

/// Same as [`output`], without printing the command; for short queries such as versions.
///
/// # Errors
/// As for [`output`].
pub fn quiet_output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| show(command))?;
    if !output.status.success() {
        let reported = String::from_utf8_lossy(&output.stderr);
        // The reason of an exception stands before its stack.
        let last: Vec<&str> = reported.lines().rev().take(25).collect();
        bail!(
            "{}: {}\n{}",
            output.status,
            show(command),
            last.into_iter().rev().collect::<Vec<_>>().join("\n")
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the first line of a command's output, or a note that it is missing.
pub fn version_of(line: &str) -> String {
    match quiet_output(&mut words(line)) {
        Ok(text) => text.lines().next().unwrap_or_default().trim().to_owned(),
        Err(_) => format!("{} is not installed", line.split(' ').next().unwrap_or_default()),
    }
}

/// Returns the program to test: the one given with `--ours`, else a release build of this workspace.
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

/// Returns the target folder.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns a file's name without its folders.
pub fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
