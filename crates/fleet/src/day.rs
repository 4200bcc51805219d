//! Days in UTC, the first level of the tree.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use chrono::DateTime;

/// Returns the day of a time in seconds since 1970, such as `2026-11-30`.
pub(crate) fn day_of(seconds: i64) -> String {
    let time = DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::UNIX_EPOCH);
    time.date_naive().to_string()
}

/// Returns the day on which a recording was last written.
///
/// # Errors
/// If the file is missing or inaccessible.
#[allow(clippy::disallowed_methods, reason = "the user named the recording")]
pub(crate) fn day_written(recording: &Path) -> io::Result<String> {
    let data = recording.join("data");
    let state = match std::fs::metadata(&data) {
        Ok(state) if state.is_file() => state,
        _ => std::fs::metadata(recording)?,
    };
    Ok(day_of(state.mtime()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight() {
        assert_eq!(day_of(-1), "1969-12-31");
        assert_eq!(day_of(0), "1970-01-01");
        assert_eq!(day_of(1_700_006_399), "2023-11-14");
        assert_eq!(day_of(1_700_006_400), "2023-11-15");
    }
}
