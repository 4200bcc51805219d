//! `convert`: many recordings become one tree, each once, whatever their state.

mod compact;
mod failures;
mod rows;
mod sources;
mod watched;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::cases::{Case, sysroot};
use crate::support::run::{Ran, empty_folder, run, run_with_input};

/// Hash of the options of [`Fleet::convert`], which depend on the folder of the test data.
fn opts(manifests: &[Value]) -> String {
    manifests[0]["opts"].as_str().expect("a hash").to_owned()
}

/// A folder with recordings, in which `convert` runs.
struct Fleet {
    folder: PathBuf,
}

impl Fleet {
    fn new(name: &str) -> Self {
        Self { folder: empty_folder(&format!("fleet-{name}")) }
    }

    /// Copies the recording of a case.
    fn add(&self, case: &str, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, Case::named(case).bytes()).expect("written");
        path
    }

    /// Converts into `out`, with the files of the test data.
    #[track_caller]
    fn convert(&self, arguments: &[&str]) -> Ran {
        let files = sysroot();
        let usual = ["convert", "--out", "out", "--sysroot", files.to_str().expect("UTF-8")];
        run(&self.folder, &[&usual[..], arguments].concat())
    }

    #[track_caller]
    fn convert_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let files = sysroot();
        let usual = ["convert", "--out", "out", "--sysroot", files.to_str().expect("UTF-8")];
        run_with_input(&self.folder, &[&usual[..], arguments].concat(), input)
    }

    /// Returns the files of the tree, sorted, with `OPTS` for the hash of the options.
    fn files(&self) -> Vec<String> {
        let root = self.folder.join("out");
        let mut files = Vec::new();
        add_files(&root, &root, &mut files);
        files.sort();
        files
    }

    /// Writes a shell script that stands for the program in child processes. `$REAL` is the program.
    fn script(&self, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.folder.join("program");
        let text = format!("#!/bin/sh\nREAL={}\n{text}\n", env!("CARGO_BIN_EXE_unwind-perf"));
        std::fs::write(&path, text).expect("written");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    }
}

fn add_files(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_files(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below").to_str().expect("UTF-8");
            files.push(name.to_owned());
        }
    }
}

/// Returns a column of the manifests as text.
fn column(manifests: &[Value], key: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    manifests.iter().map(|manifest| text(&manifest[key])).collect()
}
