//! `cargo xtask ci quick`: the loop of a contributor. Checks formatting and conventions of all crates, and lints and
//! tests of the touched ones, with files that differ from the last common commit of `main` and this branch.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use super::{Outcome, Tally, dependencies, passes, source, succeeds, wanted};
use crate::args::Args;
use crate::command;

/// The word that selects these checks.
pub(super) const WORD: &str = "quick";

/// Top-level files and folders that affect the build or the checks of every crate.
const OF_ALL: [&str; 4] = ["Cargo.toml", "Cargo.lock", ".cargo", ".clippy.toml"];

type Check = fn(&Quick) -> Result<Outcome>;

/// The checks, in order of cost.
const CHECKS: &[(&str, Check)] = &[
    ("formatting", |it| source::formatting(&it.root)),
    ("conventions", |it| source::conventions(&it.root)),
    ("notices", |it| dependencies::notices(&it.root)),
    ("lints", lints),
    ("tests", tests),
    ("page", page),
];

/// Settings of the checks.
struct Quick {
    /// Folder of the workspace.
    root: PathBuf,
    touched: Touched,
}

/// Crates of the workspace with differing files.
#[derive(PartialEq, Eq, Debug)]
enum Touched {
    All,
    /// By name, which is the name of the folder.
    Crates(BTreeSet<String>),
}

/// Runs all checks, or the named ones. The last lines name the crates, and `N passed, N failed`.
pub(super) fn run(args: Args) -> Result<ExitCode> {
    let wanted = wanted(args, CHECKS.iter().map(|&(name, _)| name))?;
    let root = command::root();
    let base = base(&root)?;
    let paths = differing(&root, &base)?;
    let manifest = |folder: &str| root.join(folder).join("Cargo.toml").is_file();
    let touched = Touched::by(paths.iter().map(String::as_str), manifest);
    let mut tally = Tally { wanted, ..Tally::default() };
    let it = Quick { root, touched };
    for (name, check) in CHECKS {
        tally.check(name, || check(&it));
    }
    println!("\n{}", it.touched.told(&base));
    Ok(tally.report())
}

/// Returns the commit to compare with: the last common one of the branch and `main`, or of `main` and the server's
/// `main`. If both are missing, returns the commit of the working tree.
fn base(root: &Path) -> Result<String> {
    let git = |line: &str| command::quiet_output(command::words(line).current_dir(root));
    let head = git("git rev-parse HEAD").context("the changes of a clone are asked from git")?;
    let on_main = git("git symbolic-ref --quiet --short HEAD").is_ok_and(|it| it.trim() == "main");
    let others: &[&str] = if on_main { &["origin/main"] } else { &["main", "origin/main"] };
    let common = others.iter().find_map(|other| git(&format!("git merge-base HEAD {other}")).ok());
    Ok(common.unwrap_or(head).trim().to_owned())
}

/// Returns the paths below the folder that differ from the commit, committed or not, and untracked ones.
fn differing(root: &Path, base: &str) -> Result<Vec<String>> {
    let changed = format!("git diff --name-only --no-renames --relative -z {base} --");
    let unknown = "git ls-files --others --exclude-standard -z";
    let mut paths = Vec::new();
    for line in [changed.as_str(), unknown] {
        let listed = command::quiet_output(command::words(line).current_dir(root))?;
        paths.extend(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned));
    }
    Ok(paths)
}

impl Touched {
    /// Returns the crates of these paths, if their folders still have a manifest.
    fn by<'p>(paths: impl Iterator<Item = &'p str>, manifest: impl Fn(&str) -> bool) -> Self {
        let mut crates = BTreeSet::new();
        for path in paths {
            let (top, below) = path.split_once('/').unwrap_or((path, ""));
            if OF_ALL.contains(&top) {
                return Self::All;
            }
            let (folder, name) = match (top, below.split_once('/')) {
                ("crates", Some((name, _))) => (format!("crates/{name}"), name),
                ("lab" | "xtask", _) => (top.to_owned(), top),
                _ => continue,
            };
            if manifest(&folder) {
                crates.insert(name.to_owned());
            }
        }
        Self::Crates(crates)
    }

    /// Returns true if there is something to check.
    fn any(&self) -> bool {
        *self != Self::Crates(BTreeSet::new())
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Crates(crates) => crates.contains(name),
        }
    }

    /// Returns a cargo command line for the crates.
    fn of_cargo(&self, line: &str) -> Command {
        let mut cargo = command::words(line);
        match self {
            Self::All => cargo.arg("--workspace"),
            Self::Crates(crates) => {
                let packages = crates.iter().map(|folder| command::package(folder));
                cargo.args(packages.flat_map(|package| ["--package".to_owned(), package]))
            }
        };
        cargo
    }

    /// Returns the line about checked and unchecked crates.
    fn told(&self, base: &str) -> String {
        let since = base.get(..12).unwrap_or(base);
        match self {
            Self::All => format!("all crates: a file of all of them differs from {since}"),
            Self::Crates(crates) if crates.is_empty() => {
                format!(
                    "no crate: none has a file that differs from {since}; `cargo xtask ci` tests all"
                )
            }
            Self::Crates(crates) => {
                let names = crates.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                format!(
                    "crates that differ from {since}: {names}; not those that depend on them: `cargo xtask ci` tests all"
                )
            }
        }
    }
}

/// Returns a reason why there is nothing to do, if any.
fn untouched(it: &Quick) -> Option<Outcome> {
    (!it.touched.any()).then(|| Outcome::Skipped("no crate is touched".to_owned()))
}

fn lints(it: &Quick) -> Result<Outcome> {
    if let Some(skipped) = untouched(it) {
        return Ok(skipped);
    }
    let mut clippy = it.touched.of_cargo("cargo clippy --quiet --all-targets");
    command::run(clippy.args(["--", "-D", "warnings"]).current_dir(&it.root))?;
    Ok(Outcome::Passed)
}

fn tests(it: &Quick) -> Result<Outcome> {
    if let Some(skipped) = untouched(it) {
        return Ok(skipped);
    }
    command::run(it.touched.of_cargo("cargo test --quiet").current_dir(&it.root))?;
    if it.touched.has("lab") {
        source::lab_tests(&it.root)?;
    }
    Ok(Outcome::Passed)
}

/// Runs the tests of the page, which are in JavaScript.
fn page(it: &Quick) -> Result<Outcome> {
    if !it.touched.has("web") {
        return Ok(Outcome::Skipped("the crate web is not touched".to_owned()));
    }
    if !succeeds(&mut command::words("node --version")) {
        return Ok(Outcome::Skipped("node is not installed".to_owned()));
    }
    passes("node --test tests/", &it.root.join("crates/web"))
}

#[cfg(test)]
mod tests {
    use super::Touched;

    fn touched(paths: &[&str]) -> Touched {
        Touched::by(paths.iter().copied(), |folder| folder != "crates/gone")
    }

    fn crates(names: &[&str]) -> Touched {
        Touched::Crates(names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn a_path_touches_its_crate() {
        let paths = ["crates/cache/src/lib.rs", "xtask/src/ci/mod.rs", "crates/cache/Cargo.toml"];
        assert_eq!(touched(&paths), crates(&["cache", "xtask"]));
        assert_eq!(touched(&["crates/gone/src/lib.rs", "lab/Cargo.toml"]), crates(&["lab"]));
    }

    #[test]
    fn other_paths_touch_no_crate() {
        assert_eq!(
            touched(&["docs/FILES.md", "testdata/Cargo.toml", "crates/README"]),
            crates(&[])
        );
        assert!(!touched(&["README.md"]).any());
    }

    #[test]
    fn a_manifest_at_the_top_touches_all() {
        for path in ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", ".clippy.toml"] {
            assert_eq!(touched(&["crates/cache/src/lib.rs", path]), Touched::All);
        }
    }

    #[test]
    fn the_crates_are_named() {
        let told = touched(&["crates/web/a.js", "lab/src/main.rs"]).told("0123456789abcdef");
        assert_eq!(
            told,
            "crates that differ from 0123456789ab: lab, web; not those that depend on them: `cargo xtask ci` tests all"
        );
        let cargo = crates(&["lab", "web"]).of_cargo("cargo test --quiet");
        let shown = crate::command::show(&cargo);
        assert_eq!(shown, "cargo test --quiet --package lab --package unwind-perf-web");
    }
}
