//! Sizes in messages.

/// Returns a size for people: whole GiB and MiB in the form of limits, otherwise in that of file managers.
pub(crate) fn size(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "GiB"), (1 << 20, "MiB")] {
        if bytes > 0 && bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
    }
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
