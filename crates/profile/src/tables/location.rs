//! Distinct looked-up addresses, and the functions at each of them.

use std::ops::Range;

use address::{Avma, FileOffset, ModuleId, Svma};

use crate::id::{InlineId, StringId};
use crate::tables::module::ModuleKind;

/// A distinct looked-up address of a module. It exists before its names are known: the replay makes an
/// [unnamed](Self::unnamed) one, and the symbolizer fills in the rest in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocationRow {
    /// The module; `None` where nothing was mapped, and where its ELF file was opened and no segment has the address.
    pub module: Option<ModuleId>,
    /// The looked-up address (of callers: return address - 1) in the space that the kind of the module decides:
    /// stated address, offset in the file, or address in the process or the kernel. [`Self::address`] says which.
    pub relative: u64,
    /// The offset in the module's file, where it has one.
    pub offset: Option<u64>,
    /// How far the address is past the start of the outermost function (the one that is not inlined), where that start
    /// is known.
    pub function_offset: Option<u64>,
    /// First row of [`Profile::inlines`](crate::Profile::inlines); innermost function first, the one that is not
    /// inlined last.
    pub first_inline: InlineId,
    /// Number of rows; 0 where nothing is known about the address.
    pub n_inlines: u32,
    /// Any place of the function that begins at the address, of which nothing more is known: it has no line and no
    /// inlined functions.
    pub is_whole: bool,
}

/// The address of a location, in its space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocationAddress {
    /// As the module's ELF file states it.
    Svma(Svma),
    /// An offset in the module's file.
    FileOffset(FileOffset),
    /// In the process or in the kernel: nothing is added to it.
    Avma(Avma),
}

impl LocationRow {
    /// A location of which only the place is known.
    #[must_use]
    pub const fn unnamed(module: Option<ModuleId>, relative: u64) -> Self {
        Self {
            module,
            relative,
            offset: None,
            function_offset: None,
            first_inline: InlineId::new(0),
            n_inlines: 0,
            is_whole: false,
        }
    }

    /// The address in its space; `kind` is that of [`Self::module`].
    #[must_use]
    pub const fn address(&self, kind: Option<ModuleKind>) -> LocationAddress {
        match kind {
            Some(ModuleKind::Elf) => LocationAddress::Svma(Svma(self.relative)),
            Some(ModuleKind::File) => LocationAddress::FileOffset(FileOffset(self.relative)),
            Some(ModuleKind::Anonymous | ModuleKind::Kernel) | None => {
                LocationAddress::Avma(Avma(self.relative))
            }
        }
    }

    /// Its rows of [`Profile::inlines`](crate::Profile::inlines).
    #[inline]
    #[must_use]
    pub const fn inlines(&self) -> Range<usize> {
        let start = self.first_inline.index();
        start..start.saturating_add(self.n_inlines as usize)
    }
}

/// One function at a location: the innermost is the deepest inlined one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineRow {
    /// Demangled name.
    pub function: Option<StringId>,
    /// Source file.
    pub file: Option<StringId>,
    /// Line in it, from 1; 0 where unknown.
    pub line: u32,
    /// Column in it, from 1; 0 where unknown.
    pub column: u32,
    /// Whether this function was inlined into the next row of the same location.
    pub inlined: bool,
    /// Source file of the function's declaration as debug information states it; lines of a function may come from
    /// other files (`#include` in a body, `#line`).
    pub declared_file: Option<StringId>,
    /// Line of the declaration, from 1; 0 if unknown.
    pub declared_line: u32,
}

impl InlineRow {
    /// A function of which nothing is known, not even its name.
    pub const NAMELESS: Self = Self {
        function: None,
        file: None,
        line: 0,
        column: 0,
        inlined: false,
        declared_file: None,
        declared_line: 0,
    };

    /// A function that is not inlined, of which the name is known.
    #[must_use]
    pub const fn named(function: StringId) -> Self {
        Self { function: Some(function), ..Self::NAMELESS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_the_module_decides_the_space() {
        let location = LocationRow::unnamed(Some(ModuleId(3)), 0x1760);
        for (kind, address) in [
            (Some(ModuleKind::Elf), LocationAddress::Svma(Svma(0x1760))),
            (Some(ModuleKind::File), LocationAddress::FileOffset(FileOffset(0x1760))),
            (Some(ModuleKind::Anonymous), LocationAddress::Avma(Avma(0x1760))),
            (Some(ModuleKind::Kernel), LocationAddress::Avma(Avma(0x1760))),
            (None, LocationAddress::Avma(Avma(0x1760))),
        ] {
            assert_eq!(location.address(kind), address);
        }
        assert_eq!(location.inlines(), 0..0);
    }

    #[test]
    fn rows_are_small() {
        assert_eq!(size_of::<LocationRow>(), 64);
        assert_eq!(size_of::<InlineRow>(), 28);
    }
}
