//! Time and size limits of downloads, from the environment variables of debuginfod clients.
//!
//! Source: `debuginfod-client-config(7)`, "ENVIRONMENT VARIABLES".

use std::ffi::OsString;
use std::time::Duration;

use host::Host;

use crate::error::Error;

/// Largest file that is retained, in bytes.
const LARGEST: u64 = 8 << 30;
/// Longest time limit, in seconds. It prevents sums of times from overflowing.
const LONGEST: u64 = 365 * 24 * 3600;

/// Limits of the downloads of a run; `None` is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DownloadLimits {
    /// Time to connect to a server.
    pub(crate) connect: Option<Duration>,
    /// Time to the first byte of an answer, and for each further [`LEAST`](super::download::LEAST) bytes.
    pub(crate) answer: Option<Duration>,
    /// Time for one file.
    pub(crate) file: Option<Duration>,
    /// Time for all requests of a run together.
    pub(crate) run: Option<Duration>,
    /// Largest size of one file, in bytes.
    pub(crate) largest: u64,
}

impl Default for DownloadLimits {
    fn default() -> Self {
        Self {
            connect: Some(Duration::from_secs(10)),
            answer: Some(Duration::from_secs(30)),
            file: None,
            run: Some(Duration::from_secs(600)),
            largest: LARGEST,
        }
    }
}

impl DownloadLimits {
    /// Limits that the environment states; the defaults otherwise.
    ///
    /// # Errors
    /// [`Error::Variable`] if a variable is not a whole number.
    pub(crate) fn of_environment(host: &dyn Host) -> Result<Self, Error> {
        let mut limits = Self::default();
        if let Some(seconds) = number(host, "DEBUGINFOD_TIMEOUT", "seconds")? {
            limits.answer = time(seconds);
            limits.connect = limits.answer;
        }
        if let Some(seconds) = number(host, "DEBUGINFOD_MAXTIME", "seconds")? {
            limits.file = time(seconds);
            // A user who allows one file more than the default of a run wants that file to arrive.
            limits.run = limits.file.and_then(|file| Some(file.max(limits.run?)));
        }
        if let Some(bytes) = number(host, "DEBUGINFOD_MAXSIZE", "bytes")? {
            let bytes = u64::try_from(bytes).ok().filter(|bytes| *bytes > 0);
            limits.largest = bytes.map_or(LARGEST, |bytes| bytes.min(LARGEST));
        }
        Ok(limits)
    }
}

/// Parses a variable as a whole number; `None` if it is unset or empty.
fn number(host: &dyn Host, name: &'static str, unit: &'static str) -> Result<Option<i64>, Error> {
    let Some(value) = host.variable(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let number = |value: &OsString| value.to_str()?.trim().parse().ok();
    match number(&value) {
        Some(number) => Ok(Some(number)),
        None => {
            let value = value.to_string_lossy().into_owned();
            Err(Error::Variable { name, value, unit })
        }
    }
}

/// Converts a number of seconds; zero or less is no limit.
fn time(seconds: i64) -> Option<Duration> {
    let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(seconds.min(LONGEST)))
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    fn limits(variables: &[(&str, &str)]) -> Result<DownloadLimits, String> {
        let host = MemoryHost::new();
        for (name, value) in variables {
            host.set_variable(name, value);
        }
        DownloadLimits::of_environment(&host).map_err(|error| error.to_string())
    }

    #[test]
    fn variables_are_whole_numbers_and_zero_is_no_limit() {
        let default = DownloadLimits::default();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(limits(&[]), Ok(default));
        assert_eq!(limits(&[("DEBUGINFOD_TIMEOUT", "")]), Ok(default));
        let answer = |answer| Ok(DownloadLimits { connect: answer, answer, ..default });
        assert_eq!(limits(&[("DEBUGINFOD_TIMEOUT", "3")]), answer(seconds(3)));
        assert_eq!(limits(&[("DEBUGINFOD_TIMEOUT", "0")]), answer(None));
        assert_eq!(limits(&[("DEBUGINFOD_TIMEOUT", "-1")]), answer(None));
        let most = i64::MAX.to_string();
        assert_eq!(limits(&[("DEBUGINFOD_TIMEOUT", &most)]), answer(seconds(LONGEST)));
        let file = |file, run| Ok(DownloadLimits { file, run, ..default });
        assert_eq!(limits(&[("DEBUGINFOD_MAXTIME", "5")]), file(seconds(5), seconds(600)));
        assert_eq!(limits(&[("DEBUGINFOD_MAXTIME", "700")]), file(seconds(700), seconds(700)));
        assert_eq!(limits(&[("DEBUGINFOD_MAXTIME", "0")]), file(None, None));
        let largest = |largest| Ok(DownloadLimits { largest, ..default });
        assert_eq!(limits(&[("DEBUGINFOD_MAXSIZE", "4096")]), largest(4096));
        assert_eq!(limits(&[("DEBUGINFOD_MAXSIZE", "0")]), largest(LARGEST));
    }

    #[test]
    fn other_values_are_an_error() {
        let error = |name, value, unit| {
            Err(format!("{name}={value}: expected a whole number of {unit} (0: no limit)"))
        };
        for value in ["soon", "1.5", "3s", "99999999999999999999"] {
            let name = "DEBUGINFOD_TIMEOUT";
            assert_eq!(limits(&[(name, value)]), error(name, value, "seconds"));
        }
        assert_eq!(
            limits(&[("DEBUGINFOD_MAXTIME", "x")]),
            error("DEBUGINFOD_MAXTIME", "x", "seconds")
        );
        assert_eq!(
            limits(&[("DEBUGINFOD_MAXSIZE", "1M")]),
            error("DEBUGINFOD_MAXSIZE", "1M", "bytes")
        );
    }
}
