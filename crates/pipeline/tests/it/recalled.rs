//! Profiles of earlier runs: they are used while the recording, the options and all files are the same, and never
//! otherwise.
#![allow(clippy::disallowed_methods, reason = "tests look at the machine itself")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use address::{BuildId, ModuleId, Svma};
use host::{MemoryHost, RealHost, ScratchDir};
use options::{CacheLocation, NameOptions};
use pipeline::{
    Analysis, Demangle, FileSearch, Observer, Options, Pipeline, RecallNeeds, Source, Unobserved,
};
use profile::{LocationAddress, ModuleKind, Profile};

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

    /// Returns the result of a new process, and that of a run without a cache. Both are equal.
    fn results(&self, options: &Options, needs: RecallNeeds) -> [Analysis; 2] {
        let observer: Arc<dyn Observer> = Arc::new(Unobserved);
        let source = || Source::Path(self.path("perf.data"));
        let pipeline = || Pipeline::new(Arc::new(RealHost));
        let finished = pipeline().analyze_or_recall(source(), options, needs, &observer);
        let finished = finished.expect("a recording");
        let without = Options { cache: None, ..options.clone() };
        let analysis = pipeline().analyze(source(), &without, &observer).expect("a recording");
        assert!(finished.profile == analysis.profile);
        assert_eq!(finished.is_of_this_machine(), analysis.is_of_this_machine());
        assert_eq!(finished.written, analysis.written);
        [finished, analysis]
    }

    /// Returns the profile of a new process, and whether it is of an earlier run.
    fn run(&self, options: &Options) -> (Profile, bool) {
        let [finished, analysis] = self.results(options, RecallNeeds::Profile);
        (analysis.profile, finished.is_recalled())
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

/// The file addresses of a profile, by module.
fn places(profile: &Profile) -> Vec<(ModuleId, Svma)> {
    let places = profile.locations.iter().filter_map(|row| {
        let module = row.module?;
        let kind = profile.modules.get(module)?.kind;
        let LocationAddress::Svma(address) = row.address(Some(kind)) else { return None };
        Some((module, address))
    });
    places.collect()
}

#[test]
fn a_recalled_profile_has_the_files_of_its_run() {
    let case = CopiedCase::new();
    let [first, without] = case.results(&case.options, RecallNeeds::Files);
    let [recalled, _] = case.results(&case.options, RecallNeeds::Files);
    assert_eq!([&first, &recalled].map(Analysis::is_recalled), [false, true]);
    let places = places(&without.profile);
    assert_eq!(places.len(), 14);
    let opened = |of: &Analysis| -> Vec<_> {
        of.opened_files().map(|(path, id)| (path.to_owned(), id)).collect()
    };
    assert_eq!(opened(&recalled), opened(&without));
    assert_eq!(recalled.compile_dirs(&places), without.compile_dirs(&places));
    let demangle = Demangle::Full;
    assert_eq!(recalled.target_names(&places, demangle), without.target_names(&places, demangle));
    let instructions = |of: &Analysis| -> Vec<Vec<String>> {
        let mut code = of.code();
        let read = |&(module, address): &_| code.instructions(module, address);
        let functions = places.iter().map(read).map(Result::unwrap_or_default);
        functions.map(|function| function.into_iter().map(|it| it.text).collect()).collect()
    };
    let shown = instructions(&without);
    assert_eq!(shown.iter().filter(|function| !function.is_empty()).count(), 14);
    assert_eq!(instructions(&recalled), shown);
    for module in recalled.modules() {
        let same = without.modules().iter().find(|it| it.id == module.id).expect("a module");
        assert_eq!(recalled.proof(module), without.proof(same));
        assert_eq!((&module.path, module.kind), (&same.path, same.kind));
    }
}

/// A page shows times off the processor if the recording has them. Without them, its profile is that of other output.
#[test]
fn optional_times_off_the_processor_share_a_profile() {
    let case = CopiedCase::new();
    let optional_of = |case: &CopiedCase| Options {
        off_cpu: true,
        off_cpu_optional: true,
        ..case.options.clone()
    };
    let optional = optional_of(&case);
    assert_eq!([&case.options, &optional, &optional].map(|it| case.run(it).1), [false, true, true]);
    let other = CopiedCase::new();
    assert_eq!([&optional_of(&other), &other.options].map(|it| other.run(it).1), [false, true]);
    // This recording has switches, so the results differ.
    let recording = case.path("perf.data");
    fs::copy(testdata("cases/off-cpu/perf.data"), recording).expect("copied");
    settle();
    let of_run = |options| {
        let (profile, is_recalled) = case.run(options);
        (profile.off_cpu.is_some(), is_recalled)
    };
    assert_eq!(
        [&case.options, &optional, &case.options, &optional].map(of_run),
        [(false, false), (true, false), (false, true), (true, true)]
    );
}

/// Code that the kernel makes at run time changes its list. A profile without names of such code is stored.
#[test]
fn a_run_that_reads_the_kernels_list_is_recalled() {
    let case = testdata("cases/syscalls");
    let read = |name: &str| fs::read(case.join(name)).expect("a file of the case");
    let machine = MemoryHost::new();
    machine.insert("perf.data", read("perf.data"));
    machine.insert("/proc/sys/kernel/hostname", *b"testbox\n");
    machine.insert("/proc/sys/kernel/osrelease", *b"6.18.44-fc-v657\n");
    machine.insert("/proc/sys/kernel/random/boot_id", *b"first\n");
    machine.insert("/proc/kallsyms", read("kallsyms"));
    let id = BuildId::from_hex("48dc540c8b76393804ca8088dbfa7d42911a9444").expect("an id");
    let note = [&[4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0], &b"GNU\0"[..], id.as_bytes()].concat();
    machine.insert("/sys/kernel/notes", note);
    machine.insert(std::env::current_exe().expect("a program"), *b"program");
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let cache = Some(CacheLocation::of_default_size(dir.path().join("cache")));
    let options = Options { cache, ..Options::default() };
    let machine = Arc::new(machine);
    let run = || {
        let observer: Arc<dyn Observer> = Arc::new(Unobserved);
        let source = Source::Path("perf.data".into());
        let pipeline = Pipeline::new(machine.clone());
        let needs = RecallNeeds::Profile;
        let analysis = pipeline.analyze_or_recall(source, &options, needs, &observer);
        let analysis = analysis.expect("a recording");
        let named = analysis.profile.locations.iter().filter(|row| {
            let kind = row.module.and_then(|id| analysis.profile.modules.get(id)).map(|it| it.kind);
            kind == Some(ModuleKind::Kernel) && row.n_inlines > 0
        });
        (named.count(), analysis.is_recalled())
    };
    assert_eq!([(); 2].map(|()| run()), [(14, false), (14, true)]);
    machine.insert("/proc/sys/kernel/random/boot_id", *b"second\n");
    assert_eq!([(); 2].map(|()| run()), [(14, false), (14, true)]);
}
