//! Identity of a list of kernel symbols across runs, which covers everything but short-lived symbols.

use std::io::Read as _;
use std::path::Path;

use address::BuildId;
use host::{FileKind, FileStat, Host, Origin, is_near};
use module_map::Timeline;

use crate::kernel::identity::mapped_id;
use crate::kernel::list_file::{KernelListFile, KernelListSources};

/// Bytes of the running kernel's list that are read: some lines, with the addresses of the first symbols.
const BEGINNING: u64 = 2048;

impl KernelListSources<'_> {
    /// Returns the same as [`RecordedKernel::list_identity`](super::RecordedKernel::list_identity), once the records
    /// state the kernel's build-id.
    #[must_use]
    pub fn identity_so_far(self, timeline: &Timeline) -> Option<Vec<u8>> {
        self.identity(mapped_id(timeline))
    }

    pub(super) fn identity(self, id: Option<BuildId>) -> Option<Vec<u8>> {
        let file = self.find(id).ok()?;
        let host = &**self.host();
        if file.path == Path::new("/proc/kallsyms") {
            of_running(host)
        } else {
            of_file(host, &file)
        }
    }
}

/// Returns the identity of a list in a file: the file and its modification time.
fn of_file(host: &dyn Host, file: &KernelListFile) -> Option<Vec<u8>> {
    let FileStat { kind, stamp } = host.stat(&file.path, file.origin()).ok()?;
    let is_settled = kind == FileKind::Regular && !is_near(stamp.modified.max(stamp.changed));
    is_settled.then(|| [&b"file"[..], &stamp.to_bytes()].concat())
}

/// Returns the identity of the running kernel's list: the boot; the beginning of the list, which shows the kernel's
/// address and whether this process may see addresses; and the modules with their addresses.
///
/// Source: random(4), `boot_id`; `m_show` in kernel/module/procfs.c: name, size, uses, users, state, address.
fn of_running(host: &dyn Host) -> Option<Vec<u8>> {
    let read = |path: &str| host.read(Path::new(path), Origin::System);
    let boot = read("/proc/sys/kernel/random/boot_id").ok().filter(|boot| !boot.is_empty())?;
    let list = host.stream(Path::new("/proc/kallsyms"), Origin::System).ok()?;
    let mut beginning = Vec::new();
    list.take(BEGINNING).read_to_end(&mut beginning).ok()?;
    let lines_end = beginning.iter().rposition(|&byte| byte == b'\n')?;
    beginning.truncate(lines_end);
    // A kernel without modules has no such file.
    let modules = match read("/proc/modules") {
        Ok(modules) => modules,
        Err(error) if error.is_missing() => Vec::new(),
        Err(_) => return None,
    };
    let mut identity = [&b"running\n"[..], &boot, b"\n", &beginning].concat();
    for line in modules.split(|&byte| byte == b'\n') {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        for at in [0, 1, 4, 5] {
            identity.push(b' ');
            identity.extend_from_slice(fields.get(at).copied().unwrap_or_default());
        }
        identity.push(b'\n');
    }
    Some(identity)
}
