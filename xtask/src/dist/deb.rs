//! The Debian package of a processor, by cargo-deb. The command's manifest states its contents and their paths.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::wheel::Builder;
use super::{check, only, portable, tools};
use crate::command;

/// Other names of the program: links in the folder of generated files.
const LINKS: &[(&str, &str)] =
    &[("perf_to_profile", "unwind-perf"), ("hotspot-perfparser", "../../bin/unwind-perf")];

/// Packs the program and checks the package: with lintian if it is installed, and by an installation if it is for this
/// processor.
pub(super) fn build(
    builder: &Builder<'_>,
    programs: &Path,
    printed: &Path,
    packages: &Path,
    scratch: &Path,
) -> Result<PathBuf> {
    contents(builder, programs, printed)?;
    let folder = packages.join("deb");
    super::emptied(&folder)?;
    let mut cargo = Command::new(tools::cargo_deb()?);
    cargo.args(["--no-build", "--no-strip", "--package=unwind-perf", "--locked", "--target"]);
    cargo.arg(builder.triple()).arg(format!("--profile={}", builder.settings.profile));
    cargo.arg("--output").arg(&folder).current_dir(command::root());
    command::run(builder.settings.apply(&mut cargo))?;
    let packed = only(&folder, "deb")?;
    let deb = packages.join(command::file_name(&packed));
    std::fs::rename(packed, &deb)?;
    std::fs::remove_dir(folder)?;
    let needs = portable::check(&programs.join("unwind-perf"), builder.processor)?;
    check_dependencies(&deb, &needs)?;
    lint(&deb)?;
    if builder.processor == std::env::consts::ARCH {
        check::deb(&deb, &scratch.join("try-deb"))?;
    }
    Ok(deb)
}

/// Writes the files that only this package has into a folder beside the program.
fn contents(builder: &Builder<'_>, programs: &Path, printed: &Path) -> Result<()> {
    let folder = programs.join("debian");
    super::emptied(&folder)?;
    for entry in std::fs::read_dir(printed)? {
        let path = entry?.path();
        std::fs::copy(&path, folder.join(command::file_name(&path)))?;
    }
    // Debian requires compressed manual pages, one for each command.
    let page = folder.join("unwind-perf.1");
    command::run(command::words("gzip --best --no-name --force").arg(page))?;
    std::os::unix::fs::symlink("unwind-perf.1.gz", folder.join("perf_to_profile.1.gz"))?;
    for (name, target) in LINKS {
        std::os::unix::fs::symlink(target, folder.join(name))?;
    }
    let log = folder.join("changelog.Debian");
    std::fs::write(&log, changelog(builder.settings.time)?)?;
    let upstream = folder.join("changelog");
    std::fs::copy(command::root().join("docs/CHANGELOG.md"), &upstream)?;
    command::run(command::words("gzip --best --no-name --force").arg(log).arg(upstream))?;
    let year = date(builder.settings.time, "+%Y")?;
    std::fs::write(folder.join("copyright"), COPYRIGHT.replace("YEAR", year.trim()))?;
    std::fs::write(folder.join("lintian-overrides"), OVERRIDES)?;
    Ok(())
}

/// Copyright in Debian's form, for the year of the commit.
const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: unwind-perf
Comment: THIRD-PARTY-LICENSES.txt beside this file has the licences of the libraries in the program.

Files: *
Copyright: YEAR the unwind-perf contributors
License: MIT or Apache-2.0

License: MIT
 The text is in LICENSE-MIT beside this file.

License: Apache-2.0
 The text is in /usr/share/common-licenses/Apache-2.0.
";

/// Findings of lintian that are intended.
const OVERRIDES: &str = "\
# No bug of Debian's tracker is closed: the package is made elsewhere.
unwind-perf: initial-upload-closes-no-bugs
# `record` reads which package has a file, to name the one with its debug information.
unwind-perf: uses-dpkg-database-directly
";

/// Returns a changelog in Debian's form, with the time of the commit.
fn changelog(time: u64) -> Result<String> {
    let version = super::version()?;
    let date = date(time, "--rfc-email")?;
    Ok(format!(
        "unwind-perf ({version}-1) unstable; urgency=medium\n\n  * Release {version}; CHANGELOG.md has its changes.\n\n \
         -- unwind-perf developers <developers@unwind-perf.invalid>  {date}"
    ))
}

/// Returns a time, in seconds since 1970, in a form of the command `date`.
pub(super) fn date(time: u64, form: &str) -> Result<String> {
    let mut date = command::words("date --utc --date");
    command::quiet_output(date.arg(format!("@{time}")).arg(form).env("LC_ALL", "C"))
}

/// Checks that the package depends on what its program needs.
fn check_dependencies(deb: &Path, needs: &portable::Needs) -> Result<()> {
    let mut field = command::words("dpkg-deb --field");
    let stated = command::quiet_output(field.arg(deb).arg("Depends"))?;
    let expected = needs.debian_packages();
    let name = command::file_name(deb);
    ensure!(stated.trim() == expected, "{name} depends on {}, not on {expected}", stated.trim());
    Ok(())
}

/// Checks the package with lintian, if that is installed.
fn lint(deb: &Path) -> Result<()> {
    if command::quiet_output(&mut command::words("lintian --version")).is_err() {
        println!("skipped: lintian is not installed, to check {}", command::file_name(deb));
        return Ok(());
    }
    let mut lintian = command::words("lintian --fail-on error,warning --allow-root");
    command::run(lintian.arg(deb))
}
