//! Files that a bundle does not contain, since its readers have them in a store.

use super::{BUILD_IDS, Hasher, StoredContent};

/// A file with a build-id that a bundle describes, but does not contain.
#[derive(Clone, Copy, Debug)]
pub struct AbsentFile<'m>(pub(crate) &'m StoredContent);

impl AbsentFile<'_> {
    /// Returns its path in a build-id cache: `.build-id/ab/cdef…/elf`, or `debug` for a separate debug file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.name
    }

    /// Returns the hexadecimal digits of its build-id, and true for a separate debug file.
    #[must_use]
    pub fn build_id(&self) -> Option<(String, bool)> {
        let mut parts = self.0.name.strip_prefix(BUILD_IDS)?.split('/');
        let id = [parts.next()?, parts.next()?].concat();
        Some((id, parts.next()? == "debug"))
    }

    /// Returns true if these are its bytes.
    #[must_use]
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        if bytes.len() as u64 != self.0.size {
            return false;
        }
        let mut hasher = Hasher::default();
        hasher.add(bytes);
        hasher.finish() == self.0.sha256
    }
}
