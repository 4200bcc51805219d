//! Known locations of files by build-id, from runs of this host's recordings. Readers verify the content when they open
//! a file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::artefacts::Account;

/// Maximum number of build-ids.
const MOST: usize = 1 << 16;

/// Maximum number of locations per build-id.
const MOST_PATHS: usize = 8;

/// Paths of files by build-id in hexadecimal.
#[derive(Debug, Default)]
pub(crate) struct FilePaths(Mutex<BTreeMap<String, Vec<PathBuf>>>);

impl FilePaths {
    /// Adds the files of an account, except those of untrusted recordings, which could name any file.
    pub(super) fn add(&self, account: &Account) {
        if account.foreign {
            return;
        }
        for used in &account.used {
            let Some(id) = &used.build_id else { continue };
            self.learn(id, PathBuf::from(&used.path));
        }
    }

    /// Adds a file of a trusted recording.
    pub(crate) fn learn(&self, id: &str, path: PathBuf) {
        let mut ids = self.lock();
        if ids.len() >= MOST && !ids.contains_key(id) {
            return;
        }
        let paths = ids.entry(id.to_owned()).or_default();
        if paths.len() < MOST_PATHS && !paths.contains(&path) {
            paths.push(path);
        }
    }

    /// Returns the known paths of the file with a build-id.
    pub(crate) fn paths(&self, id: &str) -> Vec<PathBuf> {
        self.lock().get(id).cloned().unwrap_or_default()
    }

    /// Returns the build-id with these first 16 bytes, in hexadecimal; a shorter build-id is padded with zeros.
    pub(crate) fn beginning_with(&self, digits: &str) -> Option<String> {
        let ids = self.lock();
        let longer = ids.range(digits.to_owned()..).next().map(|(id, _)| id);
        let found = longer.filter(|id| id.starts_with(digits)).cloned();
        found.or_else(|| {
            let short = digits.trim_end_matches('0').len().div_ceil(2) * 2;
            let lengths = (short..digits.len()).step_by(2);
            let mut prefixes = lengths.filter_map(|length| digits.get(..length));
            prefixes.find(|id| ids.contains_key(*id)).map(str::to_owned)
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<PathBuf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use host::FileStamp;
    use serde_json::value::RawValue;

    use super::super::used::UsedFile;
    use super::*;

    #[test]
    fn files_of_strangers_are_not_known() {
        let ids = FilePaths::default();
        let used =
            |path: &str, id: &str| UsedFile::new(path, &FileStamp::default(), Some(id.to_owned()));
        let add = |foreign, used| {
            let about = RawValue::from_string("{}".to_owned()).unwrap();
            ids.add(&Account { about, used, foreign });
        };
        add(true, vec![used("/etc/shadow", "ab")]);
        assert!(ids.paths("ab").is_empty());
        let long = "0102030405060708090a0b0c0d0e0f1011121314";
        add(false, vec![used("/a", long), used("/b", long), used("/a", long)]);
        add(false, vec![used("/c", "d587e5ae189c1780")]);
        assert_eq!(ids.paths(long), [PathBuf::from("/a"), PathBuf::from("/b")]);
        let found = |digits: &str| ids.beginning_with(digits);
        assert_eq!(found("0102030405060708090a0b0c0d0e0f10").as_deref(), Some(long));
        let padded = "d587e5ae189c17800000000000000000";
        assert_eq!(found(padded).as_deref(), Some("d587e5ae189c1780"));
        assert_eq!(found("0102030405060708090a0b0c0d0e0f11"), None);
        assert_eq!(found("00000000000000000000000000000000"), None);
    }
}
