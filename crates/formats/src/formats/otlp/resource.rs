//! Resources: what is known of a process and its machine.

use address::{ModuleId, Pid};
use hashbrown::HashMap;
use profile::{ModuleKind, Profile, SampleId};

use super::OfEvents;
use super::dictionary::Value;
use crate::render::protobuf::ProtoMessage;

/// The kernel keeps so many bytes of a program's name.
///
/// Source: `TASK_COMM_LEN` in `include/linux/sched.h`, without the byte that ends it.
const MOST_OF_NAME: usize = 15;

/// Modules by the name that a process has which runs them.
#[derive(Debug)]
pub(super) struct Executables<'a> {
    by_name: HashMap<&'a [u8], Vec<ModuleId>>,
}

impl<'a> Executables<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let mut by_name: HashMap<_, Vec<ModuleId>> = HashMap::new();
        for (id, module) in profile.modules.entries() {
            let path = profile.strings.get(module.path);
            if matches!(module.kind, ModuleKind::Elf | ModuleKind::File) && path.starts_with(b"/") {
                let name = file_name(path);
                let name = name.get(..MOST_OF_NAME).unwrap_or(name);
                by_name.entry(name).or_default().push(id);
            }
        }
        Self { by_name }
    }

    /// The path of the program of a process, where one that was mapped in it has its name.
    fn path(&self, profile: &'a Profile, comm: &[u8], samples: &OfEvents) -> Option<&'a [u8]> {
        let modules = self.by_name.get(comm)?;
        let mapped = |id: &SampleId| {
            let layout = profile.layouts.get(profile.samples.get(*id)?.layout)?;
            layout.biases().iter().map(|it| it.module).find(|module| modules.contains(module))
        };
        let module = samples.iter().flat_map(|(_, ids)| ids).find_map(mapped)?;
        Some(profile.strings.get(profile.modules.get(module)?.path))
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// The resource of a process: its name is that of its first thread, or of the thread that was sampled first.
pub(super) fn resource<'a>(
    profile: &'a Profile,
    pid: Pid,
    samples: &OfEvents,
    executables: &Executables<'a>,
) -> ProtoMessage {
    let threads = || profile.threads.iter().filter(|thread| thread.pid == pid);
    let leader = threads().find(|thread| thread.tid.0 == pid.0);
    let name = leader.or_else(|| threads().next());
    let comm = name.map_or(b"".as_slice(), |thread| profile.strings.get(thread.comm));
    let mut message = ProtoMessage::default();
    let mut add = |key: &str, value: Value<'_>| {
        let mut pair = ProtoMessage::default();
        pair.string(1, key.as_bytes());
        pair.message(2, &value.encoded());
        message.message(1, &pair);
    };
    add("service.name", Value::Text(comm));
    add("process.pid", Value::Number(pid.0.into()));
    if let Some(path) = executables.path(profile, comm, samples) {
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
