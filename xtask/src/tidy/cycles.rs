//! The top-level modules of a crate (folders and files directly below its `src`), and their dependencies.
//! Cycles are not allowed.
//!
//! An arrow is a path from one such module into another (`use crate::module::X`, `crate::module::f()`, a `super::` that
//! leaves the module). Names that the crate's root re-exports count as the module that they come from. Tests are left
//! out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::layers::TOP_LEVEL;
use super::paths::{PathUse, crate_paths, root_exports};
use super::tokens::{Token, product_tokens};

/// Dependencies: from a module to another, with the first place that uses it.
type Dependencies = BTreeMap<String, BTreeMap<String, String>>;

/// Returns the cycles of every crate as lines.
pub(super) fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, sources) in crates(files) {
        let cycles = cycles(&dependencies(root, &sources)?);
        found.extend(cycles.iter().map(|circle| format!("{name}: {circle}")));
    }
    Ok(found)
}

/// A source file of a crate.
#[derive(Debug)]
struct SourceFile {
    /// Path from the root of the repository.
    path: PathBuf,
    /// Module path from the crate's root; empty for the root itself.
    module: Vec<String>,
}

impl SourceFile {
    /// Returns its top-level module; `None` for the crate's root.
    fn module_name(&self) -> Option<&str> {
        self.module.first().map(String::as_str)
    }
}

/// Returns the source files of each crate, without further programs (`src/bin`).
fn crates(files: &[PathBuf]) -> BTreeMap<String, Vec<SourceFile>> {
    let mut found = BTreeMap::<String, Vec<SourceFile>>::new();
    for path in files {
        let words: Vec<&str> = path.iter().filter_map(|word| word.to_str()).collect();
        let (name, inside) = match *words {
            ["crates", name, "src", ref inside @ ..] => (name, inside),
            [name, "src", ref inside @ ..] if TOP_LEVEL.contains(&name) => (name, inside),
            _ => continue,
        };
        if inside.first() == Some(&"bin") {
            continue;
        }
        if let Some(module) = module_of(inside) {
            found
                .entry(name.to_owned())
                .or_default()
                .push(SourceFile { path: path.clone(), module });
        }
    }
    found
}

/// Returns the module path of a file: `["a", "mod.rs"]` and `["a.rs"]` are the module `a`; `["lib.rs"]` is the root.
fn module_of(inside: &[&str]) -> Option<Vec<String>> {
    let (file, folders) = inside.split_last()?;
    let stem = file.strip_suffix(".rs")?;
    let mut module: Vec<String> = folders.iter().map(|&folder| folder.to_owned()).collect();
    let is_root = folders.is_empty() && matches!(stem, "lib" | "main");
    if !is_root && stem != "mod" {
        module.push(stem.to_owned());
    }
    Some(module)
}

/// Returns the arrows between the top-level modules of a crate.
fn dependencies(root: &Path, sources: &[SourceFile]) -> Result<Dependencies> {
    let texts: Vec<String> = sources
        .iter()
        .map(|source| {
            std::fs::read_to_string(root.join(&source.path))
                .with_context(|| source.path.display().to_string())
        })
        .collect::<Result<_>>()?;
    let parsed: Vec<_> = texts.iter().map(|text| product_tokens(text)).collect();
    let mut tests = BTreeSet::<Vec<String>>::new();
    let mut exports = BTreeMap::<String, String>::new();
    for (source, (tokens, test_modules)) in sources.iter().zip(&parsed) {
        for &name in test_modules {
            tests.insert([&source.module[..], &[name.to_owned()]].concat());
        }
        if let Some(module_name) = source.module_name() {
            for name in macros(tokens) {
                exports.entry(name.to_owned()).or_insert_with(|| module_name.to_owned());
            }
        } else {
            for PathUse { words, alias, .. } in root_exports(tokens) {
                exports.insert(alias, words[0].clone());
            }
        }
    }
    let module_names: BTreeSet<&String> =
        sources.iter().filter_map(|source| source.module.first()).collect();
    let mut dependencies = Dependencies::new();
    for (source, (tokens, _)) in sources.iter().zip(&parsed) {
        let in_test = (1..=source.module.len()).any(|end| tests.contains(&source.module[..end]));
        let Some(module_name) = source.module.first().filter(|_| !in_test) else { continue };
        for path in crate_paths(tokens, &source.module) {
            let Some(first) = path.words.first() else { continue };
            let used = if module_names.contains(first) { Some(first) } else { exports.get(first) };
            let Some(used) =
                used.filter(|used| *used != module_name && module_names.contains(used))
            else {
                continue;
            };
            let location = format!("{}:{}", source.path.display(), path.line);
            dependencies
                .entry(module_name.clone())
                .or_default()
                .entry(used.clone())
                .or_insert(location);
        }
    }
    Ok(dependencies)
}

/// Returns the names of the macros that a file defines; they are visible at the crate's root.
fn macros<'a>(tokens: &'a [Token<'_>]) -> impl Iterator<Item = &'a str> {
    tokens.windows(3).filter_map(|words| match words {
        [rules, mark, name] if rules.text == "macro_rules" && mark.text == "!" => Some(name.text),
        _ => None,
    })
}

/// Returns the shortest cycle of each strongly connected component of modules, as lines.
fn cycles(dependencies: &Dependencies) -> Vec<String> {
    let mut found = Vec::new();
    let mut reported = BTreeSet::<&str>::new();
    let mut candidates: Vec<Vec<&str>> =
        dependencies.keys().filter_map(|module_name| shortest(dependencies, module_name)).collect();
    candidates.sort_by_key(Vec::len);
    for circle in candidates {
        let component = component(dependencies, circle[0]);
        if reported.contains(circle[0]) {
            continue;
        }
        let steps: Vec<String> = circle
            .iter()
            .zip(circle.iter().cycle().skip(1))
            .map(|(from, to)| format!("{from} -> {to} ({})", dependencies[*from][*to]))
            .collect();
        found.push(format!(
            "{} rooms reach each other, as in {}",
            component.len(),
            steps.join(", ")
        ));
        reported.extend(component);
    }
    found
}

/// Returns the modules on the shortest path from `start` back to it.
fn shortest<'a>(dependencies: &'a Dependencies, start: &'a str) -> Option<Vec<&'a str>> {
    let mut before = BTreeMap::<&str, &str>::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module_name) = queue.pop_front() {
        for next in dependencies.get(module_name).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut path = vec![module_name];
                while path[path.len() - 1] != start {
                    path.push(before[path[path.len() - 1]]);
                }
                path.reverse();
                return Some(path);
            }
            if !before.contains_key(next.as_str()) {
                before.insert(next, module_name);
                queue.push_back(next);
            }
        }
    }
    None
}

/// Returns the modules that `module_name` reaches and that reach it.
fn component<'a>(dependencies: &'a Dependencies, module_name: &'a str) -> BTreeSet<&'a str> {
    let forward = reached(dependencies, module_name);
    forward
        .iter()
        .copied()
        .filter(|other| reached(dependencies, other).contains(module_name))
        .collect()
}

fn reached<'a>(dependencies: &'a Dependencies, start: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let next =
        |module_name: &str| dependencies.get(module_name).into_iter().flat_map(BTreeMap::keys);
    let mut open: Vec<&str> = next(start).map(String::as_str).collect();
    while let Some(module_name) = open.pop() {
        if found.insert(module_name) {
            open.extend(next(module_name).map(String::as_str));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a crate in a temporary folder, and returns the arrows between its modules.
    fn dependencies_of(name: &str, files: &[(&str, &str)]) -> Dependencies {
        let root = std::env::temp_dir().join(format!("xtask-rooms-{name}-{}", std::process::id()));
        let mut paths = Vec::new();
        for (path, text) in files {
            let path = Path::new("crates/c/src").join(path);
            std::fs::create_dir_all(root.join(path.parent().unwrap())).unwrap();
            std::fs::write(root.join(&path), text).unwrap();
            paths.push(path);
        }
        let found = dependencies(&root, &crates(&paths)["c"]).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        found
    }

    fn dependency_list(dependencies: &Dependencies) -> Vec<String> {
        let each = |from: &String, to: &BTreeMap<String, String>| {
            to.iter().map(|(to, location)| format!("{from} -> {to} {location}")).collect::<Vec<_>>()
        };
        dependencies.iter().flat_map(|(from, to)| each(from, to)).collect()
    }

    #[test]
    fn dependencies_go_from_module_to_module_and_through_the_root() {
        let found = dependencies_of(
            "arrows",
            &[
                ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod t;\npub use b::inner::Name;\n"),
                ("a.rs", "//! use crate::c;\nuse crate::Name;\ncrate::rule!();\n"),
                ("b/mod.rs", "mod inner;\n#[cfg(test)]\nmod tests;\n"),
                (
                    "b/inner.rs",
                    "use super::Own;\nuse super::super::c::X;\n#[cfg(test)]\nmod m { use crate::a; }\n",
                ),
                ("b/tests.rs", "use crate::a::Y;\n"),
                ("c.rs", "fn f() { \"crate::a\"; }\nmacro_rules! rule { () => {} }\n"),
                ("t.rs", "use crate::a::Y;\n"),
                ("bin/p.rs", "use crate::a::Y;\n"),
            ],
        );
        assert_eq!(
            dependency_list(&found),
            [
                "a -> b crates/c/src/a.rs:2",
                "a -> c crates/c/src/a.rs:3",
                "b -> c crates/c/src/b/inner.rs:2"
            ]
        );
        assert_eq!(cycles(&found), Vec::<String>::new());
    }

    #[test]
    fn a_cycle_is_reported_once_by_its_shortest_path() {
        let found = dependencies_of(
            "circle",
            &[
                ("main.rs", "mod a;\nmod b;\nmod c;\n"),
                ("a.rs", "use crate::b;\n"),
                ("b.rs", "\nuse crate::{c, a};\n"),
                ("c.rs", "use crate::a;\n"),
                ("d.rs", "use super::a;\n"),
            ],
        );
        assert_eq!(
            cycles(&found),
            [
                "3 rooms reach each other, as in a -> b (crates/c/src/a.rs:1), b -> a (crates/c/src/b.rs:2)"
            ]
        );
    }
}
