//! Distinct looked-up addresses, and the functions at each of them.

use std::ops::Range;

use address::{Avma, FileOffset, ModuleId, Svma};

use crate::encoding::encoding;
use crate::id::{InlineId, StringId};
use crate::tables::module::ModuleKind;

/// A distinct looked-up address of a module. It exists before it is symbolized: the replay creates an
/// [unnamed](Self::unnamed) one, and the symbolizer completes it in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocationRow {
    /// The module; `None` if nothing was mapped, or if no segment of its opened ELF file contains the address.
    pub module: Option<ModuleId>,
    /// The looked-up address (for callers: return address - 1). Its address space depends on the kind of the module:
    /// stated address, file offset, or address in the process or the kernel. [`Self::address`] returns it typed.
    pub relative: u64,
    /// Offset in the module's file, if the address has one.
    pub offset: Option<u64>,
    /// Offset of the address from the start of the outermost function (the one that is not inlined), if the start is
    /// known.
    pub function_offset: Option<u64>,
    /// First row of [`Profile::inlines`](crate::Profile::inlines). The innermost function comes first, the one that is
    /// not inlined last.
    pub first_inline: InlineId,
    /// Number of rows; 0 if nothing is known about the address.
    pub n_inlines: u32,
    /// Whether the location represents any address of the function that starts there. It then has neither a line nor
    /// inlined functions.
    pub is_whole: bool,
}

encoding! { LocationRow {
    module: Option<ModuleId>,
    relative: u64,
    offset: Option<u64>,
    function_offset: Option<u64>,
    first_inline: InlineId,
    n_inlines: u32,
    is_whole: bool,
} }

/// Address of a location, in its address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LocationAddress {
    /// Stated address in the module's ELF file.
    Svma(Svma),
    /// Offset in the module's file.
    FileOffset(FileOffset),
    /// Address in the process or in the kernel, without bias.
    Avma(Avma),
}

impl LocationRow {
    /// Returns a location with only its address known.
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

    /// Returns the address in its address space; `kind` is the kind of [`Self::module`].
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

    /// Range of its rows in [`Profile::inlines`](crate::Profile::inlines).
    #[inline]
    #[must_use]
    pub const fn inlines(&self) -> Range<usize> {
        let start = self.first_inline.index();
        start..start.saturating_add(self.n_inlines as usize)
    }
}

/// A function at a location. The innermost one is the most deeply inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlineRow {
    /// Demangled name.
    pub function: Option<StringId>,
    /// Source file.
    pub file: Option<StringId>,
    /// Line in the file, from 1; 0 if unknown.
    pub line: u32,
    /// Column in the line, from 1; 0 if unknown.
    pub column: u32,
    /// Whether this function was inlined into that of the next row of the location.
    pub inlined: bool,
    /// Source file of the function's declaration, from debug information. Lines of a function may be in other files
    /// (`#include` in a body, `#line`).
    pub declared_file: Option<StringId>,
    /// Line of the declaration, from 1; 0 if unknown.
    pub declared_line: u32,
}

encoding! { InlineRow {
    function: Option<StringId>,
    file: Option<StringId>,
    line: u32,
    column: u32,
    inlined: bool,
    declared_file: Option<StringId>,
    declared_line: u32,
} }

impl InlineRow {
    /// A function without any known property, not even a name.
    pub const NAMELESS: Self = Self {
        function: None,
        file: None,
        line: 0,
        column: 0,
        inlined: false,
        declared_file: None,
        declared_line: 0,
    };

    /// Returns a function that is not inlined, with only its name known.
    #[must_use]
    pub const fn with_name(function: StringId) -> Self {
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
