//! The kernel's list of uprobes.
//!
//! Source: kernel documentation, `trace/uprobetracer.rst`.
#![allow(clippy::disallowed_methods, reason = "the place where probes are written to the kernel")]

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use host::{Host, Origin};
use rustix::io::Errno;

use crate::args::host;
use crate::terminal::shown;

/// Usual mounts of tracefs.
const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// List of uprobes.
const EVENTS: &str = "uprobe_events";
/// How long an ended perf may still use a probe.
const PATIENCE: Duration = Duration::from_secs(2);

/// A mounted tracefs.
pub(super) struct Tracefs {
    folder: PathBuf,
}

impl Tracefs {
    /// Returns the tracefs that this process may change.
    ///
    /// # Errors
    /// If there is none; the message names the command that helps.
    pub(super) fn find(host: &dyn Host) -> anyhow::Result<Self> {
        let folders = MOUNTS.map(PathBuf::from);
        let found = folders.iter().find(|it| host.stat(&it.join(EVENTS), Origin::System).is_ok());
        let Some(folder) = found else {
            if rustix::process::geteuid().is_root() {
                bail!("--probe needs tracefs; run mount -t tracefs nodev {}", MOUNTS[0]);
            }
            bail!("--probe needs root; run sudo unwind-perf record --probe …");
        };
        let tracefs = Self { folder: folder.clone() };
        match tracefs.events() {
            Ok(_) => Ok(tracefs),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                bail!("--probe needs root; run sudo unwind-perf record --probe …")
            }
            Err(error) => bail!("--probe: {}: {error}", folder.join(EVENTS).display()),
        }
    }

    /// Opens the list. Without `append`, all probes of the system would be removed.
    fn events(&self) -> io::Result<std::fs::File> {
        OpenOptions::new().append(true).open(self.folder.join(EVENTS))
    }

    /// Returns true if an event, `GROUP:NAME`, exists.
    pub(super) fn has(&self, event: &str) -> bool {
        let folder = self.folder.join("events").join(event.replace(':', "/"));
        host().stat(&folder, Origin::System).is_ok()
    }

    /// Adds a probe by its definition.
    ///
    /// # Errors
    /// If the kernel refuses it, with its reason.
    pub(super) fn add(&self, definition: &str) -> anyhow::Result<()> {
        match self.write(definition) {
            Ok(()) => Ok(()),
            Err(error) => {
                let reason = self.reason(definition).unwrap_or_else(|| error.to_string());
                bail!("{reason}: {}", shown(definition))
            }
        }
    }

    /// Removes an event with all of its places. A missing event is removed already.
    pub(super) fn remove(&self, event: &str) -> io::Result<()> {
        let start = Instant::now();
        let definition = format!("-:{}", event.replace(':', "/"));
        while let Err(error) = self.write(&definition) {
            if !self.has(event) {
                break;
            }
            let is_busy = error.raw_os_error() == Some(Errno::BUSY.raw_os_error());
            if !is_busy || start.elapsed() > PATIENCE {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn write(&self, line: &str) -> io::Result<()> {
        // The kernel reads a definition from one write.
        self.events()?.write_all(format!("{line}\n").as_bytes())
    }

    /// Returns the kernel's reason for the last refusal, if it is about the definition.
    fn reason(&self, definition: &str) -> Option<String> {
        let log = host().read(&self.folder.join("error_log"), Origin::System).ok()?;
        reason_in(&String::from_utf8_lossy(&log), definition)
    }
}

/// Returns the reason in a log: an entry is a line with `error: ` and one with the command.
///
/// Source: kernel documentation, `trace/ftrace.rst`, `error_log`.
fn reason_in(log: &str, definition: &str) -> Option<String> {
    let mut reason = None;
    let mut last = None;
    for line in log.lines() {
        if let Some((_, error)) = line.split_once(" error: ") {
            last = Some(error.trim().to_owned());
        } else if line.trim().strip_prefix("Command: ") == Some(definition) {
            reason = last.take().or(reason);
        }
    }
    reason
}

/// Returns true if a path can be part of a definition, which spaces separate.
pub(super) fn is_writable(path: &Path) -> bool {
    path.to_str().is_some_and(|path| !path.contains(char::is_whitespace) && !path.contains('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_that_of_the_definition() {
        let log = "[ 1.5] trace_uprobe: error: Invalid argument name\n  Command: p:a/b /x:0x1 1=%di\n\
                   \x20                ^\n[ 1.6] trace_uprobe: error: Bad offset\n  Command: p:a/c /x:q\n          ^\n";
        assert_eq!(reason_in(log, "p:a/b /x:0x1 1=%di"), Some("Invalid argument name".to_owned()));
        assert_eq!(reason_in(log, "p:a/c /x:q"), Some("Bad offset".to_owned()));
        assert_eq!(reason_in(log, "p:a/d /x:q"), None);
    }

    #[test]
    fn spaces_separate_parts_of_definitions() {
        assert!(is_writable(Path::new("/usr/bin/a:b")));
        assert!(!is_writable(Path::new("/tmp/a b")));
    }
}
