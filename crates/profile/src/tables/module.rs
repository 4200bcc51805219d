//! What was mapped: files, the kernel, memory without a file.

use address::BuildId;

use crate::id::StringId;

/// What kind of thing a module is; decides in which space the addresses of its locations are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleKind {
    /// An ELF file that was opened: addresses are those that the file states (svma).
    Elf,
    /// A file that was not opened or is no ELF file: addresses are offsets in the file.
    File,
    /// Memory without a file (`//anon`, `[heap]`, JIT): addresses are those in the process.
    Anonymous,
    /// The kernel or one of its modules: addresses are those in the kernel.
    Kernel,
}

impl ModuleKind {
    /// Every kind, in the order of their discriminants.
    pub const ALL: &[Self] = &[Self::Elf, Self::File, Self::Anonymous, Self::Kernel];

    /// The word in output formats. These are interface: they do not change.
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

/// Something that was mapped.
#[derive(Debug, Clone)]
pub struct ModuleRow {
    /// The path as recorded, or a name in brackets.
    pub path: StringId,
    /// The file that was opened for it, if any.
    pub opened: Option<StringId>,
    /// The recorded build-id; without one, that of the opened file.
    pub build_id: Option<BuildId>,
    /// What it is.
    pub kind: ModuleKind,
}
