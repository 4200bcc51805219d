//! Permitted dependencies, as stated in `deny.toml`: licences, duplicates, sources, and known vulnerabilities.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Result, bail};

use super::{Outcome, passes, succeeds};
use crate::{command, licenses};

/// Returns true if cargo-deny is installed.
fn is_installed(root: &Path) -> bool {
    succeeds(command::words("cargo deny --version").current_dir(root))
}

fn not_installed() -> Outcome {
    Outcome::Skipped("cargo-deny is not installed".to_owned())
}

/// Checks licences, bans and sources, which need no network.
pub(super) fn policy(root: &Path) -> Result<Outcome> {
    if !is_installed(root) {
        return Ok(not_installed());
    }
    passes("cargo deny --workspace check bans licenses sources", root)
}

/// Checks known vulnerabilities of dependencies. The list is downloaded, so the check is skipped if that is not
/// possible.
pub(super) fn advisories(root: &Path) -> Result<Outcome> {
    if !is_installed(root) {
        return Ok(not_installed());
    }
    let mut deny = command::words("cargo deny --workspace check advisories");
    command::announce(&deny);
    let output = deny.current_dir(root).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(Outcome::Passed);
    }
    if text.contains("failed to fetch advisory database") {
        return Ok(Outcome::Skipped("the list of advisories cannot be fetched".to_owned()));
    }
    bail!("{text}")
}

/// Checks that the notices of linked packages fit the locked ones.
pub(super) fn notices(root: &Path) -> Result<Outcome> {
    licenses::check(root)?;
    Ok(Outcome::Passed)
}
