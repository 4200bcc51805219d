//! Seeds of the target that reads bundles: their tar files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bundle::{BundleFacts, ContentSelection, JournalHost, RecordedFiles};
use host::{Host, MemoryHost, Origin};

use crate::write;

/// Returns the tar file of a bundle from a host with a few files that were all queried. It has links to the
/// recorded ones.
fn bundle(recording: &[u8], files: &[(&str, &[u8])], recorded: &RecordedFiles) -> Vec<u8> {
    let machine = MemoryHost::new();
    machine.insert("perf.data", recording);
    for &(path, bytes) in files {
        machine.insert(path, bytes);
    }
    machine.set_variable("HOME", "/home/user");
    machine.set_vdso(*b"vdso");
    let journal = JournalHost::new(Arc::new(machine), Path::new("perf.data"));
    let root = Origin::Recording { root: Path::new("/") };
    let _ = journal.open(Path::new("perf.data"), Origin::User);
    for (path, _) in files {
        let _ = journal.open(Path::new(path), root);
    }
    let _ = (journal.list(Path::new("/"), root), journal.stat(Path::new("/none"), root));
    let _ = (journal.home(), journal.running_vdso());
    let facts = BundleFacts { recording: "perf.data".into(), ..BundleFacts::default() };
    let mut packed = Vec::new();
    let taken = journal.finish().expect("files");
    bundle::write(&taken, &facts, recorded, &ContentSelection::Whole, &mut packed).expect("memory");
    zstd::stream::decode_all(&*packed).expect("zstd")
}

pub fn write_all() {
    let recorded = RecordedFiles::default();
    write("bundle", "recording", &bundle(b"PERFILE2", &[], &recorded));
    let files = [("/a", &b"\x7fELF"[..]), ("/b", b""), ("/c/d", &[7; 600])];
    let whole = bundle(b"PERFILE2", &files, &recorded);
    write("bundle", "files", &whole);
    write("bundle", "cut", &whole[..whole.len() / 2]);
    let file = |path: &str| (PathBuf::from(path), PathBuf::from(path));
    let recorded = RecordedFiles { files: vec![file("/a"), file("/c/d")], kernel: None };
    let linked = bundle(b"PERFILE2", &files, &recorded);
    write("bundle", "links", &linked);
    // The last link is truncated: tar ends with two blocks of zeros.
    write("bundle", "cut_link", &linked[..linked.len().saturating_sub(1024 + 256)]);
}
