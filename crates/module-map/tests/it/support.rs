//! Helpers of several tests: short forms of events, and spaces as text.

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

/// The space of a process as text: `start-end path+offset` for each mapping.
pub(crate) fn shape(timeline: &mut Timeline, pid: i32) -> Vec<String> {
    shape_of(&timeline.space(Pid(pid)).0)
}

/// The same for a space.
pub(crate) fn shape_of(space: &module_map::Space) -> Vec<String> {
    let mapping = |mapping: module_map::Mapping| {
        let module = space.module(&mapping).expect("the timeline's own");
        let path = String::from_utf8_lossy(&module.path);
        format!("{:x}-{:x} {path}+{:x}", mapping.start.0, mapping.end.0, mapping.offset.0)
    };
    space.mappings().map(mapping).collect()
}

/// Path of the module at an address.
pub(crate) fn path_at(space: &module_map::Space, address: u64) -> Option<Vec<u8>> {
    Some(space.module(&space.lookup(Avma(address))?)?.path.to_vec())
}
