//! Measurement of one run of a program: wall time, processor time, peak memory.
//!
//! Memory is read from `/proc` while the program runs. Processor time is the increase of the time of ended children, so
//! no other child may be waited for meanwhile. The wall time is accurate to a millisecond, the processor time to the
//! system's unit (usually microseconds). The program's own children count in its time, but not in its memory.
//! as its memory.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use xtask::command;

/// Cost of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) wall: Duration,
    /// User and system time, including that of its ended children.
    pub(super) cpu: Duration,
    /// Largest resident set in bytes, including mapped files.
    pub(super) peak_rss: u64,
    /// Largest observed anonymous part of it, in bytes.
    pub(super) peak_anon: u64,
}

/// Time between two checks for the program's end.
const LOOK: Duration = Duration::from_millis(1);
/// Number of checks between two readings of its memory.
const LOOKS_PER_READING: u32 = 5;

/// Runs the command and discards its output. Returns `None` if it was stopped after `limit`.
pub(super) fn measure(
    command: &mut Command,
    good: &[i32],
    limit: Duration,
) -> Result<Option<Usage>> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let before = of_children()?;
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| command::show(command))?;
    let mut usage = follow(&mut child, begin, limit)?;
    let status = child.wait()?;
    if let Some(usage) = &mut usage {
        usage.cpu = of_children()?.saturating_sub(before);
    }
    if usage.is_some() && !status.code().is_some_and(|code| good.contains(&code)) {
        bail!("{status}: {}", command::show(command));
    }
    Ok(usage)
}

/// Measures everything except the processor time, which is available only after the wait.
fn follow(child: &mut Child, begin: Instant, limit: Duration) -> Result<Option<Usage>> {
    let proc = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut peak_rss, mut peak_anon) = (0, 0);
    for look in 0_u32.. {
        let stat = std::fs::read_to_string(proc.join("stat"))?;
        // The name in brackets may hold anything; the state is the first field after it.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').next());
        if matches!(state, Some("Z" | "X")) {
            let wall = begin.elapsed();
            return Ok(Some(Usage { wall, cpu: Duration::ZERO, peak_rss, peak_anon }));
        }
        if look.is_multiple_of(LOOKS_PER_READING) {
            let [high, anon] = memory(&proc);
            peak_rss = peak_rss.max(high);
            peak_anon = peak_anon.max(anon);
        }
        if begin.elapsed() > limit {
            child.kill()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
    Ok(None)
}

/// Returns `VmHWM` and `RssAnon` of `/proc/PID/status` in bytes; zero if the process is exiting.
fn memory(proc: &Path) -> [u64; 2] {
    let status = std::fs::read_to_string(proc.join("status")).unwrap_or_default();
    ["VmHWM:", "RssAnon:"].map(|name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
    })
}

/// Returns user and system time of all ended children and of their children.
fn of_children() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = [usage.user_time(), usage.system_time()].map(|time| {
        let (seconds, rest) = (time.tv_sec().unsigned_abs(), time.tv_usec().unsigned_abs());
        Duration::from_secs(seconds) + Duration::from_micros(rest)
    });
    Ok(seconds.iter().sum())
}

/// Returns the median; the smaller one of two middle values.
pub(super) fn median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_value_that_was_measured() {
        assert_eq!(median(vec![5, 1, 3]), Some(3));
        assert_eq!(median(vec![4, 1, 3, 2]), Some(2));
        assert_eq!(median(Vec::<u8>::new()), None);
    }

    #[test]
    fn a_run_is_measured_and_an_endless_one_is_ended() {
        let limit = Duration::from_secs(60);
        let usage = measure(&mut command::words("sleep 0.05"), &[0], limit).unwrap().unwrap();
        assert!(usage.wall >= Duration::from_millis(50) && usage.wall < limit);
        assert!(usage.cpu < usage.wall);
        assert!(
            measure(&mut command::words("sleep 60"), &[0], Duration::from_millis(20))
                .unwrap()
                .is_none()
        );
        assert!(measure(&mut command::words("false"), &[0], limit).is_err());
    }
}
