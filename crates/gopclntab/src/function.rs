//! What the table knows of a function.
//!
//! Source: `_func` in src/runtime/runtime2.go, `funcFlag` and the numbers of tables in src/internal/abi/symtab.go of Go.

use crate::bytes::{string_at, u32_at};
use crate::layout::Version;
use crate::parts::Parts;
use crate::values::GoValues;

/// A function of Go code, or of assembly that Go's linker linked.
#[derive(Clone, Copy, Debug)]
pub struct GoFunction<'i> {
    pub(crate) of: Parts<'i>,
    /// What is known of it begins there.
    pub(crate) record: usize,
    /// The address of its first byte.
    pub start: u64,
    /// The address of the first byte that is not its own.
    pub end: u64,
}

/// What a table of values says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoValueKind {
    /// Bytes between the return address and the stack pointer.
    FrameSize,
    /// The file, for [`GoFunction::file`].
    File,
    /// The line.
    Line,
    /// The innermost inlined call, for [`GoFunction::inlined_call`].
    InlinedCall,
}

/// Which of the tables that only some functions have is that of inlined calls.
const INLINED_CALLS: u32 = 2;

impl<'i> GoFunction<'i> {
    /// Where fields are that stand behind the address, whose size differs; and behind the first line, which not all have.
    const fn field(&self, at: usize) -> usize {
        let address = match self.of.layout.version {
            Version::Go116 => 4,
            Version::Go118 | Version::Go120 => 0,
        };
        self.record.wrapping_add(at).wrapping_add(address)
    }

    const fn behind_line(&self, at: usize) -> usize {
        let line = match self.of.layout.version {
            Version::Go120 => 4,
            Version::Go116 | Version::Go118 => 0,
        };
        self.field(at).wrapping_add(line)
    }

    fn number(&self, at: usize) -> Option<u32> {
        u32_at(self.of.bytes, self.field(at))
    }

    /// Its name with its package, as Go writes it.
    #[must_use]
    pub fn name(&self) -> Option<&'i [u8]> {
        self.of.name(self.number(4)?).filter(|name| !name.is_empty())
    }

    /// Whether that is its name: where all functions are asked, this is the quicker question.
    #[must_use]
    pub fn is_named(&self, name: &[u8]) -> bool {
        self.number(4).is_some_and(|offset| self.of.is_name(offset, name))
    }

    /// Whether the runtime's own walks end with it: nothing called it that it could return to.
    #[must_use]
    pub fn is_top_frame(&self) -> bool {
        self.flags() & 1 != 0
    }

    /// Whether it sets the stack pointer to something that its frame sizes do not say, as functions do that go on on another
    /// stack.
    #[must_use]
    pub fn writes_sp(&self) -> bool {
        self.flags() & 2 != 0
    }

    /// Whether it was written in assembly, so that it keeps registers where it likes to.
    #[must_use]
    pub fn is_assembly(&self) -> bool {
        self.flags() & 4 != 0
    }

    fn flags(&self) -> u8 {
        self.of.bytes.get(self.behind_line(37)).copied().unwrap_or(0)
    }

    /// The values of a kind, piece by piece. None where it has no such table.
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

    /// Where one of the tables is that only some functions have.
    fn further_table(&self, index: u32) -> Option<u32> {
        let count = self.number(28)?;
        let at = self.behind_line(40).checked_add(4 * index as usize)?;
        u32_at(self.of.bytes, at).filter(|_| index < count)
    }

    /// The name of a file by its number in the function's unit.
    #[must_use]
    pub fn file(&self, number: i32) -> Option<&'i [u8]> {
        let index = self.number(32)?.checked_add(u32::try_from(number).ok()?)?;
        let at = self.of.layout.units.checked_add(usize::try_from(index).ok()?.checked_mul(4)?)?;
        let offset = usize::try_from(u32_at(self.of.bytes, at)?).ok()?;
        let at = self.of.layout.files.checked_add(offset)?;
        string_at(self.of.bytes, at).filter(|name| !name.is_empty())
    }

    /// What an inlined call calls, by its number in the function's tree of them, and where the call is in the function that
    /// it stands in, as bytes from this function's first.
    #[must_use]
    pub fn inlined_call(&self, number: i32) -> Option<GoInlinedCall<'i>> {
        const TREE: usize = 3;
        let tables = self.number(28)?;
        let count = *self.of.bytes.get(self.behind_line(39))?;
        let at = usize::try_from(tables).ok()?.checked_add(TREE)?.checked_mul(4)?;
        let offset = u32_at(self.of.bytes, self.behind_line(40).checked_add(at)?)
            .filter(|&offset| TREE < usize::from(count) && offset != u32::MAX)?;
        let (size, name, place) = match self.of.layout.version {
            Version::Go116 => return None,
            Version::Go118 => (20, 12, 16),
            Version::Go120 => (16, 4, 8),
        };
        let at = usize::try_from(number).ok()?.checked_mul(size)?;
        let at = at.checked_add(usize::try_from(offset).ok()?)?;
        let tree = self.of.inlined_calls.get(at..)?.get(..size)?;
        let place = u64::from(u32_at(tree, place)?);
        let name = self.of.name(u32_at(tree, name)?).filter(|name| !name.is_empty())?;
        (place < self.end.wrapping_sub(self.start)).then_some(GoInlinedCall { name, place })
    }
}

/// A call that was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoInlinedCall<'i> {
    /// What it calls.
    pub name: &'i [u8],
    /// An instruction whose line is that of the call, as bytes from the function's first.
    pub place: u64,
}
