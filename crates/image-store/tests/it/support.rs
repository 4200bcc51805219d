//! Shared helpers: short forms of events, and a host in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Avma, BuildId, FileOffset, Pid};
use host::MemoryHost;
use image_store::FileOptions;
use module_map::{FileIdentity, MapEvent};

/// Returns an executable mapping of a file.
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

/// Returns the same mapping with a build-id.
pub(crate) fn code_of<'a>(event: MapEvent<'a>, id: &str) -> MapEvent<'a> {
    let build_id = BuildId::from_hex(id);
    MapEvent { identity: FileIdentity { build_id, ..FileIdentity::default() }, ..event }
}

/// Returns the path of a file in the crate's test data.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Returns a host with only these files, and options for searching on it.
pub(crate) fn machine(files: &[(&str, &[u8])]) -> (Arc<MemoryHost>, FileOptions) {
    let host = Arc::new(MemoryHost::new());
    files.iter().for_each(|&(path, bytes)| host.insert(path, bytes));
    (host.clone(), FileOptions { host, ..FileOptions::default() })
}
