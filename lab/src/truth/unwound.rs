//! Chains that a command finds in a recording, and the pairing of two runs.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::chains::{Chain, Chains, read};
use crate::compared;
use crate::strings::StringTable;

/// Limit of frames, above any chain; deep recursion is measured as well.
pub(super) const MAX_FRAMES: usize = 100_000;

/// Option that switches off repair.
pub(super) const NO_JOIN: &str = "--no-join";

/// Unwinds a recording with these options of the command.
pub(super) fn unwound<O: AsRef<OsStr>>(
    ours: &Path,
    recording: &Path,
    options: &[O],
    words: &mut StringTable,
) -> Result<Chains> {
    let mut command = Command::new(ours);
    command.args(["--format", "ndjson", "--no-inline", "--quiet"]);
    command.args(["--max-frames", &MAX_FRAMES.to_string()]).args(options).arg(recording);
    compared::read_output(&mut command, &[0, 1], |output| read(output, words))
}

/// Calls `on` with the chains of two runs on the same samples, pair by pair in order.
///
/// # Errors
/// If the runs do not have the same samples.
pub(super) fn pair_by_pair(
    (one, other): (&Chains, &Chains),
    words: &StringTable,
    mut on: impl FnMut(&Chain<'_>, &Chain<'_>),
) -> Result<()> {
    if one.len() != other.len() {
        bail!("{} samples in one run, and {} in the other", one.len(), other.len());
    }
    for (number, (one, other)) in one.iter(words).zip(other.iter(words)).enumerate() {
        if one.0 != other.0 {
            bail!("sample {number} is {:?} in one run, and {:?} in the other", one.0, other.0);
        }
        on(&one.1, &other.1);
    }
    Ok(())
}
