//! Files that a process has open for writing.
#![allow(clippy::disallowed_methods, reason = "the kernel's list of open files is read here")]

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use hashbrown::HashSet;

/// Identity of a file: device and inode.
pub(super) type FileId = (u64, u64);

/// Returns the files that processes of this host have open for writing, as far as this user may know.
///
/// Recordings of other users are unreadable by default, so their writers do not matter.
/// Source: proc(5), `/proc/PID/fdinfo`.
pub(super) fn written_files() -> HashSet<FileId> {
    let mut written = HashSet::new();
    for process in entries(Path::new("/proc")) {
        let is_process = process.bytes().all(|byte| byte.is_ascii_digit());
        if !is_process {
            continue;
        }
        let folder = Path::new("/proc").join(process);
        for number in entries(&folder.join("fd")) {
            // Pipes and sockets have no regular file.
            let state = fs::metadata(folder.join("fd").join(&number)).ok();
            let Some(state) = state.filter(|state| state.is_file()) else { continue };
            let info = fs::read_to_string(folder.join("fdinfo").join(&number));
            if info.is_ok_and(|info| is_writable(&info)) {
                written.insert((state.dev(), state.ino()));
            }
        }
    }
    written
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Returns true if the lines of `fdinfo` state a mode for writing. Source: open(2), `O_ACCMODE`.
fn is_writable(info: &str) -> bool {
    let mut flags = info.lines().filter_map(|line| line.strip_prefix("flags:"));
    let flags = flags.next().and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| matches!(flags & 3, 1 | 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_state_the_mode() {
        assert!(is_writable("pos:\t0\nflags:\t0100002\nmnt_id:\t1\n"));
        assert!(is_writable("flags:\t0100001\n"));
        assert!(!is_writable("flags:\t0100000\n"));
        assert!(!is_writable(""));
    }

    #[test]
    fn own_open_files_are_found() {
        let path = std::env::temp_dir().join(format!("fleet-writers-{}", std::process::id()));
        let file = fs::File::create(&path).expect("a file");
        let state = file.metadata().expect("a file");
        let id = (state.dev(), state.ino());
        assert!(written_files().contains(&id));
        drop(file);
        assert!(!written_files().contains(&id));
        fs::remove_file(&path).expect("a file");
    }
}
