//! Permitted dependencies between crates, as drawn in `docs/ARCHITECTURE.md`.

use std::path::Path;

use anyhow::{Context, Result};

use crate::command;

/// Permitted dependencies of each crate; tests may use more. A crate that does not exist yet is not a finding.
/// Source: docs/ARCHITECTURE.md, "Crates".
const LAYERS: &[(&str, &[&str])] = &[
    ("address", &[]),
    ("budget", &[]),
    ("demangle", &[]),
    ("elf-writer", &["address"]),
    ("host", &["budget"]),
    ("options", &["address"]),
    ("profile", &["address", "demangle", "options"]),
    ("perf-data", &["address", "budget"]),
    ("module-map", &["address", "budget", "options"]),
    ("jit", &["address", "elf-writer", "module-map"]),
    ("gopclntab", &[]),
    ("values", &["address", "budget"]),
    ("image-store", &["address", "budget", "gopclntab", "host", "jit", "module-map", "options"]),
    (
        "bundle",
        &[
            "address",
            "budget",
            "elf-writer",
            "host",
            "options",
            "perf-data",
            "image-store",
            "profile",
        ],
    ),
    ("unwinder", &["address", "budget", "gopclntab", "image-store", "module-map", "profile"]),
    (
        "replay",
        &[
            "address",
            "budget",
            "options",
            "perf-data",
            "image-store",
            "module-map",
            "profile",
            "unwinder",
            "values",
        ],
    ),
    (
        "symbolizer",
        &[
            "address",
            "budget",
            "demangle",
            "gopclntab",
            "host",
            "image-store",
            "module-map",
            "options",
            "profile",
        ],
    ),
    ("cache", &["address", "budget", "host", "image-store", "options", "profile", "symbolizer"]),
    ("web", &[]),
    ("formats", &["address", "demangle", "options", "profile", "web"]),
    ("tui", &["address", "demangle", "formats", "options", "profile"]),
    (
        "pipeline",
        &[
            "address",
            "budget",
            "bundle",
            "cache",
            "host",
            "options",
            "perf-data",
            "image-store",
            "module-map",
            "unwinder",
            "replay",
            "symbolizer",
            "profile",
        ],
    ),
    ("confine", &["host"]),
    ("fleet", &["host", "options"]),
    ("service", &["confine", "host", "options", "profile", "formats", "web", "pipeline"]),
    ("mcp", &["host", "options", "profile", "formats", "pipeline"]),
    (
        "unwind-perf",
        &[
            "address",
            "bundle",
            "cache",
            "confine",
            "demangle",
            "host",
            "options",
            "perf-data",
            "image-store",
            "module-map",
            "unwinder",
            "symbolizer",
            "profile",
            "formats",
            "pipeline",
            "fleet",
            "service",
            "mcp",
            "tui",
        ],
    ),
    ("synth", &[]),
    ("xtask", &["synth"]),
    (
        "lab",
        &[
            "synth",
            "address",
            "demangle",
            "host",
            "perf-data",
            "pipeline",
            "profile",
            "image-store",
            "module-map",
            "unwinder",
            "replay",
            "values",
            "budget",
            "xtask",
        ],
    ),
];

/// Crates outside of the folder `crates`.
pub(super) const TOP_LEVEL: &[&str] = &["lab", "xtask"];

/// Returns the crates from the bottom up, each with its folder.
fn crate_folders() -> impl Iterator<Item = (&'static str, String)> {
    LAYERS.iter().map(|&(name, _)| {
        let folder =
            if TOP_LEVEL.contains(&name) { name.to_owned() } else { format!("crates/{name}") };
        (name, folder)
    })
}

/// Checks that dependencies between crates point in one direction.
pub(super) fn check(root: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(root.join("crates"))? {
        let name = command::file_name(&entry?.path());
        if !LAYERS.iter().any(|&(layer, _)| layer == name) {
            found.push(format!("crates/{name}: not in the table of layers"));
        }
    }
    for ((name, folder), &(_, allowed)) in crate_folders().zip(LAYERS) {
        let folder = root.join(folder);
        if !folder.is_dir() {
            continue;
        }
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

/// Returns the names in `[dependencies]`, and in separate tables.
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

#[cfg(test)]
mod tests {
    use super::dependencies;

    #[test]
    fn dependencies_are_read_from_both_forms() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\na = { workspace = true }\nb.workspace = true\n\
                        [dependencies.c]\npath = \"p\"\n[dev-dependencies]\nd = \"1\"\n";
        assert_eq!(dependencies(manifest), ["a", "b", "c"]);
    }
}
