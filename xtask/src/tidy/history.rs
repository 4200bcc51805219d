//! Subjects of commits, which lists show without wrapping.

use std::path::Path;
use std::process::Command;

use crate::command;

/// Characters of the longest subject.
const MAX_SUBJECT: usize = 72;

/// The last commit with an unchecked subject.
const LAST_UNCHECKED: &str = "583470b07e2bae35e4966a62d553db2228a3073f";

/// Finds commits with long subjects. A copy without the history has none.
pub(super) fn check(root: &Path, found: &mut Vec<String>) {
    let mut log = Command::new("git");
    log.args(["log", "--no-merges", "--format=%h %s", &format!("{LAST_UNCHECKED}..HEAD")]);
    if let Ok(listing) = command::quiet_output(log.current_dir(root)) {
        found.extend(listing.lines().filter_map(long_subject));
    }
}

/// Returns a finding for a line of a commit's hash and subject, if the subject is too long.
fn long_subject(line: &str) -> Option<String> {
    let (hash, subject) = line.split_once(' ')?;
    let length = subject.chars().count();
    (length > MAX_SUBJECT).then(|| {
        format!("commit {hash}: the subject has {length} characters, at most {MAX_SUBJECT}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_subjects_are_found() {
        assert_eq!(long_subject(&format!("abc {}", "x".repeat(72))), None);
        assert_eq!(
            long_subject(&format!("abc {}", "x".repeat(73))).as_deref(),
            Some("commit abc: the subject has 73 characters, at most 72")
        );
    }
}
