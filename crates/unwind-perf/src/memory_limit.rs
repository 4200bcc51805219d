//! `--max-memory`: how much of what is not backed by a file the process may hold.
//!
//! What grows with a recording are the tables of distinct stacks, frames and names; nothing of them can be left out. So
//! the limit makes what is read ahead smaller, and where the tables pass it, the run ends with a message rather than by
//! the kernel's killing.

use anyhow::bail;
use perf_data::SessionOptions;

/// The most anonymous memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLimit(u64);

impl MemoryLimit {
    /// Reads `500M`, `2G`, or a number of bytes; powers of 1024.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match text.get(digits.len()..).unwrap_or_default().to_ascii_uppercase().as_str()
        {
            "" => 1,
            "K" => 1 << 10,
            "M" => 1 << 20,
            "G" => 1 << 30,
            other => return Err(format!("unknown unit {other}; there are K, M and G")),
        };
        let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        let bytes = bytes.ok_or_else(|| "expected a number with K, M or G".to_owned())?;
        if bytes < LEAST {
            return Err(format!("at least {} M are needed", LEAST >> 20));
        }
        Ok(Self(bytes))
    }

    /// Reads less ahead where the usual windows would take more than a part of the limit.
    pub(crate) fn apply(limit: Option<Self>, options: SessionOptions) -> SessionOptions {
        let Some(Self(bytes)) = limit else { return options };
        SessionOptions {
            window_bytes: options.window_bytes.min(bytes / 8),
            pending_bytes: options.pending_bytes.min(bytes / 2),
            expansion_bytes: options.expansion_bytes.min((bytes / 4) as usize),
            ..options
        }
    }

    /// Whether the process is within the limit.
    ///
    /// # Errors
    /// Where it is not.
    pub(crate) fn check(limit: Option<Self>) -> anyhow::Result<()> {
        let Some(Self(limit)) = limit else { return Ok(()) };
        let held = anonymous().unwrap_or(0);
        if held > limit {
            bail!(
                "the recording needs more than the {} MB of --max-memory; allow more, or ask for less with --pid, \
                 --comm, --event or --time",
                limit >> 20
            );
        }
        Ok(())
    }
}

/// What the program itself and its caches need.
const LEAST: u64 = 32 << 20;

/// Memory of this process that no file backs, in bytes.
///
/// Source: `RssAnon` of /proc/PID/status, in KiB.
fn anonymous() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let bytes = |text| MemoryLimit::parse(text).map(|limit| limit.0);
        assert_eq!(bytes("33554432"), Ok(32 << 20));
        assert_eq!(bytes("500M"), Ok(500 << 20));
        assert_eq!(bytes("2g"), Ok(2 << 30));
        assert_eq!(bytes("1M"), Err("at least 32 M are needed".to_owned()));
        assert_eq!(bytes("5T"), Err("unknown unit T; there are K, M and G".to_owned()));
        assert_eq!(bytes("M"), Err("expected a number with K, M or G".to_owned()));
        assert!(anonymous().is_some_and(|bytes| bytes > 0));
    }
}
