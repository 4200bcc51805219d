//! `cargo xtask tidy`: conventions of this repository that a compiler does not check. Also a test.

mod cycles;
mod history;
mod layers;
mod paths;
mod processors;
pub(crate) mod prose;
mod tokens;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::args::Args;
use crate::command;
use crate::docs::links;
use crate::repository::files;

/// Maximum number of lines of a source file.
const MAX_LINES: usize = 450;

/// Runs all checks and prints the findings.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    args.finish()?;
    let found = check(&command::root())?;
    for line in &found {
        println!("{line}");
    }
    println!("tidy: {} findings", found.len());
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns every violation as one line.
fn check(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let files = files(root)?;
    for path in &files {
        let bytes = std::fs::read(root.join(path)).with_context(|| path.display().to_string())?;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if path.extension().is_some_and(|extension| extension == "rs") {
            source(path, &text, &mut found);
            processors::check(path, &text, &mut found);
        }
        if !path.starts_with("testdata/cases") {
            machine_paths(path, &text, &mut found);
        }
        if path.extension().is_some_and(|extension| extension == "md") {
            named_paths(root, path, &text, &mut found);
        }
    }
    layers::check(root, &mut found)?;
    found.extend(cycles::check(root, &files)?);
    words(root, &files, &mut found)?;
    found.extend(links::check(root, &files)?);
    history::check(root, &mut found);
    prose::check(root, &files, &mut found)?;
    Ok(found)
}

fn source(path: &Path, text: &str, found: &mut Vec<String>) {
    let first = text.lines().find(|line| !line.starts_with("#!"));
    if !first.is_some_and(|line| line.starts_with("//!")) {
        found.push(format!("{}: does not open with //! and its purpose", path.display()));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        found.push(format!("{}: {lines} lines, the limit is {MAX_LINES}", path.display()));
    }
}

/// Checks that no file contains home folders of a machine.
fn machine_paths(path: &Path, text: &str, found: &mut Vec<String>) {
    // Composed here, so that this file does not find itself.
    let homes = [concat!("/ro", "ot/"), concat!("/ho", "me/")];
    for (number, line) in text.lines().enumerate() {
        let hit = homes.iter().flat_map(|home| line.match_indices(home)).any(|(at, home)| {
            let before = line.get(..at).and_then(|front| front.chars().next_back());
            let after = line.get(at + home.len()..).unwrap_or_default();
            let inside_another =
                before.is_some_and(|c| c.is_alphanumeric() || "._-$}/*".contains(c));
            let user = after.split(|c: char| !c.is_alphanumeric()).next();
            let example = matches!(user, Some("me" | "user"));
            !inside_another && !example
        });
        if hit {
            found.push(format!("{}:{}: a path of some machine", path.display(), number + 1));
        }
    }
}

/// Checks that files and folders of the repository that documents name exist.
fn named_paths(root: &Path, path: &Path, text: &str, found: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        // Text between backquotes is at odd indexes.
        for place in line.split('`').skip(1).step_by(2) {
            let mut folders = ["crates/", "lab/", "xtask/"].into_iter();
            let is_path = folders.any(|folder| place.starts_with(folder));
            let is_plain = place.chars().all(|c| c.is_alphanumeric() || "/_-.".contains(c));
            if is_path && is_plain && !root.join(place).exists() {
                found.push(format!("{}:{}: there is no {place}", path.display(), number + 1));
            }
        }
    }
}

/// Checks that users' documentation explains the words of the output formats, which `reason.rs` declares.
fn words(root: &Path, files: &[PathBuf], found: &mut Vec<String>) -> Result<()> {
    let page = std::fs::read_to_string(root.join("docs/OUTPUT.md")).unwrap_or_default();
    let sources: Vec<&PathBuf> = files
        .iter()
        .filter(|path| path.starts_with("crates") && path.ends_with("reason.rs"))
        .collect();
    if sources.is_empty() {
        found.push("no reason.rs declares the words of the output formats".to_owned());
    }
    for path in sources {
        let source =
            std::fs::read_to_string(root.join(path)).with_context(|| path.display().to_string())?;
        for word in declared_words(&source) {
            if !page.contains(&format!("`{word}`")) {
                found.push(format!("docs/OUTPUT.md does not mention `{word}`"));
            }
        }
    }
    Ok(())
}

/// Returns the words of lines such as `Variant = "word",`.
fn declared_words(source: &str) -> Vec<&str> {
    source
        .lines()
        .filter_map(|line| line.trim().strip_suffix("\",")?.split_once(" = \""))
        .filter(|(variant, _)| variant.chars().all(char::is_alphanumeric))
        .map(|(_, word)| word)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert_eq!(check(root).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn places_that_are_not_there_are_found() {
        let mut found = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = "see `xtask/src/main.rs`, crates/none\nor `crates/none`, `crates/*/src`";
        named_paths(root, Path::new("a.md"), text, &mut found);
        assert_eq!(found, ["a.md:2: there is no crates/none"]);
    }

    #[test]
    fn words_are_read_from_the_table() {
        let source = "    /// Doc = \"no\".\n    Root = \"root\",\n    StackExhausted = \"stack-exhausted\",\n";
        assert_eq!(declared_words(source), ["root", "stack-exhausted"]);
    }

    #[test]
    fn files_without_a_purpose_and_paths_of_machines_are_found() {
        let mut found = Vec::new();
        source(Path::new("a.rs"), "fn main() {}\n", &mut found);
        machine_paths(
            Path::new("a.md"),
            &format!("see {}oot/x\nsee ${{HOME}}/x", "/r"),
            &mut found,
        );
        assert_eq!(
            found,
            ["a.rs: does not open with //! and its purpose", "a.md:1: a path of some machine"]
        );
    }
}
