//! `cargo xtask release VERSION`: checks that the version can be released, builds all packages, tags the commit and
//! publishes the crates. With `--dry-run` it neither tags nor publishes, and reports everything that is missing.

mod preflight;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::{command, dist};

/// Releases the version, or tries to.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let is_dry = args.flag("--dry-run");
    let is_without_packages = args.flag("--no-packages");
    let profile = args.value("--profile")?.unwrap_or_else(|| "dist".to_owned());
    let names = args.names()?;
    let [version] = names.as_slice() else { bail!("which version? cargo xtask release VERSION") };
    if is_without_packages && !is_dry {
        bail!("--no-packages is for --dry-run");
    }
    let root = command::root();
    let problems = preflight::problems(&root, version)?;
    for problem in &problems {
        println!("not ready: {problem}");
    }
    if !is_dry && !problems.is_empty() {
        bail!("{version} cannot be released: {} problems", problems.len());
    }
    publish(&root, true)?;
    if !is_without_packages {
        let packages = dist::build(&[], &dist::Settings::new(profile)?)?;
        println!("packages: {}", packages.display());
    }
    if is_dry {
        println!(
            "dry run of {version}: nothing is tagged or published; {} problems",
            problems.len()
        );
        return Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let tag = preflight::tag(version);
    if preflight::tagged(&root, &tag).is_none() {
        let mut git = command::words("git tag --annotate --message");
        command::run(git.arg(format!("unwind-perf {version}")).arg(&tag).current_dir(&root))?;
    }
    publish(&root, false)?;
    println!("{version} is published; push the tag {tag}, and upload the packages");
    Ok(ExitCode::SUCCESS)
}

/// Packs and compiles all crates that are published; uploads them unless the run is dry.
fn publish(root: &Path, is_dry: bool) -> Result<()> {
    let mut cargo = command::words("cargo publish --workspace --locked");
    if is_dry {
        // Uncommitted changes are a problem that is reported already.
        cargo.args(["--dry-run", "--allow-dirty"]);
    }
    command::run(cargo.current_dir(root)).context("the crates cannot be published")
}
