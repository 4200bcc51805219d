//! Kernel restrictions of a process that reads untrusted data: a memory limit, files below its folders only, and no
//! unnecessary system calls. The process sets them itself before its first input, and cannot lift them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus,
};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

/// Restrictions of a process.
#[derive(Clone, Debug)]
pub struct Confinement {
    /// Maximum bytes of memory; `None` for no limit.
    pub memory: Option<u64>,
    /// Folders and files below which it may read.
    pub readable: Vec<PathBuf>,
    /// Folders that it may write to: for decompressed and downloaded files.
    pub writable: Vec<PathBuf>,
    /// True if it may download files from servers.
    pub network: bool,
    /// True if it goes on when its parent ends.
    pub outlives_parent: bool,
}

/// Restrictions that the kernel enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confined {
    /// True if other files are inaccessible.
    pub files: bool,
    /// True if system calls are filtered.
    pub calls: bool,
}

/// Confines this process. Call it before the first thread starts: threads that run already keep their files.
///
/// # Errors
/// If the system refuses calls that every Linux supports. A kernel without Landlock is not an error.
pub fn confine(confinement: &Confinement) -> io::Result<Confined> {
    if !confinement.outlives_parent {
        set_parent_process_death_signal(Some(Signal::KILL))?;
    }
    if let Some(bytes) = confinement.memory {
        setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
    }
    // A core dump would contain the data that it read.
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    let files = restrict_files(confinement).map_err(io::Error::other)?;
    let calls = restrict_calls(confinement.network)?;
    Ok(Confined { files, calls })
}

/// Source: the kernel's Documentation/userspace-api/landlock.rst.
fn restrict_files(confinement: &Confinement) -> Result<bool, landlock::RulesetError> {
    let abi = ABI::V3;
    let read = AccessFs::from_read(abi);
    let all = AccessFs::from_all(abi);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .create()?;
    let reading = confinement.readable.iter().map(|path| (path, read));
    let writing = confinement.writable.iter().map(|path| (path, all));
    for (path, access) in reading.chain(writing) {
        // A missing folder cannot be read anyway.
        if let Ok(place) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(place, access))?;
        }
    }
    Ok(rules.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

/// System calls that no parser needs: they start programs, inspect other processes, or reconfigure the system.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_kill,
    libc::SYS_bind,
    libc::SYS_listen,
];

/// System calls that reach other hosts.
const NETWORK: &[libc::c_long] = &[libc::SYS_socket, libc::SYS_connect];

/// Refused calls fail with `EPERM`. Source: seccomp(2).
fn restrict_calls(network: bool) -> io::Result<bool> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(false) };
    let more = if network { &[] } else { NETWORK };
    let rules: BTreeMap<i64, Vec<_>> =
        REFUSED.iter().chain(more).map(|&call| (call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
    let program: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
    Ok(seccompiler::apply_filter_all_threads(&program).is_ok())
}
