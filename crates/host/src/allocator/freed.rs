//! What the allocator keeps of memory that is not used any more.
#![allow(unsafe_code, reason = "the allocator is told by a C function; argued for at the call")]

/// What becomes of large tables that are done with.
///
/// Without a word about it, glibc makes of what is large a mapping of its own, which goes when it is freed and grows
/// without being copied; from when on is the largest that was ever freed, up to 32 MB, and 128 KiB at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreedMemory {
    /// They are given back to the system as soon as they are freed.
    GivenBack,
    /// They are kept for the next ones: pages that the system has to make, and to clear, cost more than what most tables
    /// are used for.
    Kept,
}

impl FreedMemory {
    /// Has it so for the rest of the process. Where the environment says otherwise, that stays.
    ///
    /// Source: mallopt(3), `M_MMAP_THRESHOLD` with `MALLOC_MMAP_THRESHOLD_`, `M_TRIM_THRESHOLD` with
    /// `MALLOC_TRIM_THRESHOLD_`.
    pub fn set(self) {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        for (name, parameter, value) in match self {
            Self::GivenBack => &[("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, 256 << 10)][..],
            Self::Kept => &[
                ("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, 4 << 20),
                ("MALLOC_TRIM_THRESHOLD_", libc::M_TRIM_THRESHOLD, 64 << 20),
            ],
        } {
            if std::env::var_os(name).is_none() {
                // SAFETY: mallopt takes two numbers, may be called at any time and from any thread, and changes only
                // where later memory comes from.
                let _is_known = unsafe { libc::mallopt(*parameter, *value) };
            }
        }
    }
}
