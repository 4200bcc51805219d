//! Stores the files that have samples, so that the recording keeps its names and stacks, and reports that in a line.

use std::path::{Path, PathBuf};

use cache::{FileStore, LimitedStore, StoreResult};
use formats::counted;
use host::{Host, Origin};
use pipeline::{Analysis, FileAvailability, recording_key};

use super::analyze;
use crate::args::{RecordArgs, host, own_folder};
use crate::terminal::{print_error, shown, size};

/// A store.
struct StoreLocation {
    store: FileStore,
    /// Home directory of the user, if the store has its default path below it.
    home: Option<PathBuf>,
}

/// Numbers of files that are not stored, by reason.
#[derive(Default)]
struct NotStored {
    unverified: usize,
    missing: usize,
}

/// Folder and limit of the store that the user asks for.
#[derive(Clone, Debug)]
pub(super) struct StoreChoice {
    folder: Option<PathBuf>,
    most: u64,
}

impl StoreChoice {
    /// Returns `None` if no files are to be stored.
    pub(super) fn of(args: &RecordArgs) -> Option<Self> {
        let most = args.store_size.unwrap_or(LimitedStore::DEFAULT_SIZE);
        (!args.no_store).then(|| Self { folder: args.buildid_dir.clone(), most })
    }

    /// Stores the files of a complete recording while another one is made.
    pub(super) fn store_beside(&self, recording: &Path) {
        let (choice, recording) = (self.clone(), recording.to_owned());
        std::thread::spawn(move || match analyze(&recording) {
            Ok(analysis) => drop(store_files(&choice, &recording, &analysis, &*host())),
            // It may have been removed to make room.
            Err(_) if host().stat(&recording, Origin::User).is_err() => {}
            Err(error) => print_error(&format!("its files are not stored: {error:#}")),
        });
    }
}

/// Stores the files of a recording that contain frames of samples, and returns the line for the user.
/// A failure here does not fail the recording.
pub(super) fn store_files(
    choice: &StoreChoice,
    recording: &Path,
    analysis: &Analysis,
    host: &dyn Host,
) -> String {
    let location = match store_location(choice, host) {
        Ok(location) => location,
        Err(why) => return format!("stored: no file: {why}; --buildid-dir DIR names a folder"),
    };
    let key = recording_key(host, recording).unwrap_or_default();
    let mut not_stored = NotStored::default();
    let (mut files, mut others) = (Vec::new(), Vec::new());
    for file in analysis.sampled_files(&key) {
        match file.availability {
            FileAvailability::Verified(mut parts) => {
                others.extend(parts.drain(1..));
                files.extend(parts);
            }
            FileAvailability::Unverified => not_stored.unverified += 1,
            FileAvailability::Missing => not_stored.missing += 1,
        }
    }
    // Stacks need the files themselves; names need the debug files as well.
    files.append(&mut others);
    let most = choice.most;
    let store = LimitedStore { store: location.store, most };
    let folder = shown(&store.store.folder().display().to_string());
    let folder = match location.home.and_then(|home| below_home(store.store.folder(), &home)) {
        Some(below) => shown(&below),
        None => folder,
    };
    match store.add_files(host, &files) {
        Ok(kept) => line(&kept, &folder, most, &not_stored),
        Err(error) => {
            format!("stored: no file: {folder}: {error}; --buildid-dir DIR names another folder")
        }
    }
}

/// Returns the store, or the reason why there is none.
fn store_location(choice: &StoreChoice, host: &dyn Host) -> Result<StoreLocation, String> {
    if let Some(folder) = &choice.folder {
        return Ok(StoreLocation { store: FileStore::at(folder.clone()), home: None });
    }
    let folder = host.file_store().ok_or("neither HOME nor XDG_CACHE_HOME is set")?;
    let store = FileStore::at(own_folder(folder, host).map_err(|why| shown(&why))?);
    Ok(StoreLocation { store, home: host.home() })
}

/// Returns a path below the user's home in the form of shells.
fn below_home(path: &Path, home: &Path) -> Option<String> {
    Some(format!("~/{}", path.strip_prefix(home).ok()?.display()))
}

fn line(kept: &StoreResult, folder: &str, most: u64, not_stored: &NotStored) -> String {
    let limit = if kept.limit < most {
        format!("{}, a tenth of the free space", size(kept.limit))
    } else {
        size(kept.limit)
    };
    let mut line = match kept.files {
        0 => format!("stored: no file in {folder}"),
        files => format!("stored: {}, {}, in {folder}", counted(files, "file"), size(kept.bytes)),
    };
    line.push_str(&format!(" (limit {limit}; --no-store keeps none)"));
    let mut omitted = Vec::new();
    if kept.over_limit > 0 {
        omitted.push(format!("{} over the limit (--store-size)", kept.over_limit));
    }
    if not_stored.unverified > 0 {
        let unverified = not_stored.unverified;
        omitted.push(format!("{unverified} not proven to be the recorded file"));
    }
    if not_stored.missing > 0 {
        omitted.push(format!("{} no longer found", not_stored.missing));
    }
    if !omitted.is_empty() {
        line.push_str("; not stored: ");
        line.push_str(&omitted.join(", "));
    }
    if let Some(problem) = &kept.problem {
        line.push_str(&format!("; not all could be written: {problem}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_was_stored_and_what_not() {
        let kept =
            StoreResult { files: 12, bytes: 34_512_345, limit: 2 << 30, ..StoreResult::default() };
        let all = NotStored::default();
        assert_eq!(
            line(&kept, "~/.cache/unwind-perf/files", 2 << 30, &all),
            "stored: 12 files, 34.5 MB, in ~/.cache/unwind-perf/files (limit 2 GiB; --no-store keeps none)"
        );
        let problem = Some(std::io::Error::from_raw_os_error(28));
        let kept =
            StoreResult { limit: 5_000_000, over_limit: 1, problem, ..StoreResult::default() };
        let some = NotStored { unverified: 2, missing: 3 };
        assert_eq!(
            line(&kept, "/x", 2 << 30, &some),
            "stored: no file in /x (limit 5.0 MB, a tenth of the free space; --no-store keeps none); not stored: 1 over the \
             limit (--store-size), 2 not proven to be the recorded file, 3 no longer found; not all could be written: No space left on device (os error 28)"
        );
        assert_eq!(
            [0, 999, 1_500, 1 << 20, 1_000_000, 1_278_300_000].map(size),
            ["0 bytes", "999 bytes", "1.5 kB", "1 MiB", "1.0 MB", "1.3 GB"]
        );
    }
}
