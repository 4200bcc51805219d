//! A bundle repeats the answers of the host; other requests are findings.
#![allow(clippy::disallowed_methods, reason = "files are made for the real host to read")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use budget::Budget;
use bundle::{Bundle, BundleFacts, ContentSelection, JournalHost, RecordedFiles, is_bundle};
use host::{
    FileKind, FileOwner, Host, HostError, HostFinding, MemoryHost, Origin, RealHost, ScratchDir,
};
use options::FileSearch;

/// Returns the origin of names in a recording.
fn root() -> Origin<'static> {
    Origin::Recording { root: Path::new("/") }
}

fn bundle(journal: &JournalHost, keep: &ContentSelection) -> Bundle {
    let facts = BundleFacts { recording: "perf.data".into(), ..BundleFacts::default() };
    let mut packed = Vec::new();
    bundle::write(
        &journal.finish().expect("files"),
        &facts,
        &RecordedFiles::default(),
        keep,
        &mut packed,
    )
    .expect("memory");
    assert!(is_bundle(&packed));
    Bundle::read(&packed, &Budget::default()).expect("a bundle")
}

#[test]
fn every_answer_comes_back() {
    let machine = MemoryHost::new();
    machine.insert("perf.data", *b"PERFILE2");
    machine.insert("/lib/a.so", *b"a");
    machine.insert("/lib/b.so", *b"a");
    machine.insert_special("/fifo");
    machine.insert_of("/tmp/perf-7.map", *b"1 2 x", FileOwner::Other(77));
    machine.insert("/proc/sys/kernel/hostname", *b"box\n");
    machine.set_variable("HOME", "/users/user");
    machine.set_vdso(*b"vdso");
    let journal = JournalHost::new(Arc::new(machine), Path::new("perf.data"));
    let ask = |host: &dyn Host| {
        let at = Path::new;
        let error = |path: &str| host.open(at(path), root()).map(drop).map_err(|it| it.to_string());
        let read = |path: &str| host.open(at(path), root()).map(|file| file.content.to_vec()).ok();
        let text = host.text(at("/tmp/perf-7.map"), Origin::System).expect("a text");
        let (a, b) = (at("/lib/a.so"), at("/lib/b.so"));
        let stamp = |path: &Path| host.stat(path, root()).expect("a file").stamp;
        assert_ne!(stamp(a), stamp(b));
        let size = host.open(at("perf.data"), Origin::User).expect("the recording").content.len();
        let folder = (host.list(at("/lib"), root()).ok(), host.is_dir(at("/lib"), root()));
        let machine = (host.hostname(), host.running_vdso(), host.home(), host.variable("NONE"));
        let errors = ["/none", "/fifo"].map(error);
        (
            (text.bytes, text.owner),
            size,
            folder,
            machine,
            errors,
            read("/lib/a.so"),
            read("/lib/b.so"),
        )
    };
    let (there, again) = (ask(&*journal), ask(&*journal));
    assert_eq!(there, again);
    let bundle = bundle(&journal, &ContentSelection::Whole);
    assert_eq!(ask(&**bundle.host()), there);
    assert_eq!(bundle.host().findings(), []);
    assert_eq!(bundle.manifest().facts().recording, Path::new("perf.data"));
}

#[test]
fn what_nobody_asked_for_is_a_finding() {
    let machine = MemoryHost::new();
    machine.insert("/lib/a.so", *b"a");
    let journal = JournalHost::new(Arc::new(machine), Path::new("perf.data"));
    let path = Path::new("/lib/a.so");
    assert!(journal.is_file(path, root()));
    let bundle = bundle(&journal, &ContentSelection::Whole);
    let host = bundle.host();
    // Its bytes were not requested, nor was it requested in another folder.
    assert!(host.is_file(path, root()) && host.findings().is_empty());
    assert!(host.open(path, root()).expect_err("unknown").is_missing());
    assert_eq!(host.findings(), [HostFinding::NotInBundle { path: path.into() }]);
    let other = Origin::Recording { root: Path::new("/lib") };
    assert!(!host.is_file(path, other) && !host.is_file(Path::new("/bin/ls"), root()));
    assert_eq!(host.findings().len(), 2);
}

/// Bundles of earlier versions did not query the store of `record`, and have no findings for that.
#[test]
fn a_store_that_nobody_asked_is_none() {
    let machine = MemoryHost::new();
    machine.set_variable("HOME", "/users/u");
    let store = Path::new("/users/u/.cache/unwind-perf/files");
    let machine: Arc<dyn Host> = Arc::new(machine);
    for asks in [false, true] {
        let journal = JournalHost::new(Arc::clone(&machine), Path::new("perf.data"));
        assert_eq!(journal.home(), Some("/users/u".into()));
        let asked = asks.then(|| journal.file_store()).flatten();
        if let Some(store) = &asked {
            assert!(!journal.is_file(&store.join("elf"), Origin::Stored { root: store }));
        }
        let bundle = bundle(&journal, &ContentSelection::Whole);
        let host = bundle.host();
        assert_eq!(host.file_store(), asked);
        assert_eq!(asked.is_some_and(|it| it == store), asks);
        assert_eq!(host.findings(), []);
    }
}

/// Large files are mapped, which tracks the ranges that were read.
#[test]
fn parts_that_nobody_read_are_holes() {
    const SIZE: usize = 4 << 20;
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let (path, small) = (dir.path().join("large"), dir.path().join("small"));
    std::fs::write(&path, vec![7; SIZE]).expect("a file");
    std::fs::write(&small, vec![5; 9000]).expect("a file");
    let journal = JournalHost::new(Arc::new(RealHost), Path::new("perf.data"));
    let read = |host: &dyn Host, at: usize| {
        let file = host.open(&path, Origin::User).expect("a file");
        assert_eq!(file.content.len(), SIZE);
        file.content[at]
    };
    assert_eq!((read(&*journal, 1 << 20), read(&*journal, 3 << 20)), (7, 7));
    assert_eq!(journal.open(&small, Origin::User).expect("a file").content[0], 5);
    let needed = bundle(&journal, &ContentSelection::Needed { whole: BTreeSet::new() });
    let host = needed.host();
    assert_eq!((read(&**host, 1 << 20), read(&**host, 3 << 20)), (7, 7));
    // The first and the last page are always stored.
    assert_eq!((read(&**host, 0), read(&**host, SIZE - 1)), (7, 7));
    assert_eq!(host.open(&small, Origin::User).expect("a file").content[8999], 5);
    assert_eq!(host.findings(), []);
    assert_eq!(read(&**host, 2 << 20), 0);
    assert_eq!(host.read_holes(), std::slice::from_ref(&path));
    assert_eq!(host.findings(), [HostFinding::Hole { path: path.clone() }]);
    // Stored completely instead.
    assert_eq!(read(&*journal, 1 << 20), 7);
    let whole =
        bundle(&journal, &ContentSelection::Needed { whole: BTreeSet::from([path.clone()]) });
    assert_eq!(read(&**whole.host(), 2 << 20), 7);
    assert_eq!(whole.host().findings(), []);
}

#[test]
fn failures_of_the_system_keep_their_number() {
    let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&link, &link).expect("a link to itself");
    let journal = JournalHost::new(Arc::new(RealHost), Path::new("perf.data"));
    let code = |host: &dyn Host| match host.stat(&link, Origin::User) {
        Err(HostError::Io { source, .. }) => source.raw_os_error(),
        other => panic!("{other:?}"),
    };
    let there = code(&*journal);
    assert!(there.is_some());
    assert_eq!(journal.stat(dir.path(), Origin::User).expect("a folder").kind, FileKind::Directory);
    let bundle = bundle(&journal, &ContentSelection::Whole);
    assert_eq!(code(&**bundle.host()), there);
    assert!(bundle.host().is_dir(dir.path(), Origin::User));
}

/// Returns the links at the end of a bundle: the name of each, and its target entry.
fn links(
    journal: &JournalHost,
    facts: &BundleFacts,
    recorded: &RecordedFiles,
) -> Vec<(String, String)> {
    let mut packed = Vec::new();
    let taken = journal.finish().expect("files");
    bundle::write(&taken, facts, recorded, &ContentSelection::Whole, &mut packed).expect("memory");
    assert!(Bundle::read(&packed, &Budget::default()).is_ok());
    let tar = zstd::stream::decode_all(&*packed).expect("zstd");
    let mut archive = tar::Archive::new(&*tar);
    let entries = archive.entries().expect("a tar file").map(|entry| entry.expect("an entry"));
    let text = |path: &Path| path.to_str().expect("a text").to_owned();
    let links = entries.filter_map(|entry| {
        let to = entry.link_name().expect("a name")?;
        Some((text(&entry.path().expect("a name")), text(&to)))
    });
    links.collect()
}

#[test]
fn others_find_files_by_the_names_that_the_recording_has() {
    let machine = MemoryHost::new();
    let long = format!("/{}/app", "d/".repeat(100).trim_end_matches('/'));
    machine.insert("/r/perf.data", *b"PERFILE2");
    machine.insert("/sys/usr/lib/a.so", *b"a");
    machine.insert("/store/ab/elf", *b"bb");
    machine.insert("/store/[kernel.kallsyms]/abcd/kallsyms", *b"1 t x");
    machine.insert(&long, *b"long");
    machine.insert("/tmp/perf-7.map", *b"1 2 x");
    let journal = JournalHost::new(Arc::new(machine), Path::new("/r/perf.data"));
    let ask = |path: &str, origin: Origin<'_>| {
        journal.open(Path::new(path), origin).expect("a file");
    };
    ask("/r/perf.data", Origin::User);
    ask("/sys/usr/lib/a.so", Origin::Recording { root: Path::new("/sys") });
    ask("/store/ab/elf", Origin::Stored { root: Path::new("/store") });
    ask("/store/[kernel.kallsyms]/abcd/kallsyms", Origin::Stored { root: Path::new("/store") });
    ask(&long, root());
    ask("/tmp/perf-7.map", root());
    let facts = BundleFacts {
        recording: "/r/perf.data".into(),
        search: FileSearch { sysroots: vec!["/sys".into()], ..FileSearch::default() },
        ..BundleFacts::default()
    };
    let file = |recorded: &str, opened: &str| (recorded.into(), opened.into());
    let recorded = RecordedFiles {
        files: vec![file("/usr/bin/b", "/store/ab/elf"), file("/x/../y", "/store/ab/elf")],
        kernel: address::BuildId::new(&[0xab; 20]),
    };
    let links = links(&journal, &facts, &recorded);
    let names: Vec<_> = links.iter().map(|(name, _)| &**name).collect();
    let id = "ab".repeat(20);
    assert_eq!(
        names,
        [
            &*format!("[kernel.kallsyms]/{id}/kallsyms"),
            "names/b",
            "names/y",
            &format!("root{long}"),
            "root/proc/kallsyms",
            "root/tmp/perf-7.map",
            "root/usr/bin/b",
            "root/usr/lib/a.so",
        ]
    );
    let of = |name: &str| &links.iter().find(|(it, _)| it == name).expect("a link").1;
    assert_eq!(of("names/b"), of("root/usr/bin/b"));
    assert_eq!(of("root/proc/kallsyms"), &links[0].1);
    assert!(of("root/usr/lib/a.so").starts_with("files/"));
}
