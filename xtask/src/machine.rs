//! Properties of this machine that tasks need: its processor, its Pythons, a C++ demangler, and the options of perf.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;

/// Minor versions of Python that the package supports; future ones are included.
const PYTHONS: std::ops::RangeInclusive<u32> = 9..=20;

/// LLVM versions with an acceptable `llvm-cxxfilt`. Before 19, expressions and brackets were spelled differently.
pub const LLVM: std::ops::RangeInclusive<u32> = 19..=24;
/// Options of `perf record` for `cargo lab programs`: most stacks fit.
pub const MOST_STACKS: &str = "-F 299 --call-graph dwarf,32768";
/// Options of `perf record` for `cargo lab truth`: buffers for many large samples, and the largest dump. Some programs
/// run for less than a second.
pub const LARGEST_DUMPS: &str = "-m 1024 -F 1999 --call-graph dwarf,65528";

/// Returns the kernel's name of the processor.
pub fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split_once(": "));
    model.map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned())
}

/// Returns the newest installed `llvm-cxxfilt`.
pub fn cxxfilt() -> Option<PathBuf> {
    let of_version = |version: u32| {
        let names = [
            format!("llvm-cxxfilt-{version}"),
            format!("/usr/lib/llvm-{version}/bin/llvm-cxxfilt"),
        ];
        let runs =
            |name: &String| command::quiet_output(Command::new(name).arg("--version")).is_ok();
        names.into_iter().find(runs).map(PathBuf::from)
    };
    LLVM.rev().find_map(of_version)
}

/// A Python 3.
#[derive(Debug)]
pub struct Interpreter {
    /// Its minor version.
    pub minor: u32,
    /// The program.
    pub path: PathBuf,
}

/// Returns the Pythons on the search path or built by pyenv, oldest first: one per version, and only those that can
/// create environments.
pub fn interpreters() -> Vec<Interpreter> {
    let named = PYTHONS.map(|minor| format!("python3.{minor}")).chain(["python3".to_owned()]);
    let candidates = named.map(PathBuf::from).chain(built());
    let of_path = |path: PathBuf| Some(Interpreter { minor: version(&path)?, path });
    let mut found: Vec<Interpreter> = candidates.filter_map(of_path).collect();
    found.retain(|it| PYTHONS.contains(&it.minor));
    // The search path comes first among those of a version.
    found.sort_by_key(|it| it.minor);
    found.dedup_by_key(|it| it.minor);
    found
}

/// Returns the Pythons that pyenv built: its commands on the search path run only one version, the others are in its
/// folder.
fn built() -> Vec<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv"));
    let Some(root) = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(home) else {
        return Vec::new();
    };
    let versions = std::fs::read_dir(root.join("versions"));
    let mut paths: Vec<PathBuf> = versions
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/python3"))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

fn version(python: &Path) -> Option<u32> {
    let mut print = Command::new(python);
    print.args(["-c", "import sys, venv; print(sys.version_info[1] * (sys.version_info[0] == 3))"]);
    command::quiet_output(&mut print).ok()?.trim().parse().ok()
}
