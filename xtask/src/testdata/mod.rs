//! `cargo xtask testdata`: creates the recordings that the tests replay. Needs perf, compilers and linkers; tests do
//! not.
//!
//! A case is described only in `case.toml` in its folder. Everything is built and recorded in a neutral folder, with an
//! empty environment and a neutral host name, because the recorded bytes contain them. The files that the recorded
//! processes mapped are stored once for all cases in `testdata/sysroot`, under the recorded paths.

mod build;
mod case;
mod emulated;
mod kernel_names;
mod made;
mod processor;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;
use case::{Case, Recorder};
use emulated::Emulated;

/// Folder for building and recording programs; part of the recorded paths.
const NEUTRAL: &str = "/tmp/unwind-perf-testdata";
/// Maximum size of `testdata`, in bytes.
const MAX_TOTAL: u64 = 20 << 20;

/// Creates the named cases, or all of them.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let names = args.names()?;
    let testdata = command::root().join("testdata");
    let cases: Vec<Case> = folders_with(&testdata, "case.toml")?
        .iter()
        .map(|it| Case::read(it))
        .collect::<Result<_>>()?;
    let wanted = |case: &&Case| names.is_empty() || names.contains(&case.name);
    let chosen: Vec<&Case> = cases.iter().filter(wanted).collect();
    if chosen.len() < names.len() {
        let known: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        bail!("not all of {} are cases; there are: {}", names.join(" "), known.join(" "));
    }
    if names.is_empty() {
        remove(&testdata.join("sysroot"))?;
    }
    for case in chosen {
        println!("{}: {}", case.name, case.about);
        match &case.recorder {
            Recorder::Perf { options, keep_script } => make(case, options, *keep_script, &testdata),
            Recorder::Emulator { processor, cpu } => {
                emulated::make(case, Emulated { processor, cpu }, &testdata)
            }
        }
        .with_context(|| format!("case {}", case.name))?;
    }
    let total = size_of(&testdata)?;
    println!("testdata: {:.1} MB in {} cases", total as f64 / 1e6, case_folders(&testdata)?.len());
    if total > MAX_TOTAL {
        bail!("testdata has {total} bytes, the limit is {MAX_TOTAL}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the folders of the recorded cases, sorted by name.
pub(crate) fn case_folders(testdata: &Path) -> Result<Vec<PathBuf>> {
    folders_with(testdata, "perf.data")
}

/// Returns the folders of cases that have a file of that name, sorted by name.
fn folders_with(testdata: &Path, file: &str) -> Result<Vec<PathBuf>> {
    let cases = testdata.join("cases");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&cases)
        .with_context(|| cases.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    folders.retain(|folder| folder.join(file).is_file());
    folders.sort();
    Ok(folders)
}

/// Builds a case, records it with these options of `perf record`, and stores it.
fn make(case: &Case, options: &str, keep_script: bool, testdata: &Path) -> Result<()> {
    let work = Path::new(NEUTRAL).join(&case.name);
    remove(&work)?;
    std::fs::create_dir_all(&work)?;
    build::compile(case, &testdata.join("programs"), &work)?;
    let samples = build::record(case, options, &work)?;

    let folder = testdata.join("cases").join(&case.name);
    std::fs::create_dir_all(&folder)?;
    let data = folder.join("perf.data");
    std::fs::copy(work.join("perf.data"), &data)?;
    if let Some(names) = kernel_names::needed(&data)? {
        std::fs::write(folder.join("kallsyms"), names)?;
    }
    let mapped = build::mapped_files(&work.join("perf.data"))?;
    let sysroot = testdata.join("sysroot");
    remove(&sysroot.join(work.strip_prefix("/")?))?;
    for path in &mapped {
        store(path, &sysroot)?;
    }
    if keep_script {
        std::fs::write(folder.join("perf-script"), build::perf_script(&data, &sysroot)?)?;
    }
    let made = made::by_perf(case, samples, &data, &mapped)?;
    std::fs::write(folder.join("case.toml"), case.with_made(&made))?;
    println!("{}: {samples} samples, {} bytes", case.name, std::fs::metadata(&data)?.len());
    remove(&work)
}

/// Copies a mapped file into the sysroot. Our own program replaces an older one; a library of the system must be the
/// one of the other cases.
fn store(path: &Path, sysroot: &Path) -> Result<()> {
    let target = sysroot.join(path.strip_prefix("/")?);
    if target.is_file() && !path.starts_with(NEUTRAL) {
        if std::fs::read(path)? == std::fs::read(&target)? {
            return Ok(());
        }
        bail!("{} is not the one of the other cases; record all cases anew", path.display());
    }
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::copy(path, &target).with_context(|| path.display().to_string())?;
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn size_of(path: &Path) -> Result<u64> {
    let meta = std::fs::symlink_metadata(path)?;
    if !meta.is_dir() {
        return Ok(meta.len());
    }
    let mut total = 0;
    for entry in std::fs::read_dir(path)? {
        total += size_of(&entry?.path())?;
    }
    Ok(total)
}
