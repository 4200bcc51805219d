//! Archives of build-id caches: unpacked files stay in their folder, and within the limit.
#![no_main]

mod cost;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use budget::{Budget, Limit, Resource};
use host::RealHost;
use image_store::Archive;
use libfuzzer_sys::fuzz_target;

/// Folder of this process, with the archive and the folder for its contents.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("unwind-perf-fuzz-{}", std::process::id()));
    fs::create_dir_all(folder.join("unpacked")).expect("a folder");
    folder
});
/// Smaller than the usual limit, so that inputs reach it.
const LIMIT: Limit = Limit { base: 1 << 14, per_byte: 4, most: 1 << 20 };

/// Returns the size of all files in and below a folder; does not follow links.
fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let bytes = |entry: fs::DirEntry| {
        let kind = entry.file_type().expect("its kind");
        assert!(kind.is_file() || kind.is_dir() || kind.is_symlink(), "{kind:?}");
        match kind.is_dir() {
            true => bytes_below(&entry.path()),
            false if kind.is_file() => entry.metadata().expect("its size").len(),
            false => 0,
        }
    };
    entries.map(bytes).sum()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn run(bytes: &[u8]) {
    let (archive, parent) = (FOLDER.join("archive"), FOLDER.join("unpacked"));
    fs::write(&archive, bytes).expect("a file");
    let budget = Budget::default().with(Resource::UnpackedBytes, LIMIT);
    if let Ok(unpacked) = Archive::unpack(&RealHost, &archive, &parent, &budget) {
        assert_eq!(unpacked.dir().parent(), Some(&*parent));
        assert!(bytes_below(unpacked.dir()) <= LIMIT.of(bytes.len() as u64));
    }
    assert_eq!(names(&parent), [""; 0], "all of it is removed");
    assert_eq!(names(&FOLDER), ["archive", "unpacked"], "nothing leaves it");
    assert_eq!(fs::read(&archive).expect("the archive"), bytes);
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        LIMIT.of(bytes.len() as u64)
    });
});
