//! Names of threads in pools.

use std::borrow::Cow;

/// Returns a thread name with `N` for the numbers of pools: `worker-3` becomes `worker-N`. Digits inside a word, as in
/// `cc1plus`, are unchanged.
#[must_use]
pub fn folded_thread_name(name: &[u8]) -> Cow<'_, [u8]> {
    let parts = || {
        name.chunk_by(|left, right| left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric())
    };
    let is_number = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if !parts().skip(1).any(is_number) {
        return Cow::Borrowed(name);
    }
    let mut out = Vec::with_capacity(name.len());
    for (at, part) in parts().enumerate() {
        if at > 0 && is_number(part) { out.push(b'N') } else { out.extend_from_slice(part) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads_are_folded() {
        for (name, expected) in [
            ("worker-3", "worker-N"),
            ("pool-1-thread-12", "pool-N-thread-N"),
            ("kworker/0:1", "kworker/N:N"),
            ("GC Thread#3", "GC Thread#N"),
            ("cc1plus", "cc1plus"),
            ("python3", "python3"),
            ("7z", "7z"),
            ("42", "42"),
            ("", ""),
        ] {
            assert_eq!(folded_thread_name(name.as_bytes()), expected.as_bytes(), "{name}");
        }
    }
}
