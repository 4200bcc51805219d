//! The parts of a table that functions are read from.

use crate::bytes::string_at;
use crate::layout::TableLayout;
use crate::program::Program;

/// A table, and facts that are not in it.
#[derive(Clone, Copy)]
pub(crate) struct TableData<'i> {
    /// The file, for its code.
    pub(crate) program: &'i dyn Program,
    /// The table.
    pub(crate) bytes: &'i [u8],
    pub(crate) layout: TableLayout,
    /// Start of the code.
    pub(crate) text: u64,
    /// The trees of inlined calls, if they were found.
    pub(crate) inlined_calls: &'i [u8],
}

impl std::fmt::Debug for TableData<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<'i> TableData<'i> {
    /// Returns the name at an offset in the names, if a name begins there.
    pub(crate) fn name(&self, offset: u32) -> Option<&'i [u8]> {
        string_at(self.bytes, self.start_of_name(offset)?)
    }

    /// Returns true if the name at an offset equals `name`, without a search for its end.
    pub(crate) fn is_name(&self, offset: u32, name: &[u8]) -> bool {
        let at = self.start_of_name(offset);
        let rest = at.and_then(|at| self.bytes.get(at..)?.strip_prefix(name));
        rest.is_some_and(|rest| rest.first() == Some(&0))
    }

    fn start_of_name(&self, offset: u32) -> Option<usize> {
        let offset = usize::try_from(offset).ok()?;
        let at = self.layout.names.checked_add(offset)?;
        let is_start = offset == 0 || self.bytes.get(at.checked_sub(1)?) == Some(&0);
        is_start.then_some(at)
    }
}
