//! Resources: attributes of a process and its host.

use profile::query::Programs;
use profile::{ProcessKey, Profile};

use super::dictionary::AttributeValue;
use crate::render::protobuf::ProtoMessage;

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Returns the resource of a process with one name.
pub(super) fn resource(
    profile: &Profile,
    process: ProcessKey,
    programs: &Programs,
) -> ProtoMessage {
    let name = profile.strings.get(process.name);
    let mut message = ProtoMessage::default();
    let mut add = |key: &str, value: AttributeValue<'_>| {
        let mut pair = ProtoMessage::default();
        pair.string(1, key.as_bytes());
        pair.message(2, &value.encoded());
        message.message(1, &pair);
    };
    add("service.name", AttributeValue::Text(profile.recording.service.as_deref().unwrap_or(name)));
    add("process.pid", AttributeValue::Number(process.pid.0.into()));
    let program = programs.of(process).and_then(|id| profile.modules.get(id));
    if let Some(path) = program.map(|module| profile.strings.get(module.path)) {
        add("process.executable.name", AttributeValue::Text(file_name(path)));
        add("process.executable.path", AttributeValue::Text(path));
    }
    let recording = &profile.recording;
    for (key, id) in [
        ("host.name", recording.hostname),
        ("host.arch", recording.arch),
        ("os.version", recording.os_release),
    ] {
        if let Some(id) = id {
            add(key, AttributeValue::Text(profile.strings.get(id)));
        }
    }
    message
}
