//! Libraries: the modules of the profile in the terms of the Firefox Profiler and its symbol servers.

use std::io;

use profile::Profile;

use super::StringArray;
use super::sink::TextSink;
use crate::render::text::push_json;

/// Writes all modules, so that library indexes are the module indexes of the profile.
pub(super) fn write(
    profile: &Profile,
    names: &StringArray<'_>,
    sink: &mut TextSink<'_>,
) -> io::Result<()> {
    let arch = profile.recording.arch;
    sink.raw(b"[");
    for (index, module) in profile.modules.iter().enumerate() {
        sink.raw(if index == 0 { b"\n{\"arch\":\"" } else { b",\n{\"arch\":\"" });
        sink.raw(arch.map_or(&[][..], |arch| names.escaped(arch)));
        let opened = module.opened.unwrap_or(module.path);
        let short = |id| last_part(profile.strings.get(id));
        for (key, value) in [
            ("name", short(module.path)),
            ("path", profile.strings.get(module.path)),
            ("debugName", short(opened)),
            ("debugPath", profile.strings.get(opened)),
        ] {
            sink.raw(b"\",\"");
            sink.raw(key.as_bytes());
            sink.raw(b"\":\"");
            push_json(sink.text(), value);
        }
        let id = module.build_id;
        let bytes = id.as_ref().map(|id| id.as_bytes());
        sink.raw(format!("\",\"breakpadId\":\"{}\",\"codeId\":", breakpad_id(bytes)).as_bytes());
        match bytes {
            Some(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                sink.raw(format!("\"{hex}\"}}").as_bytes());
            }
            None => sink.raw(b"null}"),
        }
        sink.flush_if_full()?;
    }
    sink.raw(b"]");
    Ok(())
}

/// Returns the last component of a path.
pub(super) fn last_part(path: &[u8]) -> &[u8] {
    let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    if last.is_empty() { path } else { last }
}

/// Returns the id for symbol servers: the first 16 bytes of the build-id as a GUID, and age 0.
///
/// Source: Breakpad, `common/linux/file_id.cc`, `ConvertIdentifierToUUIDString`.
fn breakpad_id(build_id: Option<&[u8]>) -> String {
    let mut guid = [0_u8; 16];
    for (slot, &byte) in guid.iter_mut().zip(build_id.unwrap_or_default()) {
        *slot = byte;
    }
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    guid.iter().map(|byte| format!("{byte:02X}")).chain(["0".to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names() {
        let id: Vec<u8> = (1..=20).collect();
        assert_eq!(breakpad_id(Some(&id)), "0403020106050807090A0B0C0D0E0F100");
        assert_eq!(breakpad_id(None), "000000000000000000000000000000000");
        assert_eq!(last_part(b"/usr/lib/x.so"), b"x.so");
        assert_eq!(last_part(b"[heap]"), b"[heap]");
        assert_eq!(last_part(b"a/"), b"a/");
    }
}
