//! Seeds of the target that reads bundles: their tar files.

use std::path::Path;
use std::sync::Arc;

use bundle::{Facts, JournalHost, Keep, Recorded};
use host::{Host, MemoryHost, Origin};

use crate::write;

/// The tar file in the bundle of a machine with a few files, each of which is asked for.
fn bundle(recording: &[u8], files: &[(&str, &[u8])]) -> Vec<u8> {
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
    let facts = Facts { recording: "perf.data".into(), ..Facts::default() };
    let mut packed = Vec::new();
    let taken = journal.finish().expect("files");
    bundle::write(&taken, &facts, &Recorded::default(), &Keep::Whole, &mut packed).expect("memory");
    zstd::stream::decode_all(&*packed).expect("zstd")
}

pub fn write_all() {
    write("bundle", "recording", &bundle(b"PERFILE2", &[]));
    let files = [("/a", &b"\x7fELF"[..]), ("/b", b""), ("/c/d", &[7; 600])];
    let whole = bundle(b"PERFILE2", &files);
    write("bundle", "files", &whole);
    write("bundle", "cut", &whole[..whole.len() / 2]);
}
