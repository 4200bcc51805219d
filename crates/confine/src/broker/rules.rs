//! Files whose content a confined process may read: code and what describes it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path};

/// Bytes of an ELF header up to its type.
const HEAD: usize = 18;
/// Magic numbers of ELF files, and of dumps of JIT compilers in both byte orders.
///
/// Source: gABI, "ELF Header"; `jitdump-specification.txt` of perf.
const ELF: &[u8] = b"\x7fELF";
const JIT_DUMPS: [&[u8]; 2] = [b"JiTD", b"DTiJ"];
/// Type of core dumps, which hold the memory of a process. Source: gABI, "ELF Header".
const CORE: u8 = 4;

/// Files of the kernel that describe itself.
const OF_KERNEL: [&str; 4] =
    ["/proc/kallsyms", "/proc/modules", "/proc/version", "/sys/kernel/notes"];
/// Folders of such files.
const FOLDERS: [&str; 2] = ["/proc/sys/kernel", "/sys/module"];
/// Files of a process in its folder below `/proc`.
const OF_PROCESS: [&str; 2] = ["maps", "status"];

/// Returns true if the content of an opened file may be read.
/// The kernel's path of the descriptor counts, not the requested one: links cannot lead to other files.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn may_read(file: &File) -> io::Result<bool> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let place = rustix::fs::readlink(link, Vec::new())?;
    let place = Path::new(OsStr::from_bytes(place.as_bytes()));
    if place.starts_with("/proc") || place.starts_with("/sys") {
        return Ok(describes_kernel(place) || describes_process(place));
    }
    let mut head = [0; HEAD];
    let len = file.read_at(&mut head, 0)?;
    let head = head.get(..len).unwrap_or_default();
    Ok(is_code(head) || place.file_name().is_some_and(is_perf_map))
}

fn is_code(head: &[u8]) -> bool {
    let is_core = || [head.get(16), head.get(17)].contains(&Some(&CORE));
    (head.starts_with(ELF) && !is_core()) || JIT_DUMPS.iter().any(|magic| head.starts_with(magic))
}

/// Source: `tools/perf/Documentation/jit-interface.txt`.
fn is_perf_map(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let number = name.strip_prefix(b"perf-").and_then(|rest| rest.strip_suffix(b".map"));
    number.is_some_and(|it| !it.is_empty() && it.iter().all(u8::is_ascii_digit))
}

fn describes_kernel(place: &Path) -> bool {
    OF_KERNEL.iter().any(|path| place == Path::new(path))
        || FOLDERS.iter().any(|folder| place.starts_with(folder))
}

/// Source: proc(5).
fn describes_process(place: &Path) -> bool {
    let parts: Vec<_> = place.components().collect();
    let [
        Component::RootDir,
        Component::Normal(root),
        Component::Normal(id),
        Component::Normal(name),
    ] = parts.as_slice()
    else {
        return false;
    };
    *root == "proc"
        && id.as_bytes().iter().all(u8::is_ascii_digit)
        && OF_PROCESS.iter().any(|it| name == it)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests write files")]
mod tests {
    use std::os::unix::fs::symlink;

    use host::ScratchDir;

    use super::*;

    #[test]
    fn code_and_its_descriptions_are_readable() {
        let folder = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let may_read = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            may_read(&File::open(path).unwrap()).unwrap()
        };
        let elf = |kind: u8, order: usize| {
            let mut head = b"\x7fELF\x02\x01\x01".to_vec();
            head.resize(18, 0);
            head[16 + order] = kind;
            head
        };
        assert!(may_read("program", &elf(2, 0)));
        assert!(may_read("library", &elf(3, 1)));
        assert!(!may_read("core", &elf(4, 0)));
        assert!(!may_read("core-of-another-machine", &elf(4, 1)));
        assert!(may_read("jit-7.dump", b"DTiJ"));
        assert!(may_read("perf-7.map", b"1000 10 f\n"));
        assert!(!may_read("perf-.map", b"1000 10 f\n"));
        assert!(!may_read("perf-7x.map", b"1000 10 f\n"));
        assert!(!may_read("shadow", b"root:*:"));
        assert!(!may_read("empty", b""));
    }

    #[test]
    fn links_do_not_make_files_readable() {
        let folder = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let (secret, link) = (folder.path().join("shadow"), folder.path().join("perf-7.map"));
        std::fs::write(&secret, b"root:*:").unwrap();
        symlink(&secret, &link).unwrap();
        assert!(!may_read(&File::open(link).unwrap()).unwrap());
    }

    #[test]
    fn the_kernel_describes_itself_and_processes() {
        let may_read = |path: &str| may_read(&File::open(path).unwrap()).unwrap();
        assert!(may_read("/proc/self/maps"));
        assert!(may_read("/proc/kallsyms"));
        assert!(may_read("/proc/sys/kernel/osrelease"));
        for path in ["/proc/self/environ", "/proc/self/cmdline", "/proc/cmdline", "/proc/meminfo"] {
            assert!(!may_read(path), "{path}");
        }
    }
}
