//! Tests that only files in folders that the user named are opened, for any paths in a recording.
#![allow(clippy::disallowed_methods, reason = "tests make the files that they look for")]

use std::ffi::OsString;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use host::{
    ByteStream, DirEntry, FileStat, Host, HostError, HostFile, HostText, Origin, RealHost,
    ScratchDir,
};
use pipeline::{FileSearch, Observer, Options, Pipeline, Source, SourceFiles, Unobserved};
use profile::Profile;
use synth::{ElfBuilder, MmapFile, Record, SampleBuilder, SampleId, Section, Segment, Symbol};

use crate::support::with_callchains;

/// The real host, which records each request and refuses none by itself.
#[derive(Debug, Default)]
struct Watched(Mutex<Vec<(PathBuf, Option<PathBuf>)>>);

impl Watched {
    fn note(&self, path: &Path, origin: Origin<'_>) {
        let question = (path.to_owned(), origin.root().map(Path::to_owned));
        self.0.lock().expect("no panic").push(question);
    }
}

impl Host for Watched {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        self.note(path, origin);
        RealHost.open(path, origin)
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        self.note(path, origin);
        RealHost.text(path, origin)
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        self.note(path, origin);
        RealHost.stream(path, origin)
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        self.note(path, origin);
        RealHost.stat(path, origin)
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        self.note(path, origin);
        RealHost.list(path, origin)
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        None
    }

    fn variable(&self, _: &str) -> Option<OsString> {
        None
    }
}

/// A program with one function.
fn program(function: &str) -> Vec<u8> {
    ElfBuilder {
        segments: vec![Segment::load_text(0x1000, 0x1000, 0x100)],
        sections: vec![Section::text(0x1000, vec![0xc3; 0x100])],
        symbols: vec![Symbol::function(function, 0x1000, 0x100)],
        ..ElfBuilder::x86_64()
    }
    .build()
}

/// A recording with one mapping and one sample for each path.
fn recording(paths: &[String]) -> Vec<u8> {
    const USER: u64 = 0u64.wrapping_sub(512);
    let mut data = with_callchains();
    for (path, number) in paths.iter().zip(1..) {
        let addr = number << 20;
        let id = SampleId { id: 7, ..SampleId::at(7, 7, number) };
        let file = MmapFile::Inode { major: 8, minor: 1, inode: number, generation: 0 };
        data.record_at(
            &Record::Mmap2 {
                pid: 7,
                tid: 7,
                addr,
                len: 0x100,
                pgoff: 0x1000,
                file,
                prot: 5,
                flags: 2,
                name: path.as_bytes(),
            },
            id,
        );
        let sample = SampleBuilder::at(addr + 0x10, 7, 7, 100 + number);
        data.sample(&SampleBuilder { id: 7, callchain: vec![USER, addr + 0x10], ..sample });
    }
    data.build()
}

/// All strings of a profile, which include the names of all frames.
fn names(profile: &Profile) -> Vec<String> {
    let strings = profile.strings.iter();
    strings.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

#[test]
fn no_path_of_a_recording_leaves_the_folders() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let at = |name: &str| dir.path().join(name);
    for folder in ["jail/bin", "jail/tmp", "outside", "debug", "cache"] {
        std::fs::create_dir_all(at(folder)).expect("a folder");
    }
    std::fs::write(at("jail/bin/good"), program("inside")).expect("a file");
    std::fs::write(at("outside/prog"), program("secret")).expect("a file");
    std::fs::write(at("perf-7.map"), "100000 10000000 secret\n").expect("a file");
    for (link, target) in [
        ("jail/bin/up", "../../outside/prog".to_owned()),
        ("jail/bin/whole", at("outside/prog").display().to_string()),
        ("jail/folder", at("outside").display().to_string()),
        ("jail/tmp/perf-7.map", at("perf-7.map").display().to_string()),
        ("debug/prog", "../outside/prog".to_owned()),
    ] {
        symlink(target, at(link)).expect("a link");
    }
    let absolute = at("outside/prog").display().to_string();
    let paths = [
        "/bin/good".to_owned(),
        "/../outside/prog".to_owned(),
        "/bin/../../outside/prog".to_owned(),
        "/bin/../bin/./good".to_owned(),
        "/bin/up".to_owned(),
        "/bin/whole".to_owned(),
        "/folder/prog".to_owned(),
        "/prog".to_owned(),
        absolute,
        "/./proc/self/exe".to_owned(),
        "/bin/../../../../../../../../proc/self/exe".to_owned(),
        "/tmp/../dev/zero".to_owned(),
        "//proc//self/maps".to_owned(),
    ];
    std::fs::write(at("perf.data"), recording(&paths)).expect("a file");

    let host = Arc::new(Watched::default());
    let files = FileSearch {
        sysroots: vec![at("jail")],
        build_id_stores: vec![at("cache")],
        debug_dirs: vec![at("debug")],
        ..FileSearch::default()
    };
    let options = Options { files, ..Options::default() };
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let pipeline = Pipeline::new(host.clone());
    let analysis = pipeline.analyze(Source::Path(at("perf.data")), &options, &observer);
    let profile = analysis.expect("a profile").profile;

    let names = names(&profile);
    assert!(
        names.iter().any(|name| name == "inside") && !names.iter().any(|name| name == "secret")
    );
    let finding = profile.summary.findings.iter().find(|row| row.kind == "path-with-parent");
    assert_eq!(finding.expect("the finding").count, 5);
    only_inside(&host, &at);
}

/// Asserts that each request was for a file in one of the folders, the recording, or a fixed path.
fn only_inside(host: &Watched, at: &dyn Fn(&str) -> PathBuf) {
    let roots = ["jail", "cache", "debug"].map(at);
    let fixed = ["/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease", "/sys/kernel/notes"];
    for (path, root) in host.0.lock().expect("no panic").iter() {
        match root {
            Some(root) => assert!(
                roots.contains(root) || *root == at("perf.data"),
                "{} in {}",
                path.display(),
                root.display()
            ),
            None => assert!(
                *path == at("perf.data")
                    || roots.contains(path)
                    || fixed.iter().any(|fixed| path == Path::new(fixed)),
                "{}",
                path.display()
            ),
        }
    }
}

#[test]
fn no_name_of_a_source_file_leaves_the_folders() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let at = |name: &str| dir.path().join(name);
    for folder in ["jail/src", "debug", "cache"] {
        std::fs::create_dir_all(at(folder)).expect("a folder");
    }
    std::fs::write(at("jail/src/a.c"), "inside").expect("a file");
    std::fs::write(at("cache/b.c"), "named").expect("a file");
    std::fs::write(at("secret.c"), "secret").expect("a file");
    symlink("../../secret.c", at("jail/src/up.c")).expect("a link");
    symlink(at("secret.c"), at("cache/whole.c")).expect("a link");
    let host = Watched::default();
    let files = FileSearch {
        sysroots: vec![at("jail")],
        source_dirs: vec![at("cache")],
        path_map: vec![(b".".to_vec(), at("debug").into_os_string().into_encoded_bytes())],
        ..FileSearch::default()
    };
    let sources = SourceFiles::new(&files, &host);
    let both = |name: &str| [sources.text(name.as_bytes()), sources.text_to_show(name.as_bytes())];
    assert_eq!(both("/src/../src//a.c"), [Some(b"inside".to_vec()), Some(b"inside".to_vec())]);
    assert_eq!(both("./b.c"), [Some(b"named".to_vec()), Some(b"named".to_vec())]);
    let absolute = at("secret.c").display().to_string();
    let names = [
        "../secret.c",
        "../../secret.c",
        "/../secret.c",
        "/src/up.c",
        "src/../../secret.c",
        "./whole.c",
        "/whole.c",
        &absolute,
        "/proc/self/cwd/../secret.c",
        "Cargo.toml",
        "src/lib.rs",
        "/proc/self/environ",
    ];
    for name in names {
        assert_eq!(both(name), [None, None], "{name}");
    }
    only_inside(&host, &at);
}
