//! The files to damage: recordings of the test data with their programs, symbol lists, jitdumps, a perf map, and
//! bundles of them. They are copied into a folder for each worker, which damages one file at a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::program::{OUTPUT, Program};
use crate::{command, testdata};

/// Folder of programs of the test data, below a sysroot.
const PROGRAMS: &str = "tmp/unwind-perf-testdata";
/// Case with anonymous code that gets a perf map.
const MAPPED: &str = "anon";
/// Cases to bundle.
const BUNDLED: &[&str] = &["fork", "jit", "inlines-gcc"];

/// A run of the command, in the folder of a worker.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// Files that it reads and that are damaged, relative to that folder.
    pub(super) files: Vec<PathBuf>,
}

/// Fields of a `case.toml` that are read.
#[derive(Deserialize)]
struct CaseToml {
    sha256: BTreeMap<String, String>,
}

/// Empties the folder of a worker, and fills it. The program creates the bundles.
pub(super) fn lay_out(folder: &Path, program: &Program) -> Result<Vec<Input>> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    let testdata = command::root().join("testdata");
    copy(&testdata.join("sysroot"), &folder.join("sysroot"))?;
    let mut inputs = Vec::new();
    for case in testdata::case_folders(&testdata)? {
        inputs.push(case_input(&case, folder)?);
    }
    for name in BUNDLED {
        let case = inputs.iter().find(|input| input.name == *name).context("no such case")?;
        let bundle = format!("{name}.bundle");
        let options = ["bundle", "-q", "-o", OUTPUT].map(str::to_owned).into_iter();
        let arguments: Vec<String> = options.chain(case.arguments.iter().cloned()).collect();
        let ended = program.run(&arguments, folder)?;
        ensure!(ended.status == Some(0), "{name} cannot be bundled: {}", ended.messages);
        std::fs::rename(folder.join(OUTPUT), folder.join(&bundle))?;
        let files = vec![PathBuf::from(&bundle)];
        inputs.push(Input { name: format!("bundle of {name}"), arguments: vec![bundle], files });
    }
    Ok(inputs)
}

/// Returns the recording of a case, and the files that belong to it alone or are its libraries.
fn case_input(case: &Path, folder: &Path) -> Result<Input> {
    let name = command::file_name(case);
    let own = PathBuf::from(&name);
    std::fs::create_dir_all(folder.join(&own))?;
    let mut arguments = vec![format!("{name}/perf.data")];
    arguments.extend(["--sysroot", "sysroot"].map(str::to_owned));
    let mut files = Vec::new();
    for file in ["perf.data", "kallsyms"] {
        if case.join(file).is_file() {
            std::fs::copy(case.join(file), folder.join(&own).join(file))?;
            files.push(own.join(file));
        }
    }
    if let [_, kallsyms] = files.as_slice() {
        arguments.extend(["--kallsyms".to_owned(), kallsyms.display().to_string()]);
    }
    let text = std::fs::read_to_string(case.join("case.toml"))?;
    let toml: CaseToml = basic_toml::from_str(&text).with_context(|| name.clone())?;
    let libraries = toml.sha256.keys().filter_map(|path| path.strip_prefix('/'));
    files.extend(libraries.map(|path| Path::new("sysroot").join(path)));
    let programs = Path::new("sysroot").join(PROGRAMS).join(&name);
    for entry in std::fs::read_dir(folder.join(&programs)).into_iter().flatten() {
        files.push(programs.join(entry?.file_name()));
    }
    if name == MAPPED {
        files.push(map_of_compiler(folder)?);
    }
    files.sort();
    files.dedup();
    files.retain(|file| folder.join(file).is_file());
    Ok(Input { name, arguments, files })
}

/// Writes `perf-PID.map` for the anonymous code of a case.
fn map_of_compiler(folder: &Path) -> Result<PathBuf> {
    let text = std::fs::read_to_string(
        command::root().join("testdata/cases").join(MAPPED).join("expected.ndjson"),
    )?;
    let pid_of = |line: &str| serde_json::from_str::<Value>(line).ok()?.get("pid")?.as_i64();
    let pid = text.lines().find_map(pid_of).context("no process")?;
    let path = Path::new("sysroot/tmp").join(format!("perf-{pid}.map"));
    // All addresses that a position-independent program can have.
    let step = 0x10_0000_0000_u64;
    let lines = (0..0x800).map(|at| format!("{:x} {step:x} function_{at}\n", at * step));
    std::fs::write(folder.join(&path), lines.collect::<String>())?;
    Ok(path)
}

/// Copies a folder with its contents.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            std::fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
