//! Profiles of earlier runs: they are used while the recording, the options and all files are the same, and never
//! otherwise.
#![allow(clippy::disallowed_methods, reason = "tests look at the machine itself")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::{RealHost, ScratchDir};
use options::{CacheLocation, NameOptions};
use pipeline::{FileSearch, Finished, Observer, Options, Pipeline, Source, Unobserved};
use profile::Profile;

/// A copy of a case with its files.
struct CopiedCase {
    dir: ScratchDir,
    options: Options,
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Waits until the recording counts as unchanged.
fn settle() {
    std::thread::sleep(Duration::from_millis(2100));
}

impl CopiedCase {
    fn new() -> Self {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = |name: &str| dir.path().join(name);
        fs::copy(testdata("cases/plt/perf.data"), path("perf.data")).expect("copied");
        for folder in ["files", "debug"] {
            fs::create_dir(path(folder)).expect("created");
        }
        for name in ["plt", "libplt.so"] {
            let from = testdata("sysroot/tmp/unwind-perf-testdata/plt").join(name);
            fs::copy(from, path("files").join(name)).expect("copied");
        }
        let files = FileSearch {
            extra_dirs: vec![path("files")],
            debug_dirs: vec![path("debug")],
            ..FileSearch::default()
        };
        let cache = Some(CacheLocation::of_default_size(path("cache")));
        let options = Options { files, cache, ..Options::default() };
        settle();
        Self { dir, options }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the profile of a new process, and whether it is of an earlier run. It equals that of a run without a
    /// cache.
    fn run(&self, options: &Options) -> (Profile, bool) {
        let observer: Arc<dyn Observer> = Arc::new(Unobserved);
        let source = || Source::Path(self.path("perf.data"));
        let pipeline = || Pipeline::new(Arc::new(RealHost));
        let finished = pipeline().analyze_or_recall(source(), options, &observer);
        let finished = finished.expect("a recording");
        let is_recalled = matches!(finished, Finished::Recalled { .. });
        let without = Options { cache: None, ..options.clone() };
        let analysis = pipeline().analyze(source(), &without, &observer).expect("a recording");
        assert!(*finished.profile() == analysis.profile);
        if let Finished::Recalled { is_of_this_machine, .. } = finished {
            assert_eq!(is_of_this_machine, analysis.is_of_this_machine());
        }
        (analysis.profile, is_recalled)
    }

    fn is_recalled(&self) -> bool {
        self.run(&self.options).1
    }

    fn stored(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("cache")).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "profile")).collect()
    }
}

#[test]
fn an_equal_run_is_recalled() {
    let case = CopiedCase::new();
    assert_eq!([(); 3].map(|()| case.is_recalled()), [false, true, true]);
    assert_eq!(case.stored().len(), 1);
    let names = NameOptions { inlines: false, ..NameOptions::default() };
    let other = Options { names, ..case.options.clone() };
    assert_eq!([(); 2].map(|()| case.run(&other).1), [false, true]);
    assert!(case.is_recalled());
}

#[test]
fn a_changed_or_new_file_makes_a_new_profile() {
    let case = CopiedCase::new();
    let names =
        |profile: &Profile| profile.inlines.iter().filter(|it| it.function.is_some()).count();
    let (first, _) = case.run(&case.options);
    assert!(case.is_recalled());
    let library = case.path("files/libplt.so");
    let bytes = fs::read(&library).expect("a file");
    fs::remove_file(&library).expect("removed");
    let (without, is_recalled) = case.run(&case.options);
    assert!(!is_recalled && names(&without) < names(&first));
    assert!(case.is_recalled());
    fs::write(&library, &bytes).expect("written");
    assert_eq!([(); 2].map(|()| case.is_recalled()), [false, true]);
    // A debug file of the program's build-id appears.
    let folder = case.path("debug/.build-id/3f");
    fs::create_dir_all(&folder).expect("created");
    let debug = folder.join("478f9ab42d403b68ea53f20ff63617a51f4572.debug");
    fs::copy(case.path("files/plt"), debug).expect("copied");
    assert_eq!([(); 2].map(|()| case.is_recalled()), [false, true]);
}

#[test]
fn a_changed_recording_makes_a_new_profile() {
    let case = CopiedCase::new();
    assert_eq!([(); 2].map(|()| case.is_recalled()), [false, true]);
    let recording = case.path("perf.data");
    fs::copy(testdata("cases/inlines-gcc/perf.data"), &recording).expect("copied");
    // A recording that was just written is not stored.
    assert_eq!([(); 2].map(|()| case.is_recalled()), [false, false]);
    settle();
    assert_eq!([(); 2].map(|()| case.is_recalled()), [false, true]);
    // A damaged recording is analyzed each time.
    let bytes = fs::read(&recording).expect("a recording");
    fs::write(&recording, &bytes[..bytes.len() * 3 / 4]).expect("cut");
    settle();
    assert_eq!([(); 2].map(|()| case.is_recalled()), [false, false]);
}

#[test]
fn damaged_entries_are_made_anew() {
    let case = CopiedCase::new();
    assert!(!case.is_recalled());
    let [path] = &case.stored()[..] else { panic!("one entry") };
    let whole = fs::read(path).expect("an entry");
    for damage in 0..4 {
        let mut bytes = whole.clone();
        match damage {
            0 => bytes.truncate(whole.len() / 2),
            1 => bytes.clear(),
            2 => bytes[whole.len() / 2] ^= 1,
            _ => bytes[8] ^= 1,
        }
        fs::write(path, bytes).expect("damaged");
        assert_eq!([(); 2].map(|()| case.is_recalled()), [false, true], "{damage}");
        assert!(fs::read(path).expect("an entry") == whole, "{damage}");
    }
}
