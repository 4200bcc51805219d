//! `cargo xtask unsafe [CHECKER]...`: runs the tests of `unsafe` code under those of valgrind, `AddressSanitizer` and
//! miri that are installed. Fails on any report.
//!
//! The tests are found by the source: a file that allows `unsafe_code` has its tests in the same crate, or is a test.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;

/// Lint that each file with `unsafe` code allows; the workspace denies it elsewhere.
const ALLOWED: &str = "unsafe_code";
/// Exit status of valgrind after a report.
const REPORTED: i32 = 99;
/// Recording that the command itself reads under valgrind: its allocator and its mapped files are `unsafe` code.
const CASE: &str = "testdata/cases/inlines-gcc/perf.data";
/// Memcheck with its options. Our fault handlers let a read continue, which requires correct registers at each access
/// to memory. Threads run one at a time, in turn.
const MEMCHECK: &str = "valgrind --quiet --fair-sched=try \
    --vex-iropt-register-updates=allregs-at-mem-access";
/// Options for tests. The command does not free its tables before the process ends.
const LEAKS: &str = "--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite";
/// Tests that valgrind cannot run: it lacks openat2(2), and hides the vDSO header that rustix reads for clocks.
const NOT_UNDER_VALGRIND: &[&str] = &[
    "confined::tests::both_ways_stay_inside",
    "confined::tests::what_the_kernel_makes_up_is_not_inside",
    "real::tests::clocks_go_on",
];
/// Tests that miri can run: the others make system calls that miri lacks.
const WITHOUT_SYSTEM: &[(&str, &str)] = &[("perf-data", "fetch"), ("host", "allocator")];

type Checker = fn(&[Tests]) -> Result<Outcome>;

const CHECKERS: &[(&str, Checker)] =
    &[("valgrind", valgrind), ("address", address_sanitizer), ("miri", miri)];

/// Outcome of a checker without reports.
enum Outcome {
    Clean,
    /// The missing requirement on this machine.
    Skipped(String),
}

/// Tests of a file with `unsafe` code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Tests {
    /// Folder of the crate.
    folder: String,
    /// Name of a test in `tests`; `None` for those of the library.
    integration: Option<String>,
}

impl Tests {
    /// Returns the tests for a file, by its path below `crates`.
    fn of(path: &Path) -> Option<Self> {
        let mut parts = path.iter().map(|part| part.to_string_lossy().into_owned());
        let folder = parts.next()?;
        let integration = match parts.next()?.as_str() {
            "src" => None,
            "tests" => Some(parts.next()?.trim_end_matches(".rs").to_owned()),
            _ => return None,
        };
        Some(Self { folder, integration })
    }

    /// Returns `cargo test` of these tests.
    fn command(&self) -> Command {
        let mut command = command::words("cargo test --quiet --package");
        command.arg(command::package(&self.folder)).current_dir(command::root());
        match &self.integration {
            Some(name) => command.args(["--test", name]),
            None => command.arg("--lib"),
        };
        command
    }
}

/// Runs the named checkers, or all.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let wanted = args.names()?;
    if let Some(unknown) = wanted.iter().find(|name| !CHECKERS.iter().any(|it| it.0 == **name)) {
        bail!("no checker {unknown}; there are valgrind, address and miri");
    }
    let tests = find(&command::root().join("crates"))?;
    let mut failed = 0;
    for (name, check) in CHECKERS {
        if !wanted.is_empty() && !wanted.iter().any(|it| it == name) {
            continue;
        }
        match check(&tests) {
            Ok(Outcome::Clean) => println!("{name}: no report"),
            Ok(Outcome::Skipped(why)) => println!("skipped: {name}: {why}"),
            Err(error) => {
                println!("{name} failed: {error:#}");
                failed += 1;
            }
        }
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the tests for all files with `unsafe` code in these crates.
fn find(crates: &Path) -> Result<Vec<Tests>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![crates.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && std::fs::read_to_string(&path)?.contains(ALLOWED)
            {
                found.extend(Tests::of(path.strip_prefix(crates)?));
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// Runs the test programs, and the command on a recording, under memcheck.
fn valgrind(tests: &[Tests]) -> Result<Outcome> {
    if command::quiet_output(&mut command::words("valgrind --version")).is_err() {
        return Ok(Outcome::Skipped("it is not installed (package valgrind)".to_owned()));
    }
    let memcheck = format!("{MEMCHECK} --error-exitcode={REPORTED}");
    let words = memcheck.split_whitespace().chain(LEAKS.split_whitespace());
    let runner: Vec<String> = words.map(|word| format!("{word:?}")).collect();
    let runner = format!("target.'cfg(all())'.runner=[{}]", runner.join(", "));
    for tests in tests {
        let mut command = tests.command();
        command.args(["--config", &runner, "--", "--test-threads=1"]);
        for name in NOT_UNDER_VALGRIND {
            command.args(["--skip", name]);
        }
        command::run(&mut command)?;
    }
    let root = command::root();
    command::run(command::words("cargo build --quiet --package unwind-perf").current_dir(&root))?;
    let mut command = command::words(&memcheck);
    command.arg(std::path::absolute(command::target())?.join("debug/unwind-perf"));
    command.args([CASE, "--sysroot", "testdata/sysroot", "--format", "folded", "--quiet"]);
    command.args(["--output", "/dev/null"]).current_dir(&root);
    command::run(&mut command)?;
    Ok(Outcome::Clean)
}

/// Runs the test programs with `AddressSanitizer`, built into a separate folder that is removed afterwards.
fn address_sanitizer(tests: &[Tests]) -> Result<Outcome> {
    let host = host()?;
    let sysroot = command::quiet_output(&mut command::words("rustc --print sysroot"))?;
    let libraries = Path::new(sysroot.trim()).join("lib/rustlib").join(&host).join("lib");
    let is_runtime = |name: String| name.starts_with("librustc") && name.ends_with("_rt.asan.a");
    let mut files = std::fs::read_dir(&libraries).into_iter().flatten().flatten();
    if !files.any(|file| is_runtime(command::file_name(&file.path()))) {
        return Ok(Outcome::Skipped(format!("this compiler has no runtime of it for {host}")));
    }
    let target = std::path::absolute(command::target())?.join("unsafe-address");
    let checked = tests.iter().try_for_each(|tests| {
        let mut command = tests.command();
        // An explicit target keeps build scripts and macros free of the sanitizer.
        command.args(["--target", &host]).env("CARGO_TARGET_DIR", &target);
        // Sanitizers are enabled by an unstable flag.
        command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
        // Equal names of C tables from two included files are reported, though each file has its own table.
        command.env("ASAN_OPTIONS", "detect_odr_violation=0");
        command::run(command.env("CARGO_INCREMENTAL", "0"))
    });
    if target.exists() {
        std::fs::remove_dir_all(&target)?;
    }
    checked.map(|()| Outcome::Clean)
}

/// Runs miri on the tests that make no system calls.
fn miri(tests: &[Tests]) -> Result<Outcome> {
    if command::quiet_output(&mut command::words("cargo +nightly miri --version")).is_err() {
        let why = "it is not installed (rustup component add miri --toolchain nightly)";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let target = std::path::absolute(command::target())?.join("unsafe-miri");
    for (folder, filter) in WITHOUT_SYSTEM {
        if !tests.iter().any(|it| it.folder == *folder) {
            bail!("{folder} has no unsafe code any more");
        }
        let mut command = command::words("cargo +nightly miri test --quiet --lib --package");
        command.arg(command::package(folder)).arg(filter).current_dir(command::root());
        command::run(command.env("CARGO_TARGET_DIR", &target))?;
    }
    Ok(Outcome::Clean)
}

/// Returns the host target of the compiler.
fn host() -> Result<String> {
    let version = command::quiet_output(&mut command::words("rustc --version --verbose"))?;
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("rustc states no host")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_leads_to_its_tests() {
        let of = |path: &str| Tests::of(Path::new(path));
        let library = Tests { folder: "host".to_owned(), integration: None };
        assert_eq!(of("host/src/content/guard.rs"), Some(library));
        let integration = Some("allocations".to_owned());
        let allocations = Tests { folder: "unwinder".to_owned(), integration };
        assert_eq!(of("unwinder/tests/allocations.rs"), Some(allocations));
        assert_eq!(of("symbolizer/testdata/chain.rs"), None);
    }

    #[test]
    fn the_crates_with_unsafe_code_are_found() {
        let found = find(&command::root().join("crates")).unwrap();
        let names: Vec<_> = found.iter().map(|it| it.folder.as_str()).collect();
        assert_eq!(names, ["host", "perf-data", "unwinder"]);
    }
}
