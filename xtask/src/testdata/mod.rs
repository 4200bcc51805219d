//! `cargo xtask testdata`: makes the recordings that the tests replay. Needs perf, compilers and linkers; tests do not.
//!
//! Everything is built and recorded in a neutral folder, with an empty environment and a neutral host name, because the
//! folder, the environment and the host name are in the recorded bytes. The files that the recorded processes mapped are
//! stored once for all cases in `testdata/sysroot`, under the paths that the recordings name.

mod build;
mod case_toml;
mod cases;
mod emulated;
mod kernel_names;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;
pub(crate) use case_toml::cpu_model;
use cases::{CASES, Case};
use emulated::Emulated;

/// Where programs are built and recorded; it is in the recorded paths.
const NEUTRAL: &str = "/tmp/unwind-perf-testdata";
/// Cases beside which the text of `perf script` is stored, to be compared with ours.
const WITH_PERF: &[&str] = &["norm"];
/// The whole of `testdata` stays below this.
const MAX_TOTAL: u64 = 20 << 20;

/// Makes the cases that are named, or all of them.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let names = args.names()?;
    let testdata = command::root().join("testdata");
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let chosen: Vec<&Case> = CASES.iter().filter(|case| wanted(case.name)).collect();
    let emulated: Vec<&Emulated> =
        emulated::CASES.iter().filter(|case| wanted(case.name)).collect();
    if chosen.len() + emulated.len() < names.len() {
        let all = CASES.iter().map(|case| case.name);
        let known: Vec<&str> = all.chain(emulated::CASES.iter().map(|case| case.name)).collect();
        bail!("not all of {} are cases; there are: {}", names.join(" "), known.join(" "));
    }
    if names.is_empty() {
        remove(&testdata.join("sysroot"))?;
    }
    for case in chosen {
        make(case, &testdata).with_context(|| format!("case {}", case.name))?;
    }
    for case in emulated {
        emulated::make(case, &testdata).with_context(|| format!("case {}", case.name))?;
    }
    let total = size_of(&testdata)?;
    println!("testdata: {:.1} MB in {} cases", total as f64 / 1e6, case_folders(&testdata)?.len());
    if total > MAX_TOTAL {
        bail!("testdata has {total} bytes, the limit is {MAX_TOTAL}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The folders of the cases, in the order of their names.
pub(crate) fn case_folders(testdata: &Path) -> Result<Vec<PathBuf>> {
    let cases = testdata.join("cases");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&cases)
        .with_context(|| cases.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    folders.retain(|folder| folder.join("perf.data").is_file());
    folders.sort();
    Ok(folders)
}

fn make(case: &Case, testdata: &Path) -> Result<()> {
    let work = Path::new(NEUTRAL).join(case.name);
    remove(&work)?;
    std::fs::create_dir_all(&work)?;
    build::compile(case, &testdata.join("programs"), &work)?;
    let recorded = build::record(case, &work)?;

    let folder = testdata.join("cases").join(case.name);
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
    if WITH_PERF.contains(&case.name) {
        std::fs::write(folder.join("perf-script"), build::perf_script(&data, &sysroot)?)?;
    }
    let text = case_toml::write(case, &recorded, &data, &mapped)?;
    std::fs::write(folder.join("case.toml"), text)?;
    println!(
        "{}: {} samples, {} bytes",
        case.name,
        recorded.samples,
        std::fs::metadata(&data)?.len()
    );
    remove(&work)
}

/// Copies a mapped file into the sysroot. Our own program replaces an older one; a library of the system must be the
/// one that the other cases were recorded with.
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
