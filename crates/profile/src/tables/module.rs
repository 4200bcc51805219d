//! Mapped modules: files, the kernel, and memory without a file.

use address::BuildId;

use crate::encoding::{encoding, enum_encoding};
use crate::id::StringId;

/// Kind of a module, which determines the address space of its locations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleKind {
    /// An opened ELF file: addresses are stated addresses (svma).
    Elf,
    /// A file that was not opened or is not an ELF file: addresses are file offsets.
    File,
    /// Memory without a file (`//anon`, `[heap]`, JIT): addresses are those in the process.
    Anonymous,
    /// The kernel or one of its modules: addresses are those in the kernel.
    Kernel,
}

impl ModuleKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: &[Self] = &[Self::Elf, Self::File, Self::Anonymous, Self::Kernel];

    /// Keyword in output formats. Keywords are part of the interface: they do not change.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Elf => "elf",
            Self::File => "file",
            Self::Anonymous => "anonymous",
            Self::Kernel => "kernel",
        }
    }
}

enum_encoding! { ModuleKind }

/// A mapped module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleRow {
    /// Recorded path, or a name in brackets.
    pub path: StringId,
    /// File that was opened for it, if any.
    pub opened: Option<StringId>,
    /// Recorded build-id; if there is none, that of the opened file.
    pub build_id: Option<BuildId>,
    /// Kind of the module.
    pub kind: ModuleKind,
}

encoding! { ModuleRow {
    path: StringId,
    opened: Option<StringId>,
    build_id: Option<BuildId>,
    kind: ModuleKind,
} }
