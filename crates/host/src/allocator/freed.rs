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

/// Returns the pages of freed memory to the system. The free parts between allocations of different ages otherwise stay
/// with the process, so that the memory of a run of hours grows.
///
/// Source: `malloc_trim`(3).
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: malloc_trim takes a number, may be called at any time and from any thread, and only touches free memory.
        let _has_returned_some = unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Returns the anonymous memory of the process, in bytes.
    #[expect(clippy::disallowed_methods, reason = "the test reads about its own process")]
    fn anonymous() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("a status");
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("a line");
        let kib = line.split_whitespace().nth(1).expect("a number");
        kib.parse::<u64>().expect("a number") << 10
    }

    #[test]
    fn memory_between_allocations_is_returned() {
        // Each large part is followed by one that stays, so that no part is at the end of the heap.
        let parts: Vec<_> = (0..1024).map(|_| (vec![1_u8; 64 << 10], vec![1_u8; 64])).collect();
        let retained: Vec<_> = parts.into_iter().map(|(_, small)| small).collect();
        let before = anonymous();
        return_freed_memory();
        let returned = before.saturating_sub(anonymous());
        assert!(returned > 48 << 20, "{returned} bytes of 64 MiB");
        assert_eq!(retained.len(), 1024);
    }
}
