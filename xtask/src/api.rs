//! `cargo xtask api`: the public items of the packages that follow semantic versioning, a list for each in its folder.
//! A change of a list is a change of the interface, and is reviewed as such.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::command;

/// Folders of these packages; the names of the libraries are equal.
const LIBRARIES: [&str; 2] = ["demangle", "gopclntab"];

/// Name of the list in the folder of a package.
const LIST: &str = "public-api.txt";

/// Writes the lists, or compares them with `--check`.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let only_check = args.flag("--check");
    args.finish()?;
    let root = command::root();
    if only_check {
        let differing = differences(&root)?;
        differing.iter().for_each(|line| println!("{line}"));
        return Ok(if differing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    for (folder, items) in lists(&root)? {
        let path = path(&root, folder);
        std::fs::write(&path, &items).with_context(|| path.display().to_string())?;
        println!("{folder}: {} public items", items.lines().count());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a line for each item that is only in a committed list (`-`) or only in the sources (`+`).
///
/// # Errors
/// If the compiler's JSON cannot be made or read.
pub(crate) fn differences(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (folder, items) in lists(root)? {
        let committed = std::fs::read_to_string(path(root, folder)).unwrap_or_default();
        let rows = compared(&committed, &items);
        found.extend(rows.into_iter().map(|row| format!("{folder}: {row}")));
    }
    Ok(found)
}

fn compared(committed: &str, items: &str) -> Vec<String> {
    let only = |a: &str, b: &str, mark: char| -> Vec<String> {
        let b: Vec<&str> = b.lines().collect();
        a.lines().filter(|row| !b.contains(row)).map(|row| format!("{mark} {row}")).collect()
    };
    [only(committed, items, '-'), only(items, committed, '+')].concat()
}

fn path(root: &Path, folder: &str) -> PathBuf {
    root.join("crates").join(folder).join(LIST)
}

/// Returns the public items of each library, one a line.
fn lists(root: &Path) -> Result<Vec<(&'static str, String)>> {
    let target = std::path::absolute(command::target())?;
    let rustdoc = rustdoc(&target)?;
    let mut lists = Vec::new();
    for folder in LIBRARIES {
        let mut doc = command::words("cargo doc --quiet --no-deps --lib --all-features --package");
        doc.arg(command::package(folder)).env("RUSTDOC", &rustdoc).current_dir(root);
        command::output(&mut doc)?;
        let json = target.join("doc").join(format!("{folder}.json"));
        let api = public_api::Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .build()
            .with_context(|| format!("the JSON of {}", command::version_of("rustdoc --version")))?;
        let items = api.items().map(|item| format!("{item}\n")).collect();
        lists.push((folder, items));
    }
    Ok(lists)
}

/// Writes a program that runs rustdoc for JSON. Only rustdoc itself sees the variable that permits it: dependencies that
/// look at it would be built again.
fn rustdoc(target: &Path) -> Result<PathBuf> {
    let path = target.join("rustdoc-json");
    let script = "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\" -Z unstable-options --output-format json\n";
    std::fs::create_dir_all(target)?;
    std::fs::write(&path, script)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn items_of_one_side_are_marked() {
        assert_eq!(compared("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
        assert_eq!(compared("a\n", "a\n"), Vec::<String>::new());
    }
}
