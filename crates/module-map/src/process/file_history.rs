//! Files of each path during the recording, and the header's build-ids by path.
//!
//! The recorder reads the header's table from the paths when recording ends.
//! A listed build-id therefore belongs to a file only if it was the only file of the path and was not deleted.

use address::{BuildId, Timestamp};
use hashbrown::HashMap;

use crate::module::{FileIdentity, Inode, PathUse, is_deleted, path_on_disk};

/// Evidence about paths besides single map records.
#[derive(Debug, Default)]
pub(super) struct FileHistory {
    /// Build-ids from the header; `None` for a path with several.
    listed_ids: HashMap<Vec<u8>, Option<BuildId>>,
    /// Paths with several files in the whole recording.
    several: HashMap<Vec<u8>, SeveralFiles>,
    /// Files with mapped code so far, by path without the mark of deleted files.
    mapped: HashMap<Vec<u8>, Vec<MappedFile>>,
    saw_several: bool,
}

/// A file with code that was mapped by a path.
#[derive(Clone, Copy, Debug)]
struct MappedFile {
    inode: Inode,
    /// True if a record reports it as deleted.
    deleted: bool,
}

/// Maximum number of distinct files per path; a path with more counts as shared by all.
const MOST_FILES: usize = 32;

/// Files with mapped code for all paths of a recording, with the times of their maps.
#[derive(Debug, Default)]
pub struct FilesOfPaths(HashMap<Vec<u8>, SeveralFiles>);

impl FilesOfPaths {
    /// Adds a map of code. `path` is as recorded.
    pub fn add(&mut self, path: &[u8], inode: Inode, at: Timestamp) {
        self.0.entry_ref(path_on_disk(path)).or_default().add(inode, at, is_deleted(path));
    }
}

/// Files of one path, with the times of their first and last map of code.
#[derive(Debug, Default)]
struct SeveralFiles {
    files: Vec<FileTimes>,
    /// True if there are too many files.
    overflowed: bool,
}

#[derive(Debug)]
struct FileTimes {
    inode: Inode,
    first: Timestamp,
    last: Timestamp,
    deleted: bool,
}

impl SeveralFiles {
    /// Adds a map of a file.
    fn add(&mut self, inode: Inode, at: Timestamp, deleted: bool) {
        let is_full = self.files.len() == MOST_FILES;
        match self.files.iter_mut().find(|known| known.inode.is_same(inode)) {
            Some(known) => {
                known.first = known.first.min(at);
                known.last = known.last.max(at);
                known.deleted |= deleted;
            }
            None if is_full => self.overflowed = true,
            None => self.files.push(FileTimes { inode, first: at, last: at, deleted }),
        }
    }

    /// Returns true if the path had more than one file, or one that was deleted later.
    fn matters(&self) -> bool {
        self.files.len() > 1 || self.files.iter().any(|file| file.deleted)
    }

    /// Returns the relation of a file to the others.
    fn path_use(&self, inode: Option<Inode>) -> PathUse {
        let of = |inode| self.files.iter().find(|known| known.inode.is_same(inode));
        let Some(own) = inode.and_then(of).filter(|_| !self.overflowed) else {
            return PathUse::Shared;
        };
        if own.deleted {
            return PathUse::Earlier;
        }
        let others =
            || self.files.iter().filter(|other| !std::ptr::eq(*other, own) && !other.deleted);
        if others().next().is_none() {
            return PathUse::Only;
        }
        let in_order =
            |a: &FileTimes, b: &FileTimes| a.inode.is_on_device(b.inode) && a.last < b.first;
        if others().all(|other| in_order(other, own)) {
            PathUse::Last
        } else if others().any(|other| in_order(own, other)) {
            PathUse::Earlier
        } else {
            PathUse::Shared
        }
    }
}

impl FileHistory {
    /// Adds a build-id of the header for a path.
    pub(super) fn list_build_id(&mut self, path: &[u8], id: BuildId) {
        let known = self.listed_ids.entry_ref(path).or_insert(Some(id));
        if known.is_some_and(|known| !known.matches(&id)) {
            *known = None;
        }
    }

    /// Sets the files of the whole recording.
    pub(super) fn list_files(&mut self, files: FilesOfPaths) {
        self.several.extend(files.0.into_iter().filter(|(_, files)| files.matters()));
    }

    /// Records the first map of code of a file by that path.
    pub(super) fn mapped(&mut self, path: &[u8], inode: Inode) {
        let deleted = is_deleted(path);
        let files = self.mapped.entry_ref(path_on_disk(path)).or_default();
        match files.iter_mut().find(|known| known.inode.is_same(inode)) {
            Some(known) => {
                self.saw_several |= known.deleted != deleted;
                known.deleted |= deleted;
            }
            None => {
                self.saw_several |= !deleted && files.iter().any(|known| !known.deleted);
                if files.len() < MOST_FILES {
                    files.push(MappedFile { inode, deleted });
                }
            }
        }
    }

    /// Forgets the mapped files of other paths. Paths are without the mark of deleted files.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&[u8]) -> bool) {
        self.mapped.retain(|path, _| is_wanted(path));
    }

    /// Returns true if one path mapped code of two files, or a file was deleted after it was mapped.
    pub(super) const fn saw_several(&self) -> bool {
        self.saw_several
    }

    /// Returns the identity of a file: the fields `stated` in a record, with the evidence about its path.
    pub(super) fn identity(&self, path: &[u8], stated: FileIdentity) -> FileIdentity {
        if stated.build_id.is_some() {
            return stated;
        }
        let mut identity = stated;
        identity.path_use = self.path_use(path, stated.inode);
        if identity.path_use == PathUse::Only && !is_deleted(path) {
            identity.build_id = self.listed_ids.get(path).copied().flatten();
            identity.is_listed = identity.build_id.is_some();
        }
        identity
    }

    fn path_use(&self, path: &[u8], inode: Option<Inode>) -> PathUse {
        let on_disk = path_on_disk(path);
        if let Some(files) = self.several.get(on_disk) {
            return files.path_use(inode);
        }
        // A stream is not known as a whole, so earlier maps decide.
        let Some(inode) = inode else { return PathUse::Only };
        let mapped = self.mapped.get(on_disk).map_or(&[][..], Vec::as_slice);
        let is_other = |known: &&MappedFile| !known.deleted && !known.inode.is_same(inode);
        if mapped.iter().any(|known| is_other(&known)) { PathUse::Shared } else { PathUse::Only }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: [u8; 20] = [7; 20];

    fn id() -> BuildId {
        BuildId::new(&ID).expect("an id")
    }

    fn inode(number: u64) -> Inode {
        Inode { major: 1, minor: 2, number, generation: 0 }
    }

    fn stated(number: u64) -> FileIdentity {
        FileIdentity { inode: Some(inode(number)), ..FileIdentity::default() }
    }

    fn listed() -> FileHistory {
        let mut history = FileHistory::default();
        history.list_build_id(b"/app", id());
        history
    }

    #[test]
    fn a_listed_build_id_is_of_the_only_file_of_its_path() {
        let history = listed();
        let own = history.identity(b"/app", stated(5));
        assert_eq!((own.build_id, own.is_listed), (Some(id()), true));
        assert_eq!(history.identity(b"/other", stated(5)), stated(5));
        assert_eq!(history.identity(b"/app (deleted)", stated(5)), stated(5));
        let record = FileIdentity { build_id: BuildId::new(&[8; 20]), ..stated(5) };
        assert_eq!(history.identity(b"/app", record), record);
    }

    #[test]
    fn two_listed_build_ids_of_one_path_are_of_no_file() {
        let mut history = listed();
        history.list_build_id(b"/app", id());
        assert_eq!(history.identity(b"/app", stated(5)).build_id, Some(id()));
        history.list_build_id(b"/app", BuildId::new(&[8; 20]).expect("an id"));
        assert_eq!(history.identity(b"/app", stated(5)).build_id, None);
        history.list_build_id(b"/app", id());
        assert_eq!(history.identity(b"/app", stated(5)).build_id, None);
    }

    /// Returns the use of one path by each of these files, given with the times of their maps.
    fn uses(files: &[(Inode, &[u64], bool)]) -> Vec<PathUse> {
        let mut several = SeveralFiles::default();
        for &(inode, times, deleted) in files {
            times.iter().for_each(|&at| several.add(inode, Timestamp(at), deleted));
        }
        files.iter().map(|&(inode, ..)| several.path_use(Some(inode))).collect()
    }

    #[test]
    fn files_of_one_path_follow_each_other_or_share_it() {
        use PathUse::{Earlier, Last, Only, Shared};
        let elsewhere = Inode { minor: 3, ..inode(5) };
        assert_eq!(uses(&[(inode(5), &[0, 9], false)]), [Only]);
        assert_eq!(
            uses(&[(inode(5), &[0, 3], false), (inode(6), &[7, 9], false)]),
            [Earlier, Last]
        );
        assert_eq!(
            uses(&[(inode(5), &[0, 8], false), (inode(6), &[7, 9], false)]),
            [Shared, Shared]
        );
        // Both were mapped before the recording began.
        assert_eq!(uses(&[(inode(5), &[0], false), (inode(6), &[0], false)]), [Shared, Shared]);
        // The same number on another device is another file.
        assert_eq!(uses(&[(inode(5), &[1], false), (elsewhere, &[7], false)]), [Shared, Shared]);
        // A deleted file leaves the path to the other one.
        assert_eq!(uses(&[(inode(5), &[0], true), (inode(6), &[7], false)]), [Earlier, Only]);
        // A generation that a synthesized record does not state is not a difference.
        let generation = Inode { generation: 4, ..inode(5) };
        assert_eq!(uses(&[(inode(5), &[0], false), (generation, &[7], false)]), [Only, Only]);
        let reused = Inode { generation: 9, ..inode(5) };
        assert_eq!(uses(&[(generation, &[1], false), (reused, &[7], false)]), [Earlier, Last]);
    }

    #[test]
    fn a_second_file_of_a_path_is_noticed() {
        let mut history = listed();
        history.mapped(b"/app", inode(5));
        history.mapped(b"/other", inode(6));
        history.mapped(b"/app", inode(5));
        assert!(!history.saw_several());
        // In a stream, the later file does not get a listed build-id.
        assert_eq!(history.identity(b"/app", stated(6)).path_use, PathUse::Shared);
        history.mapped(b"/app", inode(6));
        assert!(history.saw_several());
        let mut deleted = FileHistory::default();
        deleted.mapped(b"/app (deleted)", inode(5));
        deleted.mapped(b"/app", inode(6));
        assert!(!deleted.saw_several());
        deleted.mapped(b"/app (deleted)", inode(6));
        assert!(deleted.saw_several());
    }
}
