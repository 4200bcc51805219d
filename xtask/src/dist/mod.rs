//! `cargo xtask dist`: builds the release program and its packages, and tests them: installed into an empty folder, and
//! run on recordings of the test data.
//!
//! ```text
//!   program (by zig, for an old C library) -- man page, completions -- cargo-deb --> *.deb
//!     of each processor                                            '-- maturin ----> *.whl, sdist
//!   static program ------------------------------------------------- tar, xz -----> *.tar.xz
//!                     '-------------- Debian with perf, by mmdebstrap ----------> *.oci.tar
//!   Cargo.lock ------------------------------------------------------------------> bill of materials
//! ```
//!
//! They are in `target/dist/packages`, with `SHA256SUMS`, and equal for equal commits and compilers ([`settings`]).
//! Packers are installed below the target folder if they are missing.

mod again;
mod check;
mod deb;
mod image;
mod portable;
mod pythons;
mod sbom;
mod sdist;
mod settings;
mod tarball;
mod tools;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::command;
pub(crate) use settings::Settings;
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

/// Builds the packages and tests them. `--profile` names another profile than `dist`, for trials;
/// `--again` compares them with those of a second build in another folder. `--recorder` adds the image of the recorder.
/// `--images` makes images only.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let profile = args.value("--profile")?;
    let (is_again, is_images) = (args.flag("--again"), args.flag("--images"));
    let has_recorder = args.flag("--recorder");
    let named = args.names()?;
    if let Some(name) = named.iter().find(|name| !PROCESSORS.contains(&name.as_str())) {
        bail!("no processor {name}; there are: {}", PROCESSORS.join(" "));
    }
    let mut settings = Settings::new(profile.unwrap_or_else(|| "dist".to_owned()))?;
    settings.has_recorder = has_recorder;
    if is_images {
        ensure!(!is_again, "--again compares packages, not --images alone");
        images(&named, &settings)?;
        println!("all images that can start here print what is expected");
        return Ok(ExitCode::SUCCESS);
    }
    let packages = build(&named, &settings)?;
    if is_again {
        again::compare(&named, &settings, &packages)?;
    }
    println!("all packages install, and their programs print what is expected");
    Ok(ExitCode::SUCCESS)
}

/// Builds the packages for this processor and the named ones, or all, and tests them. Returns their folder.
pub(crate) fn build(named: &[String], settings: &Settings) -> Result<PathBuf> {
    let here = std::env::consts::ARCH;
    if !PROCESSORS.contains(&here) {
        bail!("packages are made on {}, not on {here}", PROCESSORS.join(" or "));
    }
    // This machine's processor comes first: its program prints the files of all packages.
    let others = PROCESSORS.iter().copied().filter(|&other| {
        other != here && (named.is_empty() || named.iter().any(|name| name == other))
    });
    let build = std::path::absolute(command::target().join("dist"))?;
    let packages = build.join("packages");
    emptied(&packages)?;
    let bill = packages.join(sbom::NAME);
    std::fs::write(&bill, sbom::render(&command::root(), &version()?)?)?;
    let maturin = Maturin::get()?;
    let mut printed = None;
    for processor in std::iter::once(here).chain(others) {
        let builder = Builder { maturin: &maturin, processor, settings };
        tools::standard_library(&builder.triple());
        if !tools::has_standard_library(&builder.triple()) {
            println!("skipped: no standard library for {}", builder.triple());
            continue;
        }
        let programs = builder.program(&build.join("programs"))?;
        let printed: &PathBuf = match &mut printed {
            Some(printed) => printed,
            missing => missing.insert(print(&programs)?),
        };
        deb::build(&builder, &programs, printed, &packages, &build)?;
        let wheel = builder.wheel(printed, &bill, &packages)?;
        check::wheel(&wheel, processor, &build.join(format!("try-wheel-{processor}")))?;
        if processor == here {
            pythons::check(&wheel, &build)?;
        }
        if let Some(program) = tarball::program(&builder)? {
            tarball::pack(&builder, &program, printed, &packages)?;
            image::build(&builder, &program, &packages)?;
        }
    }
    sdist::build(&maturin, settings, &packages)?;
    checksums(&packages)?;
    Ok(packages)
}

/// Builds the static programs of the named processors, or of this one, and their images in `target/dist/images`.
fn images(named: &[String], settings: &Settings) -> Result<()> {
    let images = std::path::absolute(command::target().join("dist/images"))?;
    emptied(&images)?;
    let maturin = Maturin::get()?;
    let here = [std::env::consts::ARCH.to_owned()];
    for processor in if named.is_empty() { &here } else { named } {
        let builder = Builder { maturin: &maturin, processor, settings };
        if let Some(program) = tarball::program(&builder)? {
            image::build(&builder, &program, &images)?;
        }
    }
    checksums(&images)
}

/// Returns the version of the workspace.
pub(crate) fn version() -> Result<String> {
    let manifest = std::fs::read_to_string(command::root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|line| line.strip_suffix('"'));
    Ok(version.context("no version in Cargo.toml")?.to_owned())
}

/// Writes the checksums of all packages, in the form that `sha256sum --check` reads.
fn checksums(packages: &Path) -> Result<()> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(packages)? {
        names.push(entry?.file_name());
    }
    names.sort();
    let mut sums = Command::new("sha256sum");
    let sums = command::output(sums.args(&names).current_dir(packages))?;
    print!("{sums}");
    Ok(std::fs::write(packages.join("SHA256SUMS"), sums)?)
}

/// Writes the manual page and the completions into a folder beside the program.
fn print(programs: &Path) -> Result<PathBuf> {
    let folder = programs.join("printed");
    emptied(&folder)?;
    for &(name, arguments) in PRINTED {
        let text = command::output(Command::new(programs.join("unwind-perf")).args(arguments))?;
        std::fs::write(folder.join(name), text)?;
    }
    Ok(folder)
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
