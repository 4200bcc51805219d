//! Kinds of waits by the names of functions.

use crate::reason::WaitKind;

/// Names of functions by kind. A name that ends with `*` is a prefix.
pub(super) type Rules = &'static [(WaitKind, &'static [&'static str])];

/// Functions of the kernel, without suffixes such as `.isra.0`.
pub(super) const KERNEL: Rules = &[
    (WaitKind::Futex, &["futex_*", "__futex_wait", "do_futex"]),
    (WaitKind::Sleep, &["do_nanosleep", "hrtimer_nanosleep", "common_nsleep*"]),
    (
        WaitKind::Poll,
        &["ep_poll", "do_epoll_*", "do_poll", "do_sys_poll", "do_select", "poll_schedule_timeout*"],
    ),
    (
        WaitKind::PageFault,
        &[
            "exc_page_fault",
            "do_user_addr_fault",
            "do_page_fault",
            "handle_mm_fault",
            "do_mem_abort",
        ],
    ),
    (
        WaitKind::Socket,
        &["sk_wait_*", "__skb_wait_*", "sock_*", "tcp_*", "udp_*", "inet_*", "unix_*", "vsock_*"],
    ),
    (
        WaitKind::Child,
        &[
            "do_wait",
            "__do_wait",
            "kernel_wait4",
            "kernel_waitid",
            "wait_for_vfork_done",
            "kernel_clone",
        ],
    ),
    (WaitKind::Pipe, &["pipe_*", "anon_pipe_*", "fifo_*", "wait_for_partner"]),
    (
        WaitKind::ReadWrite,
        &[
            "io_schedule*",
            "folio_wait_*",
            "wait_on_page_*",
            "__wait_on_buffer",
            "bit_wait_io*",
            "submit_bio_wait",
            "balance_dirty_pages*",
            "filemap_*",
            "iomap_*",
            "vfs_read*",
            "vfs_write*",
            "vfs_iter_*",
            "vfs_fsync*",
            "do_fsync",
        ],
    ),
];

/// Functions of C libraries, as [`library_name`] returns them.
pub(super) const LIBRARY: Rules = &[
    (
        WaitKind::Futex,
        &["futex_*", "lll_lock_wait*", "pthread_*", "sem_*wait", "mtx_*lock", "cnd_*wait"],
    ),
    (WaitKind::Sleep, &["nanosleep", "clock_nanosleep", "sleep", "usleep"]),
    (
        WaitKind::Poll,
        &["poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "epoll_pwait2"],
    ),
    (
        WaitKind::Socket,
        &[
            "recv", "recvfrom", "recvmsg", "recvmmsg", "send", "sendto", "sendmsg", "sendmmsg",
            "accept", "accept4", "connect",
        ],
    ),
    (WaitKind::Child, &["wait", "wait3", "wait4", "waitpid", "waitid"]),
    (
        WaitKind::ReadWrite,
        &[
            "read",
            "write",
            "readv",
            "writev",
            "pread",
            "pwrite",
            "preadv",
            "pwritev",
            "fsync",
            "fdatasync",
        ],
    ),
];

/// Returns the kind of a function's name.
pub(super) fn kind_of(rules: Rules, name: &[u8]) -> Option<WaitKind> {
    let matches = |rule: &&str| match rule.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len()
                && name.starts_with(start.as_bytes())
                && name.ends_with(end.as_bytes())
        }
        None => name == rule.as_bytes(),
    };
    rules.iter().find(|(_, names)| names.iter().any(&matches)).map(|(kind, _)| *kind)
}

/// Returns the name of a kernel function without the suffixes of its parts.
pub(super) fn kernel_name(name: &[u8]) -> &[u8] {
    name.split(|&byte| byte == b'.').next().unwrap_or(name)
}

/// Returns the public name of a function of a C library: `read` of `__GI___libc_read@@GLIBC_2.2.5`.
pub(super) fn library_name(name: &[u8]) -> &[u8] {
    let mut name = name.split(|&byte| byte == b'@').next().unwrap_or(name);
    for prefix in [&b"__GI_"[..], b"__libc_", b"__new_"] {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    while let Some(rest) = name.strip_prefix(b"_") {
        name = rest;
    }
    for suffix in [&b"_nocancel"[..], b"_time64", b"64"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    name
}

/// Returns true for the path of a C library.
pub(super) fn is_c_library(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    // `libc-2.31.so` is one, `libc-client.so` is another library.
    let is_versioned = name.strip_prefix(b"libc-").is_some_and(|it| it.starts_with(b"2."));
    is_versioned
        || ["libc.", "libpthread", "ld-musl"].iter().any(|it| name.starts_with(it.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(rules: Rules, names: &[&'static str]) -> Vec<Option<WaitKind>> {
        let name = |name: &&'static str| {
            if rules == KERNEL {
                kernel_name(name.as_bytes())
            } else {
                library_name(name.as_bytes())
            }
        };
        names.iter().map(|it| kind_of(rules, name(it))).collect()
    }

    #[test]
    fn functions_of_the_kernel_have_kinds() {
        for (kind, names) in [
            (
                WaitKind::Futex,
                &["futex_wait_queue", "futex_do_wait", "__futex_wait", "do_futex"][..],
            ),
            (WaitKind::Sleep, &["do_nanosleep", "hrtimer_nanosleep", "common_nsleep_timens"]),
            (WaitKind::Poll, &["ep_poll", "do_poll.constprop.0", "do_select", "do_epoll_wait"]),
            (WaitKind::PageFault, &["exc_page_fault", "do_user_addr_fault", "do_mem_abort"]),
            (WaitKind::Socket, &["sk_wait_data", "tcp_recvmsg_locked", "unix_stream_read_generic"]),
            (WaitKind::Child, &["do_wait", "kernel_wait4", "kernel_clone"]),
            (WaitKind::Pipe, &["pipe_read", "anon_pipe_write", "fifo_open"]),
            (WaitKind::ReadWrite, &["io_schedule", "folio_wait_bit_common", "vfs_read"]),
        ] {
            assert_eq!(kinds(KERNEL, names), vec![Some(kind); names.len()], "{names:?}");
        }
        let none =
            ["schedule", "__schedule", "do_wait_for_common", "mutex_lock", "ep_poll_callback"];
        assert_eq!(kinds(KERNEL, &none), [None; 5]);
    }

    #[test]
    fn functions_of_the_c_library_have_kinds() {
        for (kind, names) in [
            (
                WaitKind::Futex,
                &[
                    "pthread_cond_wait@@GLIBC_2.3.2",
                    "__GI___lll_lock_wait",
                    "sem_timedwait",
                    "__futex_abstimed_wait_common64",
                ][..],
            ),
            (WaitKind::Sleep, &["__GI___clock_nanosleep", "clock_nanosleep_time64", "usleep"]),
            (WaitKind::Poll, &["__poll", "epoll_wait", "__select64"]),
            (WaitKind::Socket, &["__libc_recvmsg", "accept4", "connect"]),
            (WaitKind::Child, &["__wait4", "waitpid"]),
            (WaitKind::ReadWrite, &["__GI___libc_read", "__write_nocancel", "pread64"]),
        ] {
            assert_eq!(kinds(LIBRARY, names), vec![Some(kind); names.len()], "{names:?}");
        }
        assert_eq!(kinds(LIBRARY, &["memcpy", "start_thread", "readdir", "sem_init"]), [None; 4]);
    }

    #[test]
    fn c_libraries_have_names() {
        let names =
            ["/lib/libc.so.6", "libc-2.31.so", "/lib/libpthread.so.0", "/lib/ld-musl-x86_64.so.1"];
        assert!(names.iter().all(|name| is_c_library(name.as_bytes())));
        let others = ["/bin/libc", "/lib/libcrypt.so.1", "[kernel.kallsyms]", ""];
        assert!(!others.iter().any(|name| is_c_library(name.as_bytes())));
    }
}
