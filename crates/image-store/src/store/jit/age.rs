//! Check whether a map belongs to a process: an older one was left by another process with the same id.

use std::path::Path;

use address::Pid;
use host::{Host, Origin};

use crate::search::FileFindingKind;
use crate::store::images::ImageStore;

/// Evidence for the age of a process, to be compared with its map.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerfMapAge {
    /// Time at which the process started or executed its program, in nanoseconds since 1970. `None` if the recording
    /// has no clock data, or the process started before it.
    pub began: Option<i128>,
}

/// Tolerance in nanoseconds: start times are in hundredths of a second after a boot time in seconds.
const TOLERANCE: i128 = 2_000_000_000;

impl PerfMapAge {
    /// Returns true if a map last written at `written` may be used. Rejected maps, and those of
    /// unknown age, are reported.
    pub(super) fn allows(self, pid: Pid, path: &Path, written: i128, images: &ImageStore) -> bool {
        let options = images.options();
        if options.trust_perf_maps {
            return true;
        }
        let living =
            options.trust_running_kernel.then(|| living_since(pid, &*options.host)).flatten();
        // If it started after the recording, another process has the id now.
        let living = living
            .filter(|&since| options.recorded_until.is_none_or(|until| since <= until + TOLERANCE));
        let shown = path.display();
        match living.or(self.began) {
            Some(began) if written + TOLERANCE < began => {
                let message = format!(
                    "{shown} was ignored: it is older than process {pid}, so another process with that id wrote it"
                );
                images.note(FileFindingKind::StalePerfMap, message);
                false
            }
            Some(_) => true,
            None => {
                let message = format!(
                    "{shown} may belong to an earlier process with the id {pid}: the recording does not state when the \
                     process started"
                );
                images.note(FileFindingKind::UndatedPerfMap, message);
                true
            }
        }
    }
}

/// Returns the start time of a living process, in nanoseconds since 1970.
///
/// Source: proc(5): `starttime`, field 22 of `/proc/PID/stat`, in hundredths of a second after the boot; `btime` in
/// `/proc/stat`, in seconds.
fn living_since(pid: Pid, host: &dyn Host) -> Option<i128> {
    let read = |path: &str| host.read(Path::new(path), Origin::System).ok();
    let stat = read(&format!("/proc/{pid}/stat"))?;
    let boot = read("/proc/stat")?;
    since(&stat, &boot)
}

fn since(stat: &[u8], boot: &[u8]) -> Option<i128> {
    // The name of the program can contain spaces and parentheses.
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let ticks: i128 = fields.split_whitespace().nth(19)?.parse().ok()?;
    let boot = std::str::from_utf8(boot).ok()?;
    let seconds = boot.lines().find_map(|line| line.strip_prefix("btime "))?;
    let seconds: i128 = seconds.trim().parse().ok()?;
    Some(seconds * 1_000_000_000 + ticks * 10_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_began_some_ticks_after_the_boot() {
        let stat = b"7 (a b) c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 250 1000 2 18446744073709551615";
        assert_eq!(since(stat, b"cpu 1\nbtime 1700000000\n"), Some(1_700_000_002_500_000_000));
        assert_eq!(since(b"7 (a", b"btime 1"), None);
    }
}
