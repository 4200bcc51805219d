//! `cargo xtask dist`: builds the release program, a Debian package and Python wheels of it. Tests all of them:
//! installed into an empty folder, and run on recordings of the test data.
//!
//! ```text
//!   program (profile dist, by zig for an old C library) -- man page, completions -- cargo-deb --> target/dist/packages/*.deb
//!     of each processor                                                        '-- maturin ----> target/dist/packages/*.whl
//! ```
//!
//! Both packers are installed below the target folder if they are missing.

mod check;
mod portable;
mod pythons;
mod tools;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;
use tools::Maturin;
use wheel::Builder;

/// Processors with a wheel, by their names in Rust and Linux.
pub(crate) const PROCESSORS: &[&str] = &["x86_64", "aarch64"];

/// Generated files of the packages: name, and arguments that print it.
const PRINTED: &[(&str, &[&str])] = &[
    ("unwind-perf.1", &["man"]),
    ("unwind-perf.bash", &["completions", "bash"]),
    ("unwind-perf.zsh", &["completions", "zsh"]),
    ("unwind-perf.fish", &["completions", "fish"]),
];

/// Other names of the program in the Debian package: links in its folder of generated files.
const LINKS: &[(&str, &str)] =
    &[("perf_to_profile", "unwind-perf"), ("hotspot-perfparser", "../../bin/unwind-perf")];

/// Builds the packages and tests them.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let named = args.names()?;
    let here = std::env::consts::ARCH;
    if let Some(name) = named.iter().find(|name| !PROCESSORS.contains(&name.as_str())) {
        bail!("no processor {name}; there are: {}", PROCESSORS.join(" "));
    }
    if !PROCESSORS.contains(&here) {
        bail!("packages are made on {}, not on {here}", PROCESSORS.join(" or "));
    }
    // This machine's processor comes first: its program prints the files of all packages.
    let others = PROCESSORS.iter().copied().filter(|&other| {
        other != here && (named.is_empty() || named.iter().any(|name| name == other))
    });
    let processors: Vec<&str> = std::iter::once(here).chain(others).collect();

    let build = std::path::absolute(command::target().join("dist"))?;
    let packages = build.join("packages");
    emptied(&packages)?;
    let maturin = Maturin::get()?;
    let builders: Vec<Builder<'_>> =
        processors.iter().map(|processor| Builder { maturin: &maturin, processor }).collect();
    let mut folders = Vec::new();
    for builder in &builders {
        folders.push(builder.program(&build.join("programs"))?);
    }
    let (own, folder) = (builders.first().context("a processor")?, folders.first());
    let printed = print(folder.context("a program")?)?;
    let deb = deb(&packages, &own.triple())?;
    println!("{}: {} KiB", deb.display(), deb.metadata()?.len() / 1024);
    check::deb(&deb, &build.join("try-deb"))?;
    for (builder, folder) in builders.iter().zip(&folders) {
        let wheel = builder.wheel(&folder.join("unwind-perf"), &printed, &packages)?;
        println!("{}: {} KiB", wheel.display(), wheel.metadata()?.len() / 1024);
        let scratch = build.join(format!("try-wheel-{}", builder.processor));
        check::wheel(&wheel, builder.processor, &scratch)?;
        if builder.processor == here {
            pythons::check(&wheel, &build)?;
        }
    }
    println!("all packages install, and their programs print what is expected");
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual page and the completions into a folder beside the program.
fn print(programs: &Path) -> Result<PathBuf> {
    let folder = programs.join("printed");
    emptied(&folder)?;
    for &(name, arguments) in PRINTED {
        let text = command::output(Command::new(programs.join("unwind-perf")).args(arguments))?;
        std::fs::write(folder.join(name), text)?;
    }
    // Debian requires compressed manual pages.
    let page = folder.join("unwind-perf.1");
    command::run(command::words("gzip --best --no-name --force --keep").arg(page))?;
    for (name, target) in LINKS {
        std::os::unix::fs::symlink(target, folder.join(name))?;
    }
    Ok(folder)
}

/// Packs the Debian package; the command's manifest states its contents and their paths.
fn deb(packages: &Path, triple: &str) -> Result<PathBuf> {
    let mut cargo = Command::new(tools::cargo_deb()?);
    cargo.args(["--no-build", "--no-strip", "--profile=dist", "--package=unwind-perf", "--locked"]);
    cargo.args(["--target", triple, "--output"]).arg(packages).current_dir(command::root());
    command::run(&mut cargo)?;
    only(packages, "deb")
}

/// Returns the only file of that ending in a folder.
fn only(folder: &Path, ending: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let fits = |path: &PathBuf| path.extension().is_some_and(|found| found == ending);
    let mut found = entries.iter().map(std::fs::DirEntry::path).filter(fits);
    match (found.next(), found.next()) {
        (Some(path), None) => Ok(path),
        _ => bail!("no single .{ending} in {}", folder.display()),
    }
}

/// Creates an empty folder; removes its old contents.
fn emptied(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(std::fs::create_dir_all(folder)?),
    }
}
