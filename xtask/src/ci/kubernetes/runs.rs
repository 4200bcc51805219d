//! Runs of the commands of containers on this machine.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::container::Container;
use crate::command;

/// The command of the guide that takes a dump, for the shell of the recorder.
const DUMP: &str = "kill -USR2 $(cat /tmp/pid)";
/// Maximum time until the recorder starts, writes a dump, or ends.
const LONGEST: Duration = Duration::from_secs(60);
/// Time until a dump is requested again.
const PAUSE: Duration = Duration::from_secs(3);
/// Least number of samples in a second of all processors at 99 Hz.
const SAMPLES: u64 = 10;

/// Converts a recording, a truncated one, and a missing list: the policy for failures names their exit statuses.
pub(super) fn convert(
    container: &Container,
    root: &Path,
    ours: &Path,
    scratch: &Path,
) -> Result<()> {
    container.create_volumes(scratch)?;
    let recordings = scratch.join("recordings");
    std::fs::create_dir_all(recordings.join("lists"))?;
    let whole = std::fs::read(root.join("testdata/cases/spin-lld/perf.data"))?;
    let half = whole.get(..whole.len() / 2).context("half a recording")?;
    for (index, bytes) in [&*whole, half].into_iter().enumerate() {
        let recording = recordings.join(format!("{index}.data"));
        std::fs::write(&recording, bytes)?;
        let list = format!("{}\n", recording.display());
        std::fs::write(recordings.join("lists").join(index.to_string()), list)?;
    }
    for (index, status, outcome) in
        [("0", 0, Some("ok")), ("1", 1, Some("damaged")), ("2", 2, None)]
    {
        let arguments = container.arguments(&[("JOB_COMPLETION_INDEX", index)], scratch);
        let mut run = Command::new(ours);
        run.args(arguments).env_clear();
        command::announce(&run);
        let output = run.output()?;
        let reported = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(status), "{}: {reported}", output.status);
        let manifest: Option<Value> = match output.stdout.as_slice() {
            [] => None,
            line => Some(serde_json::from_slice(line)?),
        };
        let found = manifest.as_ref().and_then(|it| it.get("status")?.as_str());
        ensure!(found == outcome, "list {index}: {found:?} instead of {outcome:?}");
    }
    Ok(())
}

/// Starts the recorder, takes a dump by the command of the guide, and ends it: both files must have samples.
pub(super) fn recorder(
    container: &Container,
    guide: &Path,
    ours: &Path,
    scratch: &Path,
) -> Result<()> {
    let text = std::fs::read_to_string(guide)?;
    ensure!(text.contains(DUMP), "{}: no {DUMP}", guide.display());
    container.create_volumes(scratch)?;
    let programs = scratch.join("bin");
    std::fs::create_dir_all(&programs)?;
    std::os::unix::fs::symlink(ours, programs.join("unwind-perf"))?;
    let search = std::env::var_os("PATH").unwrap_or_default();
    let search = std::iter::once(programs).chain(std::env::split_paths(&search));
    let log = scratch.join("log");
    let (shell, options) = container.command.split_first().context("no command")?;
    let mut record = Command::new(shell);
    record.args(options).args(container.arguments(&[("NODE_NAME", "node-1")], scratch));
    record.env("PATH", std::env::join_paths(search)?).env("TMPDIR", scratch.join("tmp"));
    record.stdin(Stdio::null()).stderr(File::create(&log)?);
    command::announce(&record);
    let mut running = Recorder(record.spawn()?);
    running.wait_for(&log, "kill -USR2 ", LONGEST)?;
    // Without samples, no file is written.
    for _ in 0..LONGEST.as_secs() / PAUSE.as_secs() {
        std::thread::sleep(PAUSE);
        let mut dump = Command::new(shell);
        command::run(dump.args(options).arg(container.placed(DUMP, scratch)))?;
        if running.wait_for(&log, "recorded: ", PAUSE).is_ok() {
            break;
        }
    }
    let mut kill = command::words("kill -TERM");
    command::run(kill.arg(running.0.id().to_string()))?;
    running.wait_for_end(&log)?;

    let recordings = scratch.join("recordings");
    let last = recordings.join("node-1.data");
    for recording in [dumped(&recordings)?, last] {
        let mut top = Command::new(ours);
        top.arg("top").arg(&recording).arg("--buildid-dir").arg(recordings.join("files"));
        let top = command::quiet_output(top.args(["--format", "json"]))?;
        let top: Value = serde_json::from_str(&top)?;
        let samples = top.get("samples").and_then(Value::as_u64);
        ensure!(samples >= Some(SAMPLES), "{}: {samples:?} samples", recording.display());
    }
    Ok(())
}

/// Returns a dump in a folder.
fn dumped(folder: &Path) -> Result<PathBuf> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if command::file_name(&path).starts_with("node-1.data.") {
            return Ok(path);
        }
    }
    bail!("no dump in {}", folder.display())
}

/// The recorder in progress; ended when dropped.
struct Recorder(Child);

impl Recorder {
    /// Waits until a text is in its log, for this time at most.
    fn wait_for(&mut self, log: &Path, text: &str, longest: Duration) -> Result<()> {
        let begun = Instant::now();
        loop {
            let found = std::fs::read_to_string(log)?;
            if found.contains(text) {
                return Ok(());
            }
            let ended = self.0.try_wait()?;
            if ended.is_some() || begun.elapsed() > longest {
                bail!("the recorder does not print {text}: {ended:?}\n{found}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until it ends, without an error.
    fn wait_for_end(&mut self, log: &Path) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < LONGEST {
            if let Some(status) = self.0.try_wait()? {
                let found = std::fs::read_to_string(log)?;
                ensure!(status.success(), "{status}\n{found}");
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("the recorder does not end")
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It has usually ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
