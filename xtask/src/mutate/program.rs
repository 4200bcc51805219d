//! A build of the command, run with limits.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

/// File that a run writes, in the folder of its worker.
pub(super) const OUTPUT: &str = "output";
const MESSAGES: &str = "messages";
/// Seconds of processor time after which the system ends a run, and seconds after which it counts as hanging.
const PROCESSOR_SECONDS: u32 = 20;
const SECONDS: u64 = 120;

/// A build of the command.
pub(super) struct Program {
    pub(super) path: PathBuf,
}

/// End of a run.
pub(super) struct Ended {
    /// Exit status; `None` if a signal ended it, or if it hung.
    pub(super) status: Option<i32>,
    /// Start of its standard error.
    pub(super) messages: String,
    /// Its output.
    pub(super) output: Vec<u8>,
}

impl Program {
    /// Runs it in a folder.
    pub(super) fn run(&self, arguments: &[String], folder: &Path) -> Result<Ended> {
        let output = folder.join(OUTPUT);
        if output.exists() {
            std::fs::remove_file(&output)?;
        }
        let mut command = Command::new("prlimit");
        command.arg(format!("--cpu={PROCESSOR_SECONDS}")).args(["--core=0", "--"]).arg(&self.path);
        command.args(arguments);
        command.current_dir(folder).env_remove("HOME").env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let messages = folder.join(MESSAGES);
        command.stderr(File::create(&messages)?);
        let mut child = command.spawn().context("prlimit (package util-linux)")?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status.code();
            }
            if begun.elapsed() > Duration::from_secs(SECONDS) {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let messages = std::fs::read(messages)?;
        let messages =
            String::from_utf8_lossy(messages.get(..4096).unwrap_or(&messages)).into_owned();
        let output = std::fs::read(output).unwrap_or_default();
        Ok(Ended { status, messages, output })
    }
}

impl Ended {
    /// Returns true if the run ended in a way that is not permitted.
    pub(super) fn has_failed(&self) -> bool {
        !matches!(self.status, Some(0..=2)) || self.messages.contains("panicked at")
    }

    /// Returns the result of a run that wrote JSON.
    pub(super) fn result(&self) -> Option<RunResult> {
        let mut profile: Value = serde_json::from_slice(&self.output).ok()?;
        let mut summary = profile.as_object_mut()?.remove("summary")?;
        let findings = summary.as_object_mut()?.remove("findings")?;
        Some(RunResult { profile, summary, findings: counts(&findings) })
    }
}

/// Result of a run.
#[derive(PartialEq)]
pub(super) struct RunResult {
    profile: Value,
    /// Account of losses, without findings.
    summary: Value,
    /// Number of findings by kind.
    findings: Vec<(String, u64)>,
}

impl RunResult {
    /// Returns true if there is a finding that the result of undamaged files does not have.
    pub(super) fn has_more_findings(&self, undamaged: &Self) -> bool {
        let before =
            |kind: &str| undamaged.findings.iter().find(|it| it.0 == kind).map_or(0, |it| it.1);
        self.findings.iter().any(|(kind, count)| *count > before(kind))
    }

    /// Returns true if the account of complete stacks, lost samples and frames without names differs.
    pub(super) fn accounts_otherwise(&self, undamaged: &Self) -> bool {
        let parts = ["samples", "lost_samples", "lost_records", "end", "losses", "nameless"];
        parts.iter().any(|part| self.summary.get(part) != undamaged.summary.get(part))
    }
}

/// Returns the number of findings by kind.
fn counts(findings: &Value) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for finding in findings.as_array().into_iter().flatten() {
        let kind = finding.get("kind").and_then(Value::as_str).unwrap_or_default();
        let count = finding.get("count").and_then(Value::as_u64).unwrap_or(1);
        match counts.iter_mut().find(|it| it.0 == kind) {
            Some(known) => known.1 += count,
            None => counts.push((kind.to_owned(), count)),
        }
    }
    counts.sort();
    counts
}
