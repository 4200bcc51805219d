//! A function and its data in the table.
//!
//! Source: `_func` in src/runtime/runtime2.go, `funcFlag` and the numbers of tables in src/internal/abi/symtab.go of Go.

use crate::bytes::{string_at, u32_at};
use crate::layout::Version;
use crate::table_data::TableData;
use crate::values::GoValues;

/// A function of Go code, or of assembly that Go's linker linked.
#[derive(Clone, Copy, Debug)]
pub struct GoFunction<'i> {
    pub(crate) of: TableData<'i>,
    /// Offset of its record in the table.
    pub(crate) record: usize,
    /// Address of its first byte.
    pub start: u64,
    /// Address past its last byte.
    pub end: u64,
}

/// Kind of values in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoValueKind {
    /// Bytes between the return address and the stack pointer.
    FrameSize,
    /// Number of the file, for [`GoFunction::file`].
    File,
    /// Line number.
    Line,
    /// Number of the innermost inlined call, for [`GoFunction::inlined_call`].
    InlinedCall,
}

/// Index of the table of inlined calls among the optional tables.
const INLINED_CALLS: u32 = 2;

impl<'i> GoFunction<'i> {
    /// Returns the offset of a field after the address, which has a different size in each version. `field_after_line` is
    /// for fields after the first line, which not all versions have.
    const fn field(&self, at: usize) -> usize {
        let address = match self.of.layout.version {
            Version::Go116 => 4,
            Version::Go118 | Version::Go120 => 0,
        };
        self.record.wrapping_add(at).wrapping_add(address)
    }

    const fn field_after_line(&self, at: usize) -> usize {
        let line = match self.of.layout.version {
            Version::Go120 => 4,
            Version::Go116 | Version::Go118 => 0,
        };
        self.field(at).wrapping_add(line)
    }

    fn number(&self, at: usize) -> Option<u32> {
        u32_at(self.of.bytes, self.field(at))
    }

    /// Returns its name with its package, as Go writes it.
    #[must_use]
    pub fn name(&self) -> Option<&'i [u8]> {
        self.of.name(self.number(4)?).filter(|name| !name.is_empty())
    }

    /// Returns true if it has this name. For a search through all functions this is faster than [`Self::name`].
    #[must_use]
    pub fn is_named(&self, name: &[u8]) -> bool {
        self.number(4).is_some_and(|offset| self.of.is_name(offset, name))
    }

    /// Returns true if the runtime's own stack walks end with it, because it has no caller.
    #[must_use]
    pub fn is_top_frame(&self) -> bool {
        self.flags() & 1 != 0
    }

    /// Returns true if it sets the stack pointer to a value that its frame sizes do not state, like functions that
    /// switch stacks.
    #[must_use]
    pub fn writes_sp(&self) -> bool {
        self.flags() & 2 != 0
    }

    /// Returns true if it was written in assembly, so that it may save registers at any location.
    #[must_use]
    pub fn is_assembly(&self) -> bool {
        self.flags() & 4 != 0
    }

    fn flags(&self) -> u8 {
        self.of.bytes.get(self.field_after_line(37)).copied().unwrap_or(0)
    }

    /// Returns the values of a kind, by piece of code; empty if the function has no such table.
    #[must_use]
    pub fn values(&self, kind: GoValueKind) -> GoValues<'i> {
        let offset = match kind {
            GoValueKind::FrameSize => self.number(16),
            GoValueKind::File => self.number(20),
            GoValueKind::Line => self.number(24),
            GoValueKind::InlinedCall => self.further_table(INLINED_CALLS),
        };
        let layout = &self.of.layout;
        let bytes = offset.filter(|&offset| offset != 0).and_then(|offset| {
            let at = layout.values.checked_add(usize::try_from(offset).ok()?)?;
            self.of.bytes.get(at..)
        });
        GoValues::new(bytes.unwrap_or_default(), layout.quantum)
    }

    /// Returns the offset of an optional table.
    fn further_table(&self, index: u32) -> Option<u32> {
        let count = self.number(28)?;
        let at = self.field_after_line(40).checked_add(4 * index as usize)?;
        u32_at(self.of.bytes, at).filter(|_| index < count)
    }

    /// Returns the name of a file by its number in the function's unit.
    #[must_use]
    pub fn file(&self, number: i32) -> Option<&'i [u8]> {
        let index = self.number(32)?.checked_add(u32::try_from(number).ok()?)?;
        let at = self.of.layout.units.checked_add(usize::try_from(index).ok()?.checked_mul(4)?)?;
        let offset = usize::try_from(u32_at(self.of.bytes, at)?).ok()?;
        let at = self.of.layout.files.checked_add(offset)?;
        string_at(self.of.bytes, at).filter(|name| !name.is_empty())
    }

    /// Returns an inlined call by its number in the function's tree: the callee, and the position of the call in its
    /// enclosing function, as an offset from this function's first byte.
    #[must_use]
    pub fn inlined_call(&self, number: i32) -> Option<GoInlinedCall<'i>> {
        const TREE: usize = 3;
        let tables = self.number(28)?;
        let count = *self.of.bytes.get(self.field_after_line(39))?;
        let at = usize::try_from(tables).ok()?.checked_add(TREE)?.checked_mul(4)?;
        let offset = u32_at(self.of.bytes, self.field_after_line(40).checked_add(at)?)
            .filter(|&offset| TREE < usize::from(count) && offset != u32::MAX)?;
        let (size, name, position) = match self.of.layout.version {
            Version::Go116 => return None,
            Version::Go118 => (20, 12, 16),
            Version::Go120 => (16, 4, 8),
        };
        let at = usize::try_from(number).ok()?.checked_mul(size)?;
        let at = at.checked_add(usize::try_from(offset).ok()?)?;
        let tree = self.of.inlined_calls.get(at..)?.get(..size)?;
        let position = u64::from(u32_at(tree, position)?);
        let name = self.of.name(u32_at(tree, name)?).filter(|name| !name.is_empty())?;
        (position < self.end.wrapping_sub(self.start)).then_some(GoInlinedCall { name, position })
    }
}

/// An inlined call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoInlinedCall<'i> {
    /// Name of the callee.
    pub name: &'i [u8],
    /// Offset of an instruction with the line of the call, from the function's first byte.
    pub position: u64,
}
