//! The superuser's rights, and how a process gives them up for good.

use std::io;

use rustix::process::{Resource, Rlimit, geteuid, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, Gid, Uid, set_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

/// User and group without files. Source: the kernel's `overflowuid`.
const NOBODY: u32 = 65_534;

/// Lets the threads of this process raise their priority with [`host::prefer_this_thread`] after it gave up its rights.
/// Only the superuser has a right to keep.
///
/// Source: `getrlimit(2)`, `RLIMIT_NICE`: a limit of 20 − n allows a nice value of n.
pub fn allow_preferred_threads() {
    let limit = u64::try_from(20 - host::PREFERRED_NICE).ok();
    // Without it, all threads have the same priority.
    let _ = setrlimit(Resource::Nice, Rlimit { current: limit, maximum: limit });
}

/// Makes a process of the superuser one of the user nobody, without groups and capabilities.
/// Applies to this thread and to those that it starts later: call it before the first one.
///
/// # Errors
/// If the system refuses to take rights away.
pub fn drop_privileges() -> io::Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    // In a user namespace, the user nobody may not exist. The superuser of such a namespace loses its capabilities.
    let _ = become_nobody();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

fn become_nobody() -> rustix::io::Result<()> {
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    set_thread_res_uid(user, user, user)
}
