//! A child process whose input and output are in memory, with a limit of its duration.
#![allow(clippy::disallowed_methods, reason = "the program starts itself here")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Maximum number of bytes that are read of one output of a child.
const MAX_OUTPUT: u64 = 16 << 20;

/// End of a child process.
#[derive(Debug)]
pub(super) struct Ended {
    /// Exit status, or the negative number of the signal that ended it; `None` if the time was over.
    pub(super) code: Option<i32>,
    /// Standard output, at most 16 MiB.
    pub(super) output: Vec<u8>,
    /// Standard error, at most 16 MiB.
    pub(super) errors: Vec<u8>,
}

/// Runs a command with `input` as its standard input. The child is killed after `timeout`.
///
/// # Errors
/// If the child cannot be started or observed.
pub(super) fn run(
    mut command: Command,
    input: &[u8],
    timeout: Option<Duration>,
) -> io::Result<Ended> {
    // Files in memory never block, unlike pipes.
    let (stdin, stdout, stderr) = (in_memory()?, in_memory()?, in_memory()?);
    stdin.write_all_at(input, 0)?;
    let mut child = command
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        // Signals of the terminal go to the parent alone.
        .process_group(0)
        .spawn()?;
    let in_time = ended_in_time(&mut child, timeout);
    if !matches!(in_time, Ok(true)) {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait()?;
    let code = status.code().unwrap_or_else(|| -status.signal().unwrap_or_default());
    let code = in_time?.then_some(code);
    Ok(Ended { code, output: contents(&stdout)?, errors: contents(&stderr)? })
}

/// Waits for the end of a child. Returns false if it was still running after `timeout`.
fn ended_in_time(child: &mut Child, timeout: Option<Duration>) -> io::Result<bool> {
    let Some(timeout) = timeout else {
        child.wait()?;
        return Ok(true);
    };
    let deadline = Instant::now().checked_add(timeout);
    let descriptor = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let wait = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut [PollFd::new(&descriptor, PollFlags::IN)], wait.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn in_memory() -> io::Result<File> {
    Ok(File::from(memfd_create("unwind-perf", MemfdFlags::CLOEXEC)?))
}

fn contents(file: &File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len().min(MAX_OUTPUT);
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &str, timeout: Option<f64>) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, input.as_bytes(), timeout.map(Duration::from_secs_f64)).expect("a shell")
    }

    #[test]
    fn input_output_and_status_are_passed_on() {
        let ended = shell("cat; echo error >&2; exit 7", "input", Some(60.0));
        assert_eq!(ended.code, Some(7));
        assert_eq!((&*ended.output, &*ended.errors), (&b"input"[..], &b"error\n"[..]));
        assert_eq!(shell("kill -9 $$", "", None).code, Some(-9));
    }

    #[test]
    fn a_long_run_is_killed() {
        let started = Instant::now();
        let ended = shell("echo begun; exec sleep 100", "", Some(0.5));
        assert_eq!((ended.code, &*ended.output), (None, &b"begun\n"[..]));
        assert!(started.elapsed() < Duration::from_secs(50));
    }
}
