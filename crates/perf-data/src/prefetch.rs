//! Prefetch instructions. A recording is read once, a few cache lines per sample, so without
//! prefetching nearly every line costs a cache miss.
#![allow(
    unsafe_code,
    reason = "a prefetch reads nothing and cannot fail; its address is in the slice"
)]

/// Size of a cache line on nearly all processors, in bytes.
pub const LINE: usize = 64;

/// Prefetches the cache line of `items[at]`, if that exists. Has no other
/// effect, and none at all on most architectures.
#[inline(always)]
pub fn prefetch_line<T>(items: &[T], at: usize) {
    let Some(item) = items.get(at) else { return };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is a hint. It accesses nothing, so that no address is wrong for it; this one is valid.
    // Every x86-64 has it (SSE).
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(std::ptr::from_ref(item).cast(), _MM_HINT_T0);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; it changes no register, no flag and no memory.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{}]",
            in(reg) std::ptr::from_ref(item),
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = item;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets past the end are ignored.
    #[test]
    fn offsets_beyond_the_end_are_none() {
        let bytes = [7; 3 * LINE];
        for at in [0, LINE, 3 * LINE - 1, 3 * LINE, usize::MAX] {
            prefetch_line(&bytes, at);
        }
        prefetch_line::<u8>(&[], 0);
        assert_eq!(bytes, [7; 3 * LINE]);
    }
}
