//! The end of perf: the resulting exit status, and whether there is a recording.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use host::{Host, Origin};
use rustix::fs::{Access, access};

/// Exit statuses for a program that cannot be started and for one that does not exist, as in shells and `env`.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
/// Exit status of perf if it could not start the program, among other reasons.
const FAILED: i32 = 255;

/// Returns the exit status of perf, which is that of the recorded program.
/// It is 128 + N if perf ended itself by the signal N.
pub(super) fn exit_status(ended: ExitStatus) -> u8 {
    let status = ended.code().or_else(|| Some(128 + ended.signal()?));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(u8::MAX)
}

/// Returns the exit status for a program that cannot be started, if perf failed for that reason.
pub(super) fn cannot_start(command: &[OsString], ended: ExitStatus, host: &dyn Host) -> Option<u8> {
    let program = Path::new(command.first().filter(|_| ended.code() == Some(FAILED))?);
    let places: Vec<PathBuf> = if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        vec![program.to_owned()]
    } else {
        let search = host.variable("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        std::env::split_paths(&search).map(|folder| folder.join(program)).collect()
    };
    let places: Vec<_> =
        places.into_iter().filter(|place| host.stat(place, Origin::User).is_ok()).collect();
    if places.is_empty() {
        return Some(NOT_FOUND);
    }
    let can_start = |place: &PathBuf| {
        host.is_file(place, Origin::User) && access(place, Access::EXEC_OK).is_ok()
    };
    (!places.iter().any(can_start)).then_some(NOT_EXECUTABLE)
}

/// Returns true if perf has not completed the header of a recording: it states no data.
///
/// Source: `tools/perf/Documentation/perf.data-file-format.txt`, `struct perf_header`: the size of the data follows the
/// magic, two sizes, and the offsets of the attributes and of the data.
pub(super) fn is_unfinished(recording: &Path, host: &dyn Host) -> bool {
    const DATA_SIZE: usize = 48;
    let Ok(file) = host.open(recording, Origin::User) else { return true };
    let size = file.content.get(DATA_SIZE..).and_then(|rest| rest.first_chunk::<8>());
    size.is_none_or(|size| *size == [0; 8])
}

#[cfg(test)]
mod tests {
    use host::{MemoryHost, RealHost};

    use super::*;

    #[test]
    fn the_status_is_that_of_the_program() {
        let of = |wait: i32| exit_status(ExitStatus::from_raw(wait));
        assert_eq!((of(0), of(3 << 8), of(255 << 8), of(9), of(15)), (0, 3, 255, 137, 143));
    }

    #[test]
    fn programs_that_cannot_be_started_are_told_apart() {
        let ended = ExitStatus::from_raw(FAILED << 8);
        let of = |name: &str| cannot_start(&[name.into()], ended, &RealHost);
        assert_eq!((of("./no-such-program"), of("no-such-program")), (Some(127), Some(127)));
        assert_eq!((of("/etc/passwd"), of("/etc")), (Some(126), Some(126)));
        assert_eq!((of("/bin/sh"), of("sh")), (None, None));
        assert_eq!(cannot_start(&["none".into()], ExitStatus::from_raw(0), &RealHost), None);
        assert_eq!(cannot_start(&[], ended, &RealHost), None);
    }

    #[test]
    fn a_recording_without_data_is_unfinished() {
        let host = MemoryHost::new();
        let mut header = vec![0; 104];
        host.insert("/empty", *b"");
        host.insert("/new", header.clone());
        header[48] = 1;
        host.insert("/done", header);
        let of = |path: &str| is_unfinished(Path::new(path), &host);
        assert_eq!((of("/none"), of("/empty"), of("/new"), of("/done")), (true, true, true, false));
    }
}
