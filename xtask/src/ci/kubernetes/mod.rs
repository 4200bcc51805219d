//! The manifests of `crates/service/kubernetes`: their fields by the schemas of Kubernetes, and their commands, which run
//! with folders in place of the volumes.

mod container;
mod runs;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Outcome, succeeds};
use crate::{command, dist};
use container::Container;

/// The folder of the manifests.
const FOLDER: &str = "crates/service/kubernetes";
/// The validator, which contains the schemas.
const VALIDATOR: &str = "kubernetes-validate==1.37.0";
/// The oldest version of Kubernetes with all fields, and the newest one of the validator.
const VERSIONS: [&str; 2] = ["1.30", "1.37"];
/// Prints the documents of a file as JSON.
const DOCUMENTS: &str =
    "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";

/// Checks all manifests. The recorder is started only if perf records all processes here.
pub(super) fn check(root: &Path, ours: &Path) -> Result<Outcome> {
    if !succeeds(Command::new("python3").args(["-c", "import ensurepip, venv"])) {
        return Ok(Outcome::Skipped("python3 cannot make environments (python3-venv)".to_owned()));
    }
    let target = std::path::absolute(command::target())?;
    let python = validator(&target.join("kubernetes"))?;
    let folder = root.join(FOLDER);
    let files = ["volumes.yaml", "convert.yaml", "recorder.yaml"].map(|name| folder.join(name));
    for version in VERSIONS {
        let mut validate = Command::new(&python);
        validate.args(["-m", "kubernetes_validate", "--strict", "--kubernetes-version", version]);
        command::run(validate.args(&files))?;
    }
    let [_, convert, recorder] = &files;
    let convert = container(&python, convert, "convert", "unwind-perf")?;
    let recorder = container(&python, recorder, "recorder", "unwind-perf-recorder")?;
    let scratch = target.join("ci-kubernetes");
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)?;
    }
    runs::convert(&convert, root, ours, &scratch.join("convert"))?;
    if succeeds(&mut command::words("perf record -q -a -e cpu-clock -o /dev/null -- true")) {
        let guide = root.join("docs/guide/kubernetes.md");
        runs::recorder(&recorder, &guide, ours, &scratch.join("recorder"))?;
    } else {
        println!("skipped: perf does not record all processes here, to start the recorder");
    }
    std::fs::remove_dir_all(scratch)?;
    Ok(Outcome::Passed)
}

/// Installs the validator if it is missing, and returns its Python.
fn validator(folder: &Path) -> Result<PathBuf> {
    let python = folder.join("bin/python");
    if !succeeds(Command::new(&python).args(["-c", "import kubernetes_validate, yaml"])) {
        command::run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        command::run(Command::new(&python).args(["-m", "pip", "install", "-q", VALIDATOR]))?;
    }
    Ok(python)
}

/// Returns the container of a file, whose image has this title and the version of the workspace.
fn container(python: &Path, file: &Path, name: &str, title: &str) -> Result<Container> {
    let mut print = Command::new(python);
    let text = command::quiet_output(print.args(["-c", DOCUMENTS]).arg(file))?;
    let documents: Vec<Value> = serde_json::from_str(&text)?;
    let found = documents.iter().find_map(|document| {
        document.pointer("/spec/template/spec/containers")?.as_array()?.first()
    });
    let container = Container::new(found.context("no container")?)
        .with_context(|| file.display().to_string())?;
    ensure!(container.name == name, "{}: {} is not {name}", file.display(), container.name);
    let image = format!("registry.example.com/{title}:{}", dist::version()?);
    ensure!(container.image == image, "{}: {} is not {image}", file.display(), container.image);
    Ok(container)
}
