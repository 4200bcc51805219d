//! Counted resources, and the default limits of input.

use std::fmt;

/// Memory or work that input can cause. "Relative to" names the bytes that the limit depends on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(usize)]
pub enum Resource {
    /// Unpacked bytes, relative to the packed ones: sections, `.gnu_debugdata`, kernel modules, archives, records.
    UnpackedBytes,
    /// Bytes of symbol lookup tables: of names, relative to the symbol tables and their strings.
    NameBytes,
    /// Bytes of readable names, relative to the names in files. Those of real programs are 2 to 4 times as large.
    ReadableBytes,
    /// Visited entries of debug information, relative to its sections.
    DebugEntries,
    /// Decoded bytes of abbreviations, relative to `.debug_abbrev`. Tables without overlap have its size.
    Abbreviations,
    /// Address ranges that are read, relative to the sections of debug information.
    AddressRanges,
    /// Executed bytes of line tables, relative to `.debug_line`; tables without overlap have its size.
    /// Also steps through the tables of Go functions, relative to the file.
    LineRows,
    /// Executed CFI instructions and entries that are read, relative to their section.
    /// Also steps through the frame sizes of Go functions that have many, relative to the file.
    FrameInstructions,
    /// Decoded instructions of code without CFI, plus 16 for each branch, relative to the file.
    /// Each thread of a run has its own limit.
    CodeInstructions,
    /// Bytes of unwind rules that are not simple, relative to the file.
    RuleBytes,
    /// Applied relocations, relative to the file.
    Relocations,
    /// Examined records of jitdump files, relative to the file.
    JitRecords,
    /// Unpacked bytes of a recording's packed records, relative to these. Stacks of programs compress 6 to 30 to 1.
    RecordBytes,
    /// Records in packed records, relative to an eighth of their bytes:
    /// a record never packs to less than its time and position.
    PackedRecords,
    /// Bytes of files in memory in the whole run, independent of input size:
    /// unpacked, assembled, made of JIT code dumps, or read as lists.
    HeldInAll,
    /// Steps of a reader's loops, relative to its input: visited table entries, searched bytes, JSON values.
    Steps,
    /// Bytes that a reader holds in tables, relative to its input.
    HeldBytes,
    /// Bytes of a bundle's manifest, relative to the bundle.
    ManifestBytes,
    /// JSON values of the manifest, relative to the bundle.
    ManifestValues,
    /// Bytes of a bundle's files, held in memory, relative to the bundle.
    BundleBytes,
    /// Bytes stated by a file's segments and sections, plus a fixed amount for each, relative to the file.
    /// Those of real files do not overlap: they have its size.
    StatedBytes,
}

/// Limit of a resource: `base + per_byte * input bytes`, at most `most`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Amount for input of any size.
    pub base: u64,
    /// Amount per byte of input.
    pub per_byte: u64,
    /// Maximum.
    pub most: u64,
}

impl Limit {
    /// Returns the limit for input of that size.
    #[must_use]
    pub const fn of(self, input_bytes: u64) -> u64 {
        let Self { base, per_byte, most } = self;
        let limit = base.saturating_add(per_byte.saturating_mul(input_bytes));
        if limit < most { limit } else { most }
    }
}

impl Resource {
    /// All resources, in the order of their numbers.
    pub const ALL: [Self; 21] = [
        Self::UnpackedBytes,
        Self::NameBytes,
        Self::ReadableBytes,
        Self::DebugEntries,
        Self::Abbreviations,
        Self::AddressRanges,
        Self::LineRows,
        Self::FrameInstructions,
        Self::CodeInstructions,
        Self::RuleBytes,
        Self::Relocations,
        Self::JitRecords,
        Self::RecordBytes,
        Self::PackedRecords,
        Self::HeldInAll,
        Self::Steps,
        Self::HeldBytes,
        Self::ManifestBytes,
        Self::ManifestValues,
        Self::BundleBytes,
        Self::StatedBytes,
    ];

    /// Returns the default limit: several times the use of real files.
    /// Source: docs/SECURITY.md, "Budgets", has the use of real files.
    #[must_use]
    pub const fn default_limit(self) -> Limit {
        const UNLIMITED: u64 = u64::MAX;
        let (base, per_byte, most) = match self {
            Self::UnpackedBytes => (1 << 20, 64, 32 << 30),
            Self::NameBytes => (1 << 22, 4, UNLIMITED),
            Self::ReadableBytes => (64 << 20, 16, UNLIMITED),
            Self::DebugEntries => (1 << 16, 2, UNLIMITED),
            Self::Abbreviations | Self::LineRows | Self::AddressRanges => (1 << 16, 1, UNLIMITED),
            Self::FrameInstructions => (1 << 20, 16, UNLIMITED),
            Self::CodeInstructions => (1 << 24, 2, UNLIMITED),
            Self::RuleBytes => (1 << 20, 4, UNLIMITED),
            Self::Relocations => (1 << 12, 1, UNLIMITED),
            Self::JitRecords => (1 << 16, 1, UNLIMITED),
            Self::RecordBytes => (512 << 20, 64, UNLIMITED),
            Self::PackedRecords => (1 << 20, 1, UNLIMITED),
            Self::HeldInAll => (64 << 30, 0, 64 << 30),
            Self::Steps => (1 << 20, 4, UNLIMITED),
            Self::HeldBytes => (1 << 20, 16, UNLIMITED),
            Self::ManifestBytes => (1 << 20, 16, 64 << 20),
            Self::ManifestValues => (1 << 18, 1, 1 << 21),
            Self::BundleBytes => (64 << 20, 64, UNLIMITED),
            Self::StatedBytes => (1 << 22, 4, UNLIMITED),
        };
        Limit { base, per_byte, most }
    }
}

impl fmt::Display for Resource {
    /// Formats the resource in the plural: `entries of debug information`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnpackedBytes => "unpacked bytes",
            Self::NameBytes => "bytes of names",
            Self::ReadableBytes => "bytes of readable names",
            Self::DebugEntries => "entries of debug information",
            Self::Abbreviations => "bytes of abbreviations",
            Self::AddressRanges => "address ranges",
            Self::LineRows => "bytes of line tables",
            Self::FrameInstructions => "instructions of call frame information",
            Self::CodeInstructions => "instructions of code",
            Self::RuleBytes => "bytes of unwind rules",
            Self::Relocations => "relocations",
            Self::JitRecords => "jitdump records",
            Self::RecordBytes => "bytes of unpacked records",
            Self::PackedRecords => "packed records",
            Self::HeldInAll => "bytes of files in memory",
            Self::Steps => "steps through its tables",
            Self::HeldBytes => "bytes held of it",
            Self::ManifestBytes => "bytes of its manifest",
            Self::ManifestValues => "values of its manifest",
            Self::BundleBytes => "bytes of its files",
            Self::StatedBytes => "bytes stated by its headers",
        })
    }
}
