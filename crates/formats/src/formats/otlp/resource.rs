//! Resources: attributes of a process and its host.

use profile::query::{Programs, recorded_command};
use profile::{ProcessKey, Profile};

use super::dictionary::AttributeValue;
use crate::render::encoding::protobuf::ProtoMessage;

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Returns the command line of a process with the name of the recorded program; `None` for others, and if the profile
/// omits arguments or there are none.
fn command_line(profile: &Profile, process: &[u8]) -> Option<Vec<u8>> {
    /// Maximum length of the name that the kernel gives to a process.
    const NAME: usize = 15;
    let words = recorded_command(profile)?;
    let [program, _, ..] = words.as_slice() else { return None };
    let program = file_name(program);
    (program.get(..NAME).unwrap_or(program) == process).then(|| words.join(&b' '))
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
    if let Some(line) = command_line(profile, name) {
        add("process.command_line", AttributeValue::Text(&line));
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
