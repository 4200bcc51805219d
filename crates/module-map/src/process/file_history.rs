//! Which file each path led to while it was recorded.

use address::BuildId;
use hashbrown::HashMap;

use crate::module::{FileIdentity, Inode};

/// What is known of paths beyond single map records.
#[derive(Debug, Default)]
pub(super) struct FileHistory {
    /// The build-ids that the recording lists.
    listed_ids: HashMap<Box<[u8]>, BuildId>,
    /// Of paths that led to several files: the last.
    last: HashMap<Box<[u8]>, Inode>,
    /// The file of each path whose code was mapped, as of the last module that is of its own.
    mapped: HashMap<Box<[u8]>, Inode>,
    saw_replaced: bool,
}

impl FileHistory {
    /// The recording lists that build-id for the path.
    pub(super) fn list_build_id(&mut self, path: &[u8], id: BuildId) {
        self.listed_ids.insert(path.into(), id);
    }

    /// The path led to several files, `last` being the last of them.
    pub(super) fn list_last(&mut self, path: &[u8], last: Inode) {
        self.last.insert(path.into(), last);
    }

    /// Code of a file was mapped by that path.
    pub(super) fn mapped(&mut self, path: &[u8], inode: Inode) {
        let before = self.mapped.insert(path.into(), inode);
        self.saw_replaced |= before.is_some_and(|before| inode.replaces(before));
    }

    /// Whether code of two files was mapped by one path.
    pub(super) const fn saw_replaced(&self) -> bool {
        self.saw_replaced
    }

    /// Which file it is that a record states so, with what is listed for the path.
    pub(super) fn identity(&self, path: &[u8], stated: FileIdentity) -> FileIdentity {
        let mut identity = stated;
        if identity.build_id.is_none() {
            let last = self.last.get(path).zip(identity.inode);
            identity.replaced = last.is_some_and(|(last, inode)| last.replaces(inode));
            identity.build_id = self.listed_ids.get(path).copied().filter(|_| !identity.replaced);
        }
        identity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_holds_for_the_last_file_of_a_path_alone() {
        let mut history = FileHistory::default();
        let id = BuildId::new(&[7; 20]).expect("an id");
        let inode = |number| Inode { major: 1, minor: 2, number, generation: 0 };
        let stated =
            |number| FileIdentity { inode: Some(inode(number)), ..FileIdentity::default() };
        history.list_build_id(b"/app", id);
        assert_eq!(history.identity(b"/app", stated(5)).build_id, Some(id));
        assert_eq!(history.identity(b"/other", stated(5)), stated(5));
        history.mapped(b"/app", inode(5));
        assert!(!history.saw_replaced());
        history.mapped(b"/app", inode(6));
        assert!(history.saw_replaced());
        history.list_last(b"/app", inode(6));
        let replaced = FileIdentity { replaced: true, ..stated(5) };
        assert_eq!(history.identity(b"/app", stated(5)), replaced);
        assert_eq!(history.identity(b"/app", stated(6)).build_id, Some(id));
    }
}
