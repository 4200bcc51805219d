//! What the allocator keeps of memory that is not used any more.
#![allow(unsafe_code, reason = "the allocator is told by a C function; argued for at the call")]

/// What is as large as this is a mapping of its own, which goes when it is freed, and grows without being copied.
///
/// Without a word about it, glibc raises this bound to the largest that was ever freed, up to 32 MB, and keeps what is
/// below for the next one that is as large.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_MAPPING: libc::c_int = 256 << 10;

/// Has large tables given back to the system as soon as they are freed, for the rest of the process. Where the
/// environment says otherwise, that stays.
///
/// Source: mallopt(3), `M_MMAP_THRESHOLD`, `MALLOC_MMAP_THRESHOLD_`.
pub fn give_back_large_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if std::env::var_os("MALLOC_MMAP_THRESHOLD_").is_none() {
        // SAFETY: mallopt takes two numbers, may be called at any time and from any thread, and changes only where later
        // memory comes from.
        let _is_known = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING) };
    }
}
