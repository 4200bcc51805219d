//! Helpers of several tests: short forms of events, and a machine in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Avma, BuildId, FileOffset, Pid};
use host::MemoryHost;
use image_store::FileOptions;
use module_map::{FileIdentity, MapEvent};

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

/// The path of a file of the crate's test data.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// A machine that has these files only, and options to look for files on it.
pub(crate) fn machine(files: &[(&str, &[u8])]) -> (Arc<MemoryHost>, FileOptions) {
    let host = Arc::new(MemoryHost::new());
    files.iter().for_each(|&(path, bytes)| host.insert(path, bytes));
    (host.clone(), FileOptions { host, ..FileOptions::default() })
}
