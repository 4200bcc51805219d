//! Runs of the program on an untrusted recording: repeats those that may have failed by chance, and states the outcome.
#![allow(clippy::disallowed_methods, reason = "the program starts itself here")]

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::account::Account;
use super::process::{Ended, run};
use crate::error::{Error, Failure};
use crate::manifest::Status;

/// Exit status of a run without output, which an immediate repetition would not change.
const NO_OUTPUT: i32 = 2;
/// Exit status of a run that wrote the rows of a damaged recording.
const DAMAGED: i32 = 1;
/// Prefix of messages.
const PREFIX: &str = "unwind-perf: ";

/// Runs of the program in child processes.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The program.
    pub program: PathBuf,
    /// Options of the runs, as a JSON object.
    pub options: String,
    /// Number of repetitions of a run that was killed or took too long.
    pub retries: u32,
    /// Limit of the duration of a run.
    pub timeout: Option<Duration>,
}

/// Outcome of the runs on one recording.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) message: String,
    /// Number of runs.
    pub(super) attempts: u32,
    /// Empty without rows.
    pub(super) account: Account,
}

impl Outcome {
    /// Returns the outcome of a conversion without rows.
    pub(super) fn without_rows(status: Status, message: String, attempts: u32) -> Self {
        Self { status, message, attempts, account: Account::default() }
    }

    /// Replaces the path of a recording in messages by another name.
    pub(super) fn named(mut self, path: &Path, name: &str) -> Self {
        let path = path.to_string_lossy();
        if path == name {
            return self;
        }
        self.message = self.message.replace(&*path, name);
        for finding in &mut self.account.findings {
            finding.message = finding.message.replace(&*path, name);
        }
        self
    }
}

impl Runner {
    /// Writes the rows of a recording to the file `part`.
    ///
    /// A run that a signal or the time limit ends is repeated, but not one with exit status 2, which has a reason.
    ///
    /// # Errors
    /// If no process can be started, the call is wrong, or a file other than the recording is missing.
    pub(super) fn outcome(&self, recording: &Path, part: &Path) -> Result<Outcome, Error> {
        let mut message = String::new();
        for attempts in 1..=self.retries.saturating_add(1) {
            let ended = run(self.command(recording, part), self.options.as_bytes(), self.timeout);
            let ended =
                ended.map_err(|source| Error::Start { program: self.program.clone(), source })?;
            match ended.code {
                Some(code @ (0 | DAMAGED)) => match serde_json::from_slice(&ended.output) {
                    Ok(account) => return Ok(with_rows(account, code, &ended, attempts)),
                    Err(error) => {
                        message = format!("the program's output is not understood: {error}");
                    }
                },
                Some(NO_OUTPUT) => return without_output(recording, &ended, attempts),
                Some(code) => message = message_of(&ended, code),
                None => {
                    let seconds = self.timeout.unwrap_or_default().as_secs_f64();
                    message = format!("the run took longer than {seconds} seconds");
                }
            }
        }
        let attempts = self.retries.saturating_add(1);
        Ok(Outcome::without_rows(Status::GaveUp, message, attempts))
    }

    fn command(&self, recording: &Path, part: &Path) -> Command {
        let mut command = Command::new(&self.program);
        // Lists of processes show it instead of the link to this program.
        command.arg0("unwind-perf");
        command.arg("convert-recording").arg("--part").arg(part).arg("--").arg(recording);
        command.env("UNWIND_PERF_ERRORS", "json");
        // The child reads untrusted data, and no store.
        #[cfg(feature = "urls")]
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(crate::remote::is_credential) {
                command.env_remove(name);
            }
        }
        command
    }
}

fn with_rows(account: Account, code: i32, ended: &Ended, attempts: u32) -> Outcome {
    let status = if code == DAMAGED { Status::Damaged } else { Status::Ok };
    let message = match status {
        Status::Damaged => last_line(&ended.errors).unwrap_or_default(),
        _ => account.message.clone(),
    };
    Outcome { status, message, attempts, account }
}

/// Returns the outcome of a run that had a reason for having no output.
fn without_output(recording: &Path, ended: &Ended, attempts: u32) -> Result<Outcome, Error> {
    let Some(failure) = failure_of(&ended.errors) else {
        let message = message_of(ended, NO_OUTPUT);
        return Ok(Outcome::without_rows(Status::Unreadable, message, attempts));
    };
    let status = match failure.cause.as_str() {
        "call" | "output" => return Err(Error::refused(failure)),
        "missing" if !lacks(recording, failure.path.as_deref()) => {
            return Err(Error::refused(failure));
        }
        "not-a-recording" => Status::NotARecording,
        _ => Status::Unreadable,
    };
    Ok(Outcome::without_rows(status, failure.message, attempts))
}

/// Returns true if the recording, or a file in its folder, does not exist.
#[allow(clippy::disallowed_methods, reason = "the user named the recording")]
fn lacks(recording: &Path, missing: Option<&Path>) -> bool {
    !recording.exists() || missing.is_some_and(|missing| missing.starts_with(recording))
}

/// Returns the message about a run that ended with `code`.
fn message_of(ended: &Ended, code: i32) -> String {
    let failure = failure_of(&ended.errors).map(|failure| failure.message);
    let message = failure.or_else(|| last_line(&ended.errors));
    message.unwrap_or_else(|| format!("the program ended with status {code}"))
}

/// Returns the line of JSON about the error of a run.
fn failure_of(errors: &[u8]) -> Option<Failure> {
    let mut lines = errors.split(|&byte| byte == b'\n').rev();
    lines.find_map(|line| serde_json::from_slice(line).ok())
}

/// Returns the last message on standard error, apart from lines of JSON about errors.
fn last_line(errors: &[u8]) -> Option<String> {
    let lines = errors.split(|&byte| byte == b'\n').rev();
    let mut messages =
        lines.filter(|line| !line.is_empty() && serde_json::from_slice::<Failure>(line).is_err());
    let line = String::from_utf8_lossy(messages.next()?).into_owned();
    Some(line.strip_prefix(PREFIX).map(str::to_owned).unwrap_or(line))
}
