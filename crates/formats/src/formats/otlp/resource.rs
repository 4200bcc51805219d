//! Resources: what is known of a process and its machine.

use address::Pid;
use profile::Profile;
use profile::query::Programs;

use super::dictionary::Value;
use crate::render::protobuf::ProtoMessage;

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// The resource of a process: its name is that of its first thread, or of the thread that was sampled first.
pub(super) fn resource(profile: &Profile, pid: Pid, programs: &Programs<'_>) -> ProtoMessage {
    let comm = programs.name(pid);
    let mut message = ProtoMessage::default();
    let mut add = |key: &str, value: Value<'_>| {
        let mut pair = ProtoMessage::default();
        pair.string(1, key.as_bytes());
        pair.message(2, &value.encoded());
        message.message(1, &pair);
    };
    add("service.name", Value::Text(profile.recording.service.as_deref().unwrap_or(comm)));
    add("process.pid", Value::Number(pid.0.into()));
    let program = programs.of(pid).and_then(|id| profile.modules.get(id));
    if let Some(path) = program.map(|module| profile.strings.get(module.path)) {
        add("process.executable.name", Value::Text(file_name(path)));
        add("process.executable.path", Value::Text(path));
    }
    let recording = &profile.recording;
    for (key, id) in [
        ("host.name", recording.hostname),
        ("host.arch", recording.arch),
        ("os.version", recording.os_release),
    ] {
        if let Some(id) = id {
            add(key, Value::Text(profile.strings.get(id)));
        }
    }
    message
}
