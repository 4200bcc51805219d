//! Conditions of a recording that are checked before perf is started: the installed perf, and the rights of the user.
//!
//! A user without rights may still record with a perf that has them. For such a user a short recording is tried, and
//! its failure is explained.

use std::path::Path;

use anyhow::bail;
use host::{Host, Origin, ScratchDir};

use super::installed;
use super::options::{Abilities, trial_arguments};
use super::refusal::{is_refused, reason};
use super::run::said_by;
use crate::args::RecordArgs;
use crate::terminal::print_note;

/// Numbers of capabilities.
///
/// Source: `include/uapi/linux/capability.h`.
const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_PTRACE: u32 = 19;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_SYSLOG: u32 = 34;
const CAP_PERFMON: u32 = 38;
/// Mode of a process with a filter of system calls.
///
/// Source: `proc_pid_status(5)`.
const SECCOMP_FILTER: &str = "2";
/// The tracepoint of `--off-cpu`, by both usual mounts of tracefs.
const SWITCHES: [&str; 2] = [
    "/sys/kernel/tracing/events/sched/sched_switch/id",
    "/sys/kernel/debug/tracing/events/sched/sched_switch/id",
];

/// Rights of this process, and the settings that restrict others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Rights {
    /// The user's id.
    pub(super) user: u32,
    /// True for root, unless it is that of a container of a user.
    pub(super) is_root: bool,
    /// True if the process may observe all others (`CAP_PERFMON` or `CAP_SYS_ADMIN`).
    pub(super) observes_all: bool,
    /// True if the process may read the maps of all others (`CAP_SYS_PTRACE`).
    pub(super) reads_maps: bool,
    /// True if the process may lock any memory (`CAP_IPC_LOCK`).
    pub(super) locks_memory: bool,
    /// True if the process may see addresses of the kernel (`CAP_SYSLOG`).
    pub(super) sees_addresses: bool,
    /// True if a filter of system calls applies.
    pub(super) is_filtered: bool,
    /// `kernel.perf_event_paranoid`, if it is known.
    pub(super) paranoid: Option<i32>,
    /// `kernel.kptr_restrict`, if it is known.
    pub(super) kptr_restrict: Option<i32>,
}

impl Rights {
    /// Reads the rights; `None` if the system does not report them.
    fn find(host: &dyn Host) -> Option<Self> {
        let status = host.read(Path::new("/proc/self/status"), Origin::System).ok()?;
        let status = String::from_utf8_lossy(&status);
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line?.split_whitespace().next()
        };
        let capabilities = u64::from_str_radix(field("CapEff")?, 16).ok()?;
        let is_initial = is_initial_user_namespace(host);
        let has = |capability: u32| is_initial && capabilities >> capability & 1 == 1;
        let setting = |name: &str| {
            let path = format!("/proc/sys/kernel/{name}");
            let text = host.read(Path::new(&path), Origin::System).ok()?;
            String::from_utf8_lossy(&text).trim().parse().ok()
        };
        let user = field("Uid")?.parse().ok()?;
        Some(Self {
            user,
            is_root: user == 0 && is_initial,
            observes_all: has(CAP_PERFMON) || has(CAP_SYS_ADMIN),
            reads_maps: has(CAP_SYS_PTRACE),
            locks_memory: has(CAP_IPC_LOCK),
            sees_addresses: has(CAP_SYSLOG),
            is_filtered: field("Seccomp") == Some(SECCOMP_FILTER),
            paranoid: setting("perf_event_paranoid"),
            kptr_restrict: setting("kptr_restrict"),
        })
    }

    /// Returns a command of root as this user types it.
    pub(super) fn root_command(&self, command: &str) -> String {
        if self.is_root { command.to_owned() } else { format!("sudo {command}") }
    }

    /// Returns notes about frames that the recording lacks, or that have no names.
    fn notes(&self, args: &RecordArgs) -> Vec<String> {
        let mut notes = Vec::new();
        if args.is_system_wide() && !self.reads_maps && !self.is_root {
            notes.push(
                "only root can read the maps of other users' processes; their frames have no names"
                    .to_owned(),
            );
        }
        let level = self.paranoid.unwrap_or_default();
        let is_hidden = match self.kptr_restrict {
            None | Some(0) => false,
            Some(1) => !self.sees_addresses,
            Some(_) => true,
        };
        if !self.observes_all && level >= 2 {
            let command = self.root_command("sysctl kernel.perf_event_paranoid=1");
            notes.push(format!(
                "kernel.perf_event_paranoid is {level}, so users record no frames of the kernel; {command} allows them"
            ));
        } else if is_hidden {
            let command = self.root_command("sysctl kernel.kptr_restrict=0");
            notes.push(format!(
                "kernel.kptr_restrict hides the names of the kernel; {command} shows them"
            ));
        }
        notes
    }
}

/// Returns true if perf may lock memory for buffers of any size.
pub(super) fn locks_memory(host: &dyn Host) -> bool {
    Rights::find(host).is_some_and(|rights| rights.locks_memory)
}

/// Returns true if capabilities apply to the whole system, unlike those in a container of a user.
///
/// Source: `user_namespaces(7)`: the initial namespace maps all ids to themselves.
fn is_initial_user_namespace(host: &dyn Host) -> bool {
    let map = host.read(Path::new("/proc/self/uid_map"), Origin::System).unwrap_or_default();
    let map = String::from_utf8_lossy(&map);
    map.is_empty() || map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Checks all conditions, and prints notes about lesser ones unless the user wants none.
///
/// # Errors
/// If perf is missing or too old, or may not record what is asked.
pub(super) fn check(args: &RecordArgs, host: &dyn Host) -> anyhow::Result<()> {
    installed::check(args, host)?;
    for pid in &args.pid {
        if !host.is_dir(Path::new(&format!("/proc/{pid}")), Origin::System) {
            bail!("-p: there is no process {pid}");
        }
    }
    let Some(rights) = Rights::find(host) else { return Ok(()) };
    let can_read = |path: &&str| host.read(Path::new(path), Origin::System).is_ok();
    // A modifier has a colon as well, which costs a trial.
    let may_trace = args.off_cpu || args.event.iter().any(|event| event.contains(':'));
    let lacks_tracepoint = may_trace && !SWITCHES.iter().any(can_read);
    if (!rights.observes_all || rights.is_filtered || lacks_tracepoint)
        && let Some(text) = failed_trial(args, host)
        && let Some(reason) = reason(&text, args, &rights, host, &|| is_every_event_refused(args))
    {
        bail!(reason);
    }
    if !args.quiet {
        rights.notes(args).iter().for_each(|note| print_note(note));
    }
    Ok(())
}

/// Returns the messages of perf if a short recording with the same options fails.
fn failed_trial(args: &RecordArgs, host: &dyn Host) -> Option<String> {
    let folder = ScratchDir::below(&std::env::temp_dir()).ok()?;
    let abilities = Abilities::find(&args.perf, host);
    let words = trial_arguments(args, &folder.path().join("trial"), &abilities);
    let said = said_by(&args.perf, &words).ok()?;
    (!said.is_success).then_some(said.text)
}

/// Returns true if perf may not even sample a program of this user outside of the kernel.
fn is_every_event_refused(args: &RecordArgs) -> bool {
    let Ok(folder) = ScratchDir::below(&std::env::temp_dir()) else { return false };
    let file = folder.path().join("trial");
    let words = ["record", "-e", "cpu-clock:u", "-o"].map(AsRef::as_ref);
    let words = [&words[..], &[file.as_os_str(), "--".as_ref(), "true".as_ref()]].concat();
    said_by(&args.perf, &words).is_ok_and(|said| !said.is_success && is_refused(&said.text))
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    fn rights(capabilities: &str, paranoid: &str, kptr: &str) -> Rights {
        let host = MemoryHost::new();
        let status = format!(
            "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t{capabilities}\nSeccomp:\t2\n"
        );
        host.insert("/proc/self/status", status);
        host.insert("/proc/sys/kernel/perf_event_paranoid", paranoid);
        host.insert("/proc/sys/kernel/kptr_restrict", kptr);
        Rights::find(&host).expect("rights")
    }

    #[test]
    fn rights_are_read() {
        let user = Rights {
            user: 1000,
            is_root: false,
            observes_all: false,
            reads_maps: false,
            locks_memory: false,
            sees_addresses: false,
            is_filtered: true,
            paranoid: Some(-1),
            kptr_restrict: Some(1),
        };
        assert_eq!(rights("0000000000000000", "-1\n", "1\n"), user);
        assert_eq!(
            rights("0000004000000000", "-1\n", "1\n"),
            Rights { observes_all: true, ..user.clone() }
        );
        assert_eq!(
            rights("0000000400200000", "-1\n", "1\n"),
            Rights { observes_all: true, sees_addresses: true, ..user.clone() }
        );
        assert_eq!(rights("0000000000080000", "-1\n", "1\n"), Rights { reads_maps: true, ..user });
        assert!(rights("0000000000004000", "2\n", "1\n").locks_memory);
        assert_eq!(Rights::find(&MemoryHost::new()), None);
        let host = MemoryHost::new();
        let map_of = |map: &str| {
            host.insert("/proc/self/uid_map", map);
            is_initial_user_namespace(&host)
        };
        assert!(map_of("         0          0 4294967295\n"));
        assert!(!map_of("         0       1000          1\n"));
    }

    #[test]
    fn notes_name_the_command() {
        let of = |line: &str, rights: &Rights| rights.notes(&RecordArgs::of_line(line));
        let notes = |capabilities, paranoid, kptr| of("", &rights(capabilities, paranoid, kptr));
        let none = Vec::<String>::new();
        let (user, all) = ("0", "1ffffffffff");
        assert_eq!(
            notes(user, "2", "1"),
            [
                "kernel.perf_event_paranoid is 2, so users record no frames of the kernel; sudo sysctl \
              kernel.perf_event_paranoid=1 allows them"
            ]
        );
        let hidden = "kernel.kptr_restrict hides the names of the kernel; sudo sysctl kernel.kptr_restrict=0 shows them";
        assert_eq!(notes(user, "1", "1"), [hidden]);
        assert_eq!((notes(user, "1", "0"), notes(all, "2", "1")), (none.clone(), none.clone()));
        assert_eq!(notes(all, "2", "2"), [hidden]);
        let root = Rights { is_root: true, ..rights(all, "2", "2") };
        assert_eq!(of("", &root), [hidden.replace("sudo ", "")]);
        let maps =
            "only root can read the maps of other users' processes; their frames have no names";
        assert_eq!(of("-a", &rights(user, "0", "0")), [maps]);
        assert_eq!(of("--cgroup x", &rights(all, "0", "0")), none);
    }
}
