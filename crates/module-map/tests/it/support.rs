//! What several tests need: short forms of events, and a directory that is removed again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use address::{Avma, BuildId, FileOffset, Pid};
use module_map::{FileIdentity, MapEvent, Timeline};

/// An executable mapping of a file.
pub(crate) fn code(pid: i32, start: u64, len: u64, offset: u64, path: &str) -> MapEvent<'_> {
    MapEvent {
        pid: Pid(pid),
        kernel: false,
        start: Avma(start),
        len,
        offset: FileOffset(offset),
        executable: true,
        writable: false,
        path: path.as_bytes(),
        identity: FileIdentity::default(),
    }
}

/// The same with a build-id.
pub(crate) fn code_of<'a>(event: MapEvent<'a>, id: &str) -> MapEvent<'a> {
    let build_id = BuildId::from_hex(id);
    MapEvent { identity: FileIdentity { build_id, ..FileIdentity::default() }, ..event }
}

/// The space of a process as text: `start-end path+offset`, one a piece.
pub(crate) fn shape(timeline: &mut Timeline, pid: i32) -> Vec<String> {
    let space = timeline.space(Pid(pid)).0;
    let piece = |piece: &module_map::Piece| {
        let module = space.module(piece).expect("the timeline's own");
        let path = String::from_utf8_lossy(&module.path);
        format!("{:x}-{:x} {path}+{:x}", piece.start.0, piece.end.0, piece.offset.0)
    };
    space.pieces().map(piece).collect()
}

/// What is mapped at an address.
pub(crate) fn path_at(space: &module_map::Space, address: u64) -> Option<Vec<u8>> {
    Some(space.module(space.lookup(Avma(address))?)?.path.to_vec())
}

/// The path of a file of the crate's test data.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// A fresh directory.
pub(crate) struct Dir(pub(crate) PathBuf);

impl Dir {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("module-map-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    /// Writes a file, with the directories that lead to it.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
        fs::write(&path, bytes).expect("a file");
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
