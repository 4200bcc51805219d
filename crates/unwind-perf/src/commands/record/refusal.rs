//! Reasons why perf may not record, in one line each with the command that helps. Only certain reasons are named; for
//! others, the messages of perf remain.

use std::path::Path;

use host::{Host, Origin};

use super::preconditions::Rights;
use crate::args::{BufferSize, RecordArgs};

/// Setting of the kernel for the size of buffers.
const MLOCK_KB: &str = "/proc/sys/kernel/perf_event_mlock_kb";
/// Its default, on systems with pages of 4 KiB.
const DEFAULT_MLOCK_KB: u64 = 516;
/// Part of perf's message about buffers that it may not lock.
///
/// Source: `tools/perf/builtin-record.c`, `record__mmap_evlist`.
const NO_BUFFERS: &str = "Permission error mapping pages";
/// Parts of perf's messages about tracepoints that it cannot read.
///
/// Source: `tools/lib/api/fs/tracing_path.c`, `tracing_path__strerror_open_tp`.
const UNREADABLE: [&str; 3] =
    ["find debugfs/tracefs", "No permissions to read", "can't access trace events"];
/// Parts of perf's messages about events that the kernel refuses.
///
/// Source: `tools/perf/util/evsel.c`, `evsel__open_strerror`.
const REFUSED: [&str; 5] = [
    "Access to performance monitoring",
    "perf_event_paranoid",
    "No permission to enable",
    "Permission denied",
    "Operation not permitted",
];

/// Returns the reason for a failed recording, from the messages of perf; `None` if it is not certain.
/// `is_every_event_refused` tries the least event that there is.
pub(super) fn reason(
    text: &str,
    args: &RecordArgs,
    rights: &Rights,
    host: &dyn Host,
    is_every_event_refused: &dyn Fn() -> bool,
) -> Option<String> {
    if text.contains(NO_BUFFERS) {
        return Some(buffers(args, rights, host));
    }
    if UNREADABLE.iter().any(|part| text.contains(part)) {
        return Some(tracepoints(args, rights));
    }
    if !is_refused(text) {
        return None;
    }
    let level = rights.paranoid?;
    if rights.is_filtered && is_every_event_refused() {
        return Some(filter(level));
    }
    if rights.observes_all {
        return None;
    }
    let of_other = |pid: &&u32| user_of(**pid, host).is_some_and(|user| user != rights.user);
    if let Some(pid) = args.pid.iter().find(of_other) {
        return Some(format!("-p: process {pid} is of another user; record as root"));
    }
    // Source: `kernel/events/core.c`: `perf_allow_cpu`; `kernel/trace/trace_event_perf.c`: `perf_trace_event_perm`.
    let (option, allowing) = match args {
        RecordArgs { off_cpu: true, .. } => ("--off-cpu", -1),
        RecordArgs { all_cpus: true, .. } => ("-a", 0),
        RecordArgs { container: Some(_), .. } => ("--container", 0),
        RecordArgs { cgroup: Some(_), .. } => ("--cgroup", 0),
        // Debian and Ubuntu have levels above 2 that forbid all events.
        _ if level > 2 && is_every_event_refused() => ("record", 1),
        _ => return None,
    };
    let command = rights.root_command(&format!("sysctl kernel.perf_event_paranoid={allowing}"));
    (level > allowing).then(|| {
        format!(
            "{option} is forbidden for users by kernel.perf_event_paranoid, which is {level}; record as root, or run \
             {command}"
        )
    })
}

/// Returns true if the messages of perf are about an event that the kernel refuses.
pub(super) fn is_refused(text: &str) -> bool {
    !text.contains(NO_BUFFERS) && REFUSED.iter().any(|part| text.contains(part))
}

/// The buffers exceed the memory that the user may lock, for all recordings together.
fn buffers(args: &RecordArgs, rights: &Rights, host: &dyn Host) -> String {
    let allowed = host.read(Path::new(MLOCK_KB), Origin::System).unwrap_or_default();
    let allowed = String::from_utf8_lossy(&allowed).trim().parse().unwrap_or(DEFAULT_MLOCK_KB);
    let setting = |kb: u64| rights.root_command(&format!("sysctl kernel.perf_event_mlock_kb={kb}"));
    if let Some(size) = args.mmap_pages {
        let needed = size.locked_kb();
        let others = if needed > allowed { 0 } else { allowed };
        let command = setting(others + needed);
        return format!(
            "the buffers exceed the memory that users may lock; run {command}, or choose a smaller -m"
        );
    }
    // perf's own choice grows with the setting and would leave nothing again.
    let size = BufferSize::largest_within(allowed);
    let command = setting(allowed + size.locked_kb());
    format!(
        "other recordings of this user lock all memory for buffers; run {command} and add -m {size}, or wait for their \
         end"
    )
}

/// perf cannot read tracepoints.
fn tracepoints(args: &RecordArgs, rights: &Rights) -> String {
    let option = if args.off_cpu { "--off-cpu" } else { "a tracepoint" };
    if rights.is_root {
        format!("{option} needs tracefs; run mount -t tracefs nodev /sys/kernel/tracing")
    } else {
        format!("{option} needs tracefs, which only root can read; record as root")
    }
}

/// A filter of system calls forbids all events.
fn filter(level: i32) -> String {
    let start = "start the container with --cap-add PERFMON";
    if level > 2 {
        return format!(
            "a seccomp filter or kernel.perf_event_paranoid, which is {level}, forbids all events here; {start}"
        );
    }
    format!(
        "a seccomp filter forbids perf_event_open here; {start}, or with --security-opt seccomp=PROFILE that allows it"
    )
}

/// Returns the user of a process.
fn user_of(pid: u32, host: &dyn Host) -> Option<u32> {
    let status = host.read(Path::new(&format!("/proc/{pid}/status")), Origin::System).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    const REFUSED: &str =
        "Error:\nAccess to performance monitoring and observability operations is limited.\n";

    fn reason_of(text: &str, line: &str, rights: &Rights, is_every_event_refused: bool) -> String {
        let args = RecordArgs::of_line(line);
        let host = MemoryHost::new();
        host.insert("/proc/1/status", "Uid:\t0\t0\t0\t0\n");
        host.insert("/proc/7/status", "Uid:\t1000\t1000\t1000\t1000\n");
        host.insert(MLOCK_KB, "516\n");
        let found = reason(text, &args, rights, &host, &|| is_every_event_refused);
        found.unwrap_or_default()
    }

    fn user(paranoid: i32) -> Rights {
        Rights { user: 1000, paranoid: Some(paranoid), ..Rights::default() }
    }

    #[test]
    fn a_level_names_the_one_that_allows_it() {
        let of = |line: &str, level: i32| reason_of(REFUSED, line, &user(level), level > 2);
        let expected = |option: &str, level: i32, allowing: i32| {
            format!(
                "{option} is forbidden for users by kernel.perf_event_paranoid, which is {level}; record as root, or \
                 run sudo sysctl kernel.perf_event_paranoid={allowing}"
            )
        };
        assert_eq!(of("-a", 2), expected("-a", 2, 0));
        assert_eq!(of("--cgroup x", 1), expected("--cgroup", 1, 0));
        assert_eq!(of("--container x", 1), expected("--container", 1, 0));
        assert_eq!(of("--off-cpu -- x", 0), expected("--off-cpu", 0, -1));
        assert_eq!(of("-- x", 4), expected("record", 4, 1));
        assert_eq!((of("-- x", 2), of("-a", 0)), (String::new(), String::new()));
        assert_eq!(reason_of(REFUSED, "-- x", &user(3), false), "");
        assert_eq!(reason_of("event syntax error: 'x'", "-a", &user(2), true), "");
    }

    #[test]
    fn processes_of_others_need_root() {
        let of = |line: &str| reason_of(REFUSED, line, &user(2), false);
        assert_eq!(of("-p 7,1"), "-p: process 1 is of another user; record as root");
        assert_eq!(of("-p 7"), "");
    }

    #[test]
    fn a_filter_is_named_only_if_it_is_certain() {
        let of = |line: &str, level, is_every_event_refused| {
            let rights = Rights {
                is_root: true,
                is_filtered: true,
                paranoid: Some(level),
                ..Rights::default()
            };
            reason_of(REFUSED, line, &rights, is_every_event_refused)
        };
        assert_eq!(
            of("-- x", 2, true),
            "a seccomp filter forbids perf_event_open here; start the container with --cap-add PERFMON, or with \
             --security-opt seccomp=PROFILE that allows it"
        );
        assert_eq!(
            of("-- x", 4, true),
            "a seccomp filter or kernel.perf_event_paranoid, which is 4, forbids all events here; start the container \
             with --cap-add PERFMON"
        );
        assert_eq!(of("-- x", 2, false), "");
        assert_eq!(
            of("-a", 2, false),
            "-a is forbidden for users by kernel.perf_event_paranoid, which is 2; record as root, or run sysctl \
             kernel.perf_event_paranoid=0"
        );
    }

    #[test]
    fn tracepoints_need_tracefs() {
        let text = "Error:\tUnable to find debugfs/tracefs\n";
        let root = Rights { is_root: true, observes_all: true, ..Rights::default() };
        assert_eq!(
            reason_of(text, "--off-cpu -- x", &user(2), false),
            "--off-cpu needs tracefs, which only root can read; record as root"
        );
        assert_eq!(
            reason_of(text, "-e sched:sched_switch -- x", &root, false),
            "a tracepoint needs tracefs; run mount -t tracefs nodev /sys/kernel/tracing"
        );
    }

    #[test]
    fn buffers_need_locked_memory() {
        let text = "Permission error mapping pages.\nConsider increasing ...\n";
        let of = |line: &str| reason_of(text, line, &user(2), false);
        let page = rustix::param::page_size() as u64 / 1024;
        let expected = |kb: u64| {
            format!(
                "the buffers exceed the memory that users may lock; run sudo sysctl \
                 kernel.perf_event_mlock_kb={kb}, or choose a smaller -m"
            )
        };
        assert_eq!(of("-m 3M -- x"), expected(4096 + page));
        assert_eq!(of("-m 1024 -- x"), expected(1024 * page + page));
        // It would fit, but for others.
        assert_eq!(of("-m 256K -- x"), expected(516 + 256 + page));
        if page == 4 {
            assert_eq!(
                of("-- x"),
                "other recordings of this user lock all memory for buffers; run sudo sysctl \
                 kernel.perf_event_mlock_kb=1032 and add -m 512K, or wait for their end"
            );
        }
    }
}
