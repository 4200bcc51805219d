//! The recordings of `testdata/cases`, and the table from which their tests are generated: outputs and end reasons.
//!
//! A new case gets a row here; a test fails if the table and the folder differ.

use std::path::{Path, PathBuf};

use crate::support::run::{Ran, run};

/// A recorded case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

impl Case {
    /// Returns all cases, sorted by name.
    pub(crate) fn all() -> Vec<Self> {
        let cases = root().join("testdata/cases");
        let names = crate::support::run::listing(&cases);
        assert!(!names.is_empty(), "no cases in {}", cases.display());
        names.into_iter().map(|name| Self { folder: cases.join(&name), name }).collect()
    }

    /// Returns the case of that name.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), folder: root().join("testdata/cases").join(name) }
    }

    /// Returns the formats of the outputs that are stored beside the recording, sorted.
    pub(crate) fn expected_formats(&self) -> Vec<String> {
        let files = crate::support::run::listing(&self.folder);
        files.iter().filter_map(|file| file.strip_prefix("expected.")).map(str::to_owned).collect()
    }

    /// Replays the case in its folder, with its files and these further arguments.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut all = vec!["perf.data", "--sysroot", "../../sysroot"];
        if self.folder.join("kallsyms").is_file() {
            all.extend(["--kallsyms", "kallsyms"]);
        }
        all.extend(arguments);
        run(&self.folder, &all)
    }

    /// Returns the bytes of the recording.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.folder.join("perf.data")).expect("a recording")
    }
}

/// Returns the names of all formats, as the command lists them for an unknown name.
pub(crate) fn formats() -> Vec<String> {
    let reported = run(root(), &["-", "--format", "?"]).expect_status(2).stderr;
    let names = reported.lines().next().and_then(|line| line.split_once("known formats are "));
    names.expect("the names").1.split(", ").map(str::to_owned).collect()
}

/// Returns the folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Returns the folder with the files that the recorded processes had mapped.
pub(crate) fn sysroot() -> PathBuf {
    root().join("testdata/sysroot")
}

/// Passes the table of cases to a macro that defines tests: the case (`_` stands for `-`), the formats of its files
/// `expected.*`, and the number of its samples by end reason.
macro_rules! for_each_case {
    ($make:ident) => {
        $make! {
            aarch64_chain: [folded ndjson] { "root": 30 }
            aarch64_signed: [folded ndjson] { "root": 33 }
            anon: [folded json ndjson summary] { "root": 15, "root-across-gap": 15 }
            arm_chain: [folded] { "root": 61 }
            arm_fp: [folded] { "root": 61 }
            copied: [folded ndjson] { "root": 13, "root-across-gap": 31 }
            deep: [folded summary] { "root": 5, "root-across-gap": 32 }
            dlopen: [folded ndjson summary] { "root": 23 }
            exceptions: [folded summary] { "register-unknown": 2, "root": 36, "root-across-gap": 2 }
            fork: [folded ndjson] { "root": 48 }
            inlines_clang_lld: [folded perf_script] { "root": 38 }
            inlines_gcc: [folded ndjson] { "root": 35 }
            jit: [folded json ndjson] { "root": 21 }
            leaf_nofp: [folded ndjson] { "root": 35 }
            noeh_debug_frame: [folded] { "root": 31 }
            noeh_fp: [folded ndjson] { "root": 30 }
            noeh_nofp: [folded ndjson summary] { "root": 30 }
            norm: [folded ndjson] { "root": 33 }
            off_cpu: [folded] { "root": 95 }
            plt: [folded json ndjson] { "root": 19 }
            plt_sec: [folded] { "root": 21 }
            ppc64le_chain: [folded] { "root": 57 }
            realign_clang: [folded] { "root": 49 }
            realign_gcc: [folded] { "root": 53 }
            recursion_rs: [folded] { "root": 41 }
            relative_sources: [folded] { "root": 28 }
            riscv64_chain: [folded ndjson] { "root": 64 }
            s390x_chain: [folded] { "root": 61 }
            signal: [folded ndjson] { "root": 44 }
            spin_bfd: [folded] { "root": 32 }
            spin_gold: [folded] { "root": 32 }
            spin_lld: [folded ndjson] { "root": 31 }
            spin_lld_build_id: [folded] { "root": 51 }
            spin_lld_nopie: [folded] { "root": 33 }
            spin_mold: [folded] { "root": 30 }
            spin_nopie: [folded] { "root": 30 }
            spin_static: [folded] { "root": 31 }
            spin_static_pie: [folded] { "root": 29 }
            spin_stripped: [folded ndjson] { "root": 32 }
            syscalls: [folded json ndjson perf_script] { "root": 48 }
            tailcall: [folded ndjson] { "root": 31 }
            two_events: [folded json perf_script] { "root": 52 }
        }
    };
}
pub(crate) use for_each_case;

/// Returns the name of a case or format from its identifier.
pub(crate) fn spelled(identifier: &str) -> String {
    identifier.replace('_', "-")
}

/// Copies a folder with its contents: links that lead out of a sysroot lead nowhere.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let copy = to.join(entry.file_name());
        if entry.file_type().expect("its kind").is_dir() {
            copy_folder(&entry.path(), &copy);
        } else {
            std::fs::copy(entry.path(), copy).expect("a file");
        }
    }
}
