//! Treatment of freed memory by the allocator.
#![allow(unsafe_code, reason = "the allocator is told by a C function; argued for at the call")]

/// Treatment of large freed tables.
///
/// By default, glibc serves large allocations by mmap: they are unmapped when freed, and grow without copying.
/// The size threshold grows with the largest block freed, from 128 KiB up to 32 MB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreedMemory {
    /// Returned to the system as soon as they are freed.
    Returned,
    /// Retained for the next ones: mapping and clearing pages costs more than the use of most tables.
    Retained,
}

impl FreedMemory {
    /// Applies the setting to the process. Settings in environment variables take precedence.
    ///
    /// Source: mallopt(3), `M_MMAP_THRESHOLD` with `MALLOC_MMAP_THRESHOLD_`, `M_TRIM_THRESHOLD` with
    /// `MALLOC_TRIM_THRESHOLD_`.
    pub fn set(self) {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        for (name, parameter, value) in match self {
            Self::Returned => &[("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, 256 << 10)][..],
            Self::Retained => &[
                ("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, 4 << 20),
                ("MALLOC_TRIM_THRESHOLD_", libc::M_TRIM_THRESHOLD, 64 << 20),
            ],
        } {
            if std::env::var_os(name).is_none() {
                // SAFETY: mallopt takes two numbers, may be called at any time and from any thread, and changes only
                // the source of later memory.
                let _is_known = unsafe { libc::mallopt(*parameter, *value) };
            }
        }
    }
}
