//! Building a program and recording it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use xtask::command;

use super::Program;

/// Options of every recording.
const OPTIONS: &str = "record --quiet --no-buildid-cache -e cpu-clock:u";

/// Settings of a recording.
pub(crate) struct Settings {
    /// Further options of `perf record`.
    pub(crate) options: &'static str,
    /// Time after which a program is stopped.
    pub(crate) most: Duration,
}

/// Builds a program in the folder `work` and records it there. Returns `None` if its tool is missing.
///
/// # Errors
/// If it cannot be built or recorded.
pub(crate) fn record(
    program: &Program,
    settings: &Settings,
    work: &Path,
) -> Result<Option<PathBuf>> {
    if !is_there(program.tool) {
        return Ok(None);
    }
    for source in program.sources {
        let from = command::root().join("testdata/programs").join(source);
        let to = work.join(command::file_name(&from));
        std::fs::copy(&from, to).with_context(|| from.display().to_string())?;
    }
    if !program.build.is_empty() {
        shell(program.build, work)?;
    }
    let data = work.join("perf.data");
    if data.exists() {
        std::fs::remove_file(&data)?;
    }
    // Runs without a shell: otherwise perf would find the mapped files through the first process, the shell.
    let options = settings.options;
    let mut recorded =
        command::words(&format!("perf {OPTIONS} {options} -o perf.data -- {}", program.run));
    recorded.current_dir(work).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command::announce(&recorded);
    let mut recorder = recorded.spawn()?;
    let end = Instant::now() + settings.most;
    while recorder.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(20));
        if Instant::now() >= end {
            command::words(&format!("kill -INT {}", recorder.id())).status()?;
            recorder.wait()?;
        }
    }
    if !data.is_file() {
        bail!("perf wrote nothing");
    }
    Ok(Some(data))
}

/// Runs shell lines; shows their output if they fail.
fn shell(lines: &str, work: &Path) -> Result<()> {
    let mut command = Command::new("sh");
    command.args(["-e", "-c", lines]).current_dir(work);
    command::output(&mut command).map(drop)
}

/// Returns true if a program is in the search path.
fn is_there(tool: &str) -> bool {
    let search = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&search).any(|dir| dir.join(OsStr::new(tool)).is_file())
}
