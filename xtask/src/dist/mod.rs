//! `cargo xtask dist`: the release programs, a Debian package and a Python wheel of them, and both tried out: installed into
//! an empty place, and run on a recording of the test data.
//!
//! ```text
//!   programs (profile dist) -- man page, completions -- cargo-deb --> target/dist/packages/*.deb
//!                                                   '-- maturin ----> target/dist/packages/*.whl
//! ```
//!
//! Both tools are installed below the target folder where they are missing.

mod check;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;

/// What the package has beside the programs: the file's name, and the arguments that print it.
const PRINTED: &[(&str, &[&str])] = &[
    ("unwind-perf.1", &["man"]),
    ("unwind-perf.bash", &["completions", "bash"]),
    ("unwind-perf.zsh", &["completions", "zsh"]),
    ("unwind-perf.fish", &["completions", "fish"]),
];

/// Where these are in a wheel, below the environment that it is installed into.
const IN_WHEEL: &[(&str, &str)] = &[
    ("unwind-perf.1", "share/man/man1/unwind-perf.1"),
    ("unwind-perf.bash", "share/bash-completion/completions/unwind-perf"),
    ("unwind-perf.zsh", "share/zsh/site-functions/_unwind-perf"),
    ("unwind-perf.fish", "share/fish/vendor_completions.d/unwind-perf.fish"),
];

/// Makes the packages and tries them out.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    args.finish()?;
    let root = command::root();
    let build = command::target().join("dist");
    let packages = build.join("packages");
    match std::fs::remove_dir_all(&packages) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => std::fs::create_dir_all(&packages)?,
    }
    let mut cargo = command::words("cargo build --locked --profile dist --package unwind-perf");
    command::run(cargo.args(["--features", "programs"]).current_dir(&root))?;
    let printed = print(&build)?;
    let deb = deb(&packages)?;
    let wheel = wheel(&packages, &printed)?;
    for package in [&deb, &wheel] {
        println!("{}: {} KiB", package.display(), package.metadata()?.len() / 1024);
    }
    check::deb(&deb, &build.join("try-deb"))?;
    check::wheel(&wheel, &build.join("try-wheel"))?;
    println!("both packages install, and their programs print what is expected");
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual page and the completions into a folder.
fn print(build: &Path) -> Result<PathBuf> {
    let folder = build.join("printed");
    std::fs::create_dir_all(&folder)?;
    for &(name, arguments) in PRINTED {
        let text = command::output(Command::new(build.join("unwind-perf")).args(arguments))?;
        std::fs::write(folder.join(name), text)?;
    }
    // Debian has its manual pages compressed.
    let page = folder.join("unwind-perf.1");
    command::run(command::words("gzip --best --no-name --force --keep").arg(page))?;
    Ok(folder)
}

/// Packs the Debian package; what it has and where is stated in the manifest of the command.
fn deb(packages: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new(tools::cargo_deb()?);
    cargo.args(["--no-build", "--no-strip", "--profile=dist", "--package=unwind-perf", "--locked"]);
    cargo.arg("--output").arg(packages).current_dir(command::root());
    command::run(&mut cargo)?;
    only(packages, "deb")
}

/// Packs the wheel. maturin takes what is not a program from a folder beside the manifest, which is there only meanwhile.
fn wheel(packages: &Path, printed: &Path) -> Result<PathBuf> {
    let maturin = tools::maturin()?;
    let folder = command::root().join("crates/unwind-perf");
    let data = Data(folder.join("unwind_perf.data"));
    for (name, place) in IN_WHEEL {
        let to = data.0.join("data").join(place);
        std::fs::create_dir_all(to.parent().context("a folder")?)?;
        std::fs::copy(printed.join(name), to)?;
    }
    let mut build = Command::new(maturin);
    build.args(["build", "--locked", "--profile", "dist", "--out"]).arg(packages);
    command::run(build.current_dir(&folder))?;
    drop(data);
    only(packages, "whl")
}

/// A folder that is removed in the end.
struct Data(PathBuf);

impl Drop for Data {
    fn drop(&mut self) {
        // Where it cannot be removed, the next run writes into it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The one file of that ending in a folder.
fn only(folder: &Path, ending: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let fits = |path: &PathBuf| path.extension().is_some_and(|found| found == ending);
    let mut found = entries.iter().map(std::fs::DirEntry::path).filter(fits);
    match (found.next(), found.next()) {
        (Some(path), None) => Ok(path),
        _ => bail!("no single .{ending} in {}", folder.display()),
    }
}
