//! Probes of user programs, by perf.

use std::path::Path;

use anyhow::Result;
use xtask::command;

use crate::consumers::Missing;

const TRACING: &str = "/sys/kernel/tracing";

/// A probe, which is removed at the end.
pub(super) struct Probe {
    /// Its event, as `GROUP:NAME`.
    event: &'static str,
}

impl Probe {
    /// Adds a probe to a program; `definition` is that of `perf probe`, and names registers of x86-64.
    pub(super) fn add(program: &Path, event: &'static str, definition: &str) -> Result<Self> {
        if std::env::consts::ARCH != "x86_64" {
            return Err(Missing("the probe names registers of x86-64".to_owned()).into());
        }
        mount_tracing()?;
        // One of an interrupted check.
        drop(Self { event });
        let add = command::words("perf probe --quiet -x").arg(program).arg(definition).output();
        match add {
            Ok(add) if add.status.success() => Ok(Self { event }),
            Ok(add) => {
                let why = String::from_utf8_lossy(&add.stderr);
                Err(Missing(format!("perf probe: {}", why.trim())).into())
            }
            Err(error) => Err(Missing(format!("perf probe: {error}")).into()),
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let _ = command::words("perf probe --quiet -d").arg(self.event).output();
    }
}

fn mount_tracing() -> Result<()> {
    let is_mounted = || Path::new(TRACING).join("uprobe_events").exists();
    if !is_mounted() {
        let mount = command::words("mount -t tracefs nodev").arg(TRACING).output();
        if !mount.is_ok_and(|it| it.status.success()) || !is_mounted() {
            return Err(Missing(format!("{TRACING} cannot be mounted")).into());
        }
    }
    Ok(())
}
