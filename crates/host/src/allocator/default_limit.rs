//! The default memory limit: half of the memory of the host or of the control group.
#![allow(
    clippy::disallowed_methods,
    reason = "fixed places of the kernel, read before there is a host"
)]

use std::path::{Path, PathBuf};

/// Returns half of the smaller of the host's memory and the limits of the process's control groups, in bytes.
/// `None` if neither is known.
///
/// Source: proc(5), `/proc/meminfo` and `/proc/self/cgroup`; the kernel's Documentation/admin-guide/cgroup-v2.rst
/// (`memory.max`) and cgroup-v1/memory.rst (`memory.limit_in_bytes`).
#[must_use]
pub fn default_memory_limit() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let machine = read(Path::new("/proc/meminfo")).and_then(|text| total_of(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let limits = limit_files(&groups).into_iter().filter_map(|path| read(&path));
    let limits = limits.filter_map(|text| text.trim().parse::<u64>().ok());
    limits.chain(machine).min().map(|bytes| bytes / 2)
}

/// `MemTotal` in bytes.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the files that may contain limits: of each control group of the process, and of its ancestors.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|it| it == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let below = Path::new(path.trim_start_matches('/'));
        let is_plain = below.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        let below = if is_plain { below } else { Path::new("") };
        // Inside a container the root is the group itself.
        files.extend(below.ancestors().map(|group| Path::new(root).join(group).join(file)));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_machine_is_read() {
        let text = "MemTotal:        8052312 kB\nMemFree:          212 kB\n";
        assert_eq!(total_of(text), Some(8_052_312 * 1024));
        assert_eq!((total_of("MemTotal: x kB"), total_of("")), (None, None));
        assert!(default_memory_limit().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn limits_are_those_of_all_groups_around_a_process() {
        let paths = |groups| {
            let files = limit_files(groups).into_iter();
            files.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let root = "/sys/fs/cgroup/";
        let expected = ["a/b/memory.max", "a/memory.max", "memory.max"];
        assert_eq!(paths("0::/a/b\n"), expected.map(|it| format!("{root}{it}")));
        let expected = ["memory/x/memory.limit_in_bytes", "memory/memory.limit_in_bytes"];
        let groups = "3:cpu,memory:/x\n2:pids:/y\n";
        assert_eq!(paths(groups), expected.map(|it| format!("{root}{it}")));
        assert_eq!(paths("0::/../..\n"), [format!("{root}memory.max")]);
    }
}
