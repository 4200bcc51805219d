//! Start and end of perf. Signals that should end this process end the recording: perf gets them, and the command
//! continues with the data that perf wrote.
#![allow(clippy::disallowed_methods, reason = "a place where perf is started")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::probes::SetProbes;

/// Runs perf to its end, with the standard streams of this process, and removes the probes.
pub(super) fn perf(
    program: &Path,
    words: &[OsString],
    probes: &SetProbes,
) -> io::Result<ExitStatus> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    // Later signals are forwarded.
    if probes.was_interrupted() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let mut child = Command::new(program).args(words).spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let forwarding = std::thread::spawn(move || {
        for signal in signals.forever() {
            // On these signals perf ends the recording, writes its data, and ends itself by the signal.
            // If a terminal sent the signal to both, the second one has no effect.
            let signal = if signal == SIGTERM { Signal::TERM } else { Signal::INT };
            if let Some(pid) = pid {
                let _ = kill_process(pid, signal);
            }
        }
    });
    let ended = child.wait();
    probes.remove();
    handle.close();
    let _ = forwarding.join();
    // From now on signals end this process. If they cannot be caught, they do so without removing incomplete files.
    let _ = host::clean_up_on_signals();
    ended
}

/// Messages of an ended perf.
#[derive(Debug)]
pub(super) struct PerfOutput {
    /// True if its exit status is 0.
    pub(super) is_success: bool,
    /// Its standard output and standard error.
    pub(super) text: String,
}

/// Runs perf to its end without input, with messages in English.
///
/// # Errors
/// If it cannot be started.
pub(super) fn said_by(program: &Path, words: &[impl AsRef<OsStr>]) -> io::Result<PerfOutput> {
    let mut command = Command::new(program);
    let ran = command.args(words).env("LC_ALL", "C").stdin(Stdio::null()).output()?;
    let mut text = String::from_utf8_lossy(&ran.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&ran.stderr));
    Ok(PerfOutput { is_success: ran.status.success(), text })
}

/// Returns the output of perf; empty if it cannot be started.
pub(super) fn text_of(program: &Path, words: &[&str]) -> String {
    said_by(program, words).map_or_else(|_| String::new(), |said| said.text)
}
