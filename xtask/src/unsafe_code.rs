//! `cargo xtask unsafe [CHECKER]...`: the tests of `unsafe` code under valgrind, `AddressSanitizer` and miri, those of them
//! that are installed. Fails on any report.
//!
//! The tests are found by the source: a file that allows `unsafe_code` has its tests in the same crate, or is a test.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::command;

/// The lint that each file with `unsafe` code allows; the workspace denies it elsewhere.
const ALLOWED: &str = "unsafe_code";
/// The status by which valgrind states that it reported something.
const REPORTED: i32 = 99;
/// A recording that the command itself reads under valgrind: its allocator and its mapped files are `unsafe` code.
const CASE: &str = "testdata/cases/inlines-gcc/perf.data";
/// Memcheck with its options. Our handlers of faults let a read go on, for which all registers have to be right at each
/// access to memory. One thread runs at a time, each in its turn.
const MEMCHECK: &str = "valgrind --quiet --fair-sched=try \
    --vex-iropt-register-updates=allregs-at-mem-access";
/// Options for tests. The command leaves its tables to the end of its process.
const LEAKS: &str = "--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite";
/// Tests that valgrind cannot run: it does not know openat2(2), and hides the vDSO whose header rustix reads for clocks.
const NOT_UNDER_VALGRIND: &[&str] = &[
    "confined::tests::both_ways_stay_inside",
    "confined::tests::what_the_kernel_makes_up_is_not_inside",
    "real::tests::clocks_go_on",
];
/// Tests that miri can run: the others call the operating system in ways that it does not know.
const WITHOUT_SYSTEM: &[(&str, &str)] = &[("perf-data", "fetch"), ("host", "allocator")];

type Checker = fn(&[Tests]) -> Result<Outcome>;

const CHECKERS: &[(&str, Checker)] =
    &[("valgrind", valgrind), ("address", address_sanitizer), ("miri", miri)];

/// The outcome of a checker that reported nothing.
enum Outcome {
    Clean,
    /// What this machine lacks.
    Skipped(String),
}

/// The tests of a file with `unsafe` code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Tests {
    /// The folder of the crate.
    folder: String,
    /// The name of a test in `tests`; `None` for those of the library.
    integration: Option<String>,
}

impl Tests {
    /// The tests for a file, by its path below `crates`.
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

    /// `cargo test` of these tests.
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

/// Runs the checkers that are named, or all.
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

/// The tests for all files with `unsafe` code in these crates.
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

/// Memcheck of the test programs, and of the command on a recording.
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

/// The test programs with `AddressSanitizer`, built into a folder of their own that is removed afterwards.
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
        // With a target that is named, build scripts and macros are built without it.
        command.args(["--target", &host]).env("CARGO_TARGET_DIR", &target);
        // Sanitizers are switched on by an unstable flag.
        command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
        // Tables of C that two files include by the same name are reported, though each has its own.
        command.env("ASAN_OPTIONS", "detect_odr_violation=0");
        command::run(command.env("CARGO_INCREMENTAL", "0"))
    });
    if target.exists() {
        std::fs::remove_dir_all(&target)?;
    }
    checked.map(|()| Outcome::Clean)
}

/// Miri on the tests that need no system.
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

/// The target that the compiler builds for.
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
