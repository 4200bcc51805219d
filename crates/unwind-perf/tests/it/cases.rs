//! The recordings of `testdata/cases`: the folder is the list.

use std::path::{Path, PathBuf};

use crate::run::{Ran, run};

/// A recorded case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

impl Case {
    /// All cases, in the order of their names.
    pub(crate) fn all() -> Vec<Self> {
        let cases = root().join("testdata/cases");
        let names = crate::run::listing(&cases);
        assert!(!names.is_empty(), "no cases in {}", cases.display());
        names.into_iter().map(|name| Self { folder: cases.join(&name), name }).collect()
    }

    /// The case of that name.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), folder: root().join("testdata/cases").join(name) }
    }

    /// Replays the case in its folder, with the files that belong to it and these further arguments.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["perf.data", "--sysroot", "../../sysroot"];
        if self.folder.join("kallsyms").is_file() {
            all.extend(["--kallsyms", "kallsyms"]);
        }
        all.extend(arguments);
        run(&self.folder, &all)
    }

    /// The bytes of the recording.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.folder.join("perf.data")).expect("a recording")
    }
}

/// The names of all formats, as the command tells them to those who name another.
pub(crate) fn formats() -> Vec<String> {
    let told = run(root(), &["-", "--format", "?"]).expect_status(2).stderr;
    let names = told.lines().next().and_then(|line| line.split_once("known formats are "));
    names.expect("the names").1.split(", ").map(str::to_owned).collect()
}

/// The folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The files that the recorded processes had mapped.
pub(crate) fn sysroot() -> PathBuf {
    root().join("testdata/sysroot")
}
