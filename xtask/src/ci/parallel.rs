//! A command that runs in parallel with other checks. Its output is shown when it is waited for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Outcome;
use crate::command;

/// A running command.
pub(super) struct ParallelCommand {
    /// Its command line.
    shown: String,
    child: Child,
    /// File with its output.
    log: PathBuf,
}

impl ParallelCommand {
    /// Starts it. Creates the file `log`.
    pub(super) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        command::announce(command);
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let shown = command::show(command);
        let file = File::create(log).with_context(|| log.display().to_string())?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().with_context(|| shown.clone())?;
        Ok(Self { shown, child, log: log.to_owned() })
    }

    /// Waits for its end and prints its output. A failure is an error.
    pub(super) fn finish(mut self) -> Result<Outcome> {
        let status = self.child.wait()?;
        print!("{}", String::from_utf8_lossy(&std::fs::read(&self.log)?));
        if !status.success() {
            bail!("{status}: {}", self.shown);
        }
        Ok(Outcome::Passed)
    }
}

impl Drop for ParallelCommand {
    /// Kills it if nothing waited for it.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_when_its_turn_comes() {
        let log = std::env::temp_dir().join(format!("beside-{}", std::process::id()));
        let good = ParallelCommand::start(&mut command::words("echo one"), &log).unwrap();
        assert!(matches!(good.finish(), Ok(Outcome::Passed)));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "one\n");
        let bad = ParallelCommand::start(&mut command::words("false"), &log).unwrap();
        assert_eq!(bad.finish().err().unwrap().to_string(), "exit status: 1: false");
        std::fs::remove_file(&log).unwrap();
    }
}
