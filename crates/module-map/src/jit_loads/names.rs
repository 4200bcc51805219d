//! Names of mappings with JIT code.

/// Returns true if a mapping with this name marks a dump: `…/jit-PID.dump`.
///
/// Source: `tools/perf/Documentation/jitdump-specification.txt`; `jit_detect` in `tools/perf/util/jitdump.c`.
pub(crate) fn is_marker(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.strip_prefix(b"jit-")
        .and_then(|name| name.strip_suffix(b".dump"))
        .is_some_and(|pid| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit))
}

/// Returns true for the names that `perf inject --jit` gives: `jitted-PID-N.so`.
/// The protection of such maps is not that of the memory.
pub(crate) fn is_injected(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.starts_with(b"jitted-") && name.ends_with(b".so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dumps() {
        assert!(is_marker(b"/tmp/jit-123.dump"));
        assert!(!is_marker(b"/tmp/jit-12a.dump"));
        assert!(!is_marker(b"/tmp/jit-.dump"));
        assert!(is_injected(b"/opt/u/.debug/jit/x/jitted-12-3.so"));
    }
}
