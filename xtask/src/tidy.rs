//! `cargo xtask tidy`: conventions of this repository that a compiler does not check. Also a test.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::args::Args;
use crate::command;

/// Which crates a crate may use; tests may use more. Source: docs/ARCHITECTURE.md, "Rooms".
const LAYERS: &[(&str, &[&str])] = &[
    ("address", &[]),
    ("synth", &[]),
    ("perf-data", &["address"]),
    ("module-map", &["address"]),
    ("unwinder", &["address", "perf-data", "module-map"]),
    ("symbolizer", &["address", "module-map"]),
    ("output", &["address", "unwinder"]),
    ("unwind-perf", &["address", "perf-data", "module-map", "unwinder", "symbolizer", "output"]),
    ("xtask", &["synth"]),
];

/// Lines that no source file exceeds.
const MAX_LINES: usize = 600;

/// Runs all checks and prints what they found.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    args.finish()?;
    let found = check(&command::root())?;
    for line in &found {
        println!("{line}");
    }
    println!("tidy: {} findings", found.len());
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every violation, a line each.
fn check(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let files = files(root)?;
    for path in &files {
        let bytes = std::fs::read(root.join(path)).with_context(|| path.display().to_string())?;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if path.extension().is_some_and(|extension| extension == "rs") {
            source(path, &text, &mut found);
        }
        if !path.starts_with("testdata/cases") {
            machine_paths(path, &text, &mut found);
        }
    }
    layers(root, &mut found)?;
    words(root, &mut found)?;
    Ok(found)
}

/// Files that are tracked or would be, relative to the root; in a copy without its history, the files that are there.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let Ok(listing) = command::quiet_output(&mut git) else {
        let mut found = Vec::new();
        walk(root, Path::new(""), &mut found)?;
        return Ok(found);
    };
    let paths = listing.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    Ok(paths.filter(|path| root.join(path).is_file()).collect())
}

/// The files below a folder, but for what is built or measured.
fn walk(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let kind = entry.file_type()?;
        let made = ["target", "bench-data", ".git"].iter().any(|made| path.ends_with(made));
        if kind.is_dir() && !made {
            walk(root, &path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

fn source(path: &Path, text: &str, found: &mut Vec<String>) {
    let first = text.lines().find(|line| !line.starts_with("#!"));
    if !first.is_some_and(|line| line.starts_with("//!")) {
        found.push(format!("{}: does not open with //!, what it is for", path.display()));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        found.push(format!("{}: {lines} lines, the limit is {MAX_LINES}", path.display()));
    }
}

/// Folders of somebody's machine have no place in the repository.
fn machine_paths(path: &Path, text: &str, found: &mut Vec<String>) {
    // Put together here, so that this file does not find itself.
    let homes = [concat!("/ro", "ot/"), concat!("/ho", "me/")];
    for (number, line) in text.lines().enumerate() {
        let hit = homes.iter().flat_map(|home| line.match_indices(home)).any(|(at, home)| {
            let before = line.get(..at).and_then(|front| front.chars().next_back());
            let behind = line.get(at + home.len()..).unwrap_or_default();
            let inside_another =
                before.is_some_and(|c| c.is_alphanumeric() || "._-$}/*".contains(c));
            let example = behind.starts_with("me/") || behind.starts_with("user/");
            !inside_another && !example
        });
        if hit {
            found.push(format!("{}:{}: a path of some machine", path.display(), number + 1));
        }
    }
}

/// The arrows between the crates point one way.
fn layers(root: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(root.join("crates"))? {
        let name = command::file_name(&entry?.path());
        if !LAYERS.iter().any(|&(layer, _)| layer == name) {
            found.push(format!("crates/{name}: not in the table of layers"));
        }
    }
    for &(name, allowed) in LAYERS {
        let folder = if name == "xtask" { root.join(name) } else { root.join("crates").join(name) };
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))
            .with_context(|| format!("{name}: Cargo.toml"))?;
        for dependency in dependencies(&manifest) {
            let local = LAYERS.iter().any(|&(layer, _)| layer == dependency);
            if local && !allowed.contains(&dependency) {
                found.push(format!("{name} must not use {dependency}"));
            }
        }
    }
    Ok(())
}

/// Names in `[dependencies]`, and as tables of their own.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("[dependencies.") {
            names.push(name.trim_end_matches(']'));
        }
        if line.starts_with('[') {
            inside = line == "[dependencies]";
        } else if let (true, Some((name, _))) = (inside, line.split_once('=')) {
            names.push(name.trim().trim_end_matches(".workspace"));
        }
    }
    names
}

/// The words of the output formats are explained to users.
fn words(root: &Path, found: &mut Vec<String>) -> Result<()> {
    let source = std::fs::read_to_string(root.join("crates/unwinder/src/reason.rs"))
        .context("the words' source")?;
    let page = std::fs::read_to_string(root.join("docs/OUTPUT.md")).unwrap_or_default();
    for word in declared_words(&source) {
        if !page.contains(&format!("`{word}`")) {
            found.push(format!("docs/OUTPUT.md does not mention `{word}`"));
        }
    }
    Ok(())
}

/// `Variant = "word",` gives the word.
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
    fn dependencies_are_read_from_both_forms() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na = { workspace = true }\nb.workspace = true\n\
                        [dependencies.c]\npath = \"p\"\n[dev-dependencies]\nd = \"1\"\n";
        assert_eq!(dependencies(manifest), ["a", "b", "c"]);
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
            ["a.rs: does not open with //!, what it is for", "a.md:1: a path of some machine"]
        );
    }
}
