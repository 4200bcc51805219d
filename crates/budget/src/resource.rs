//! What is counted, and how much of it input may use.

use std::fmt;

/// Something that input makes grow: memory or work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(usize)]
pub enum Resource {
    /// Bytes that packed bytes become, of the packed ones: sections, `.gnu_debugdata`, kernel modules, archives, records.
    UnpackedBytes,
    /// Bytes of tables made to look up symbols: names, of the symbol tables and their strings.
    NameBytes,
    /// Bytes of names in the form that people read, of the names in files. Those of real programs have 2 to 4 times as
    /// many.
    ReadableBytes,
    /// Entries of debug information that are visited, of its sections.
    DebugEntries,
    /// Bytes of abbreviations that are decoded, of `.debug_abbrev`. Tables that do not overlap take its size.
    Abbreviations,
    /// Ranges of addresses that are read, of the sections of debug information.
    AddressRanges,
    /// Bytes of line tables that are run, of `.debug_line`; steps through the tables of Go functions, of the file. Tables
    /// that do not overlap take its size.
    LineRows,
    /// Instructions of call frame information that are run, and entries of it that are read, of its section; steps through
    /// the frame sizes of Go functions that have many, of the file.
    FrameInstructions,
    /// Instructions of code that are followed where it has no call frame information, and 16 for each branch, of the file,
    /// by each thread of a run.
    CodeInstructions,
    /// Bytes of unwind rules that are no simple ones, of the file.
    RuleBytes,
    /// Relocations that are applied, of the file.
    Relocations,
    /// Records of jitdump files that are looked at, of the file.
    JitRecords,
    /// Bytes of records that the packed records of a recording become, of those. Stacks of programs pack 6 to 30 to 1.
    RecordBytes,
    /// Records in packed records, of an eighth of the bytes of those: no record packs to less than its time and place.
    PackedRecords,
    /// Bytes of files that a run has in memory in all, of whatever size its input is: unpacked, laid out, made of dumps of
    /// JIT code, or read as lists.
    HeldInAll,
    /// Steps of a reader's loops, of its input: table entries that are looked at, bytes that are searched, JSON values.
    Steps,
    /// Bytes that a reader holds in tables, of its input.
    HeldBytes,
    /// Bytes of the list of contents of a bundle, of the bundle.
    ManifestBytes,
    /// JSON values of that list, of the bundle.
    ManifestValues,
    /// Bytes of the files of a bundle, which are held, of the bundle.
    BundleBytes,
    /// Bytes of a file that its segments state, and its sections, each with a fixed amount beside them. Those of real
    /// files do not overlap: they take its size.
    StatedBytes,
}

/// How much of a resource input may use: so much in any case, so much more for each of its bytes, and never more than
/// the most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// For input of any size.
    pub base: u64,
    /// For each byte of it.
    pub per_byte: u64,
    /// For all of it.
    pub most: u64,
}

impl Limit {
    /// What input of so many bytes may use.
    #[must_use]
    pub const fn of(self, input_bytes: u64) -> u64 {
        let Self { base, per_byte, most } = self;
        let limit = base.saturating_add(per_byte.saturating_mul(input_bytes));
        if limit < most { limit } else { most }
    }
}

impl Resource {
    /// All of them, in the order of their numbers.
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

    /// What input may use of it unless a run says otherwise: several times what real files use.
    /// Source: docs/SECURITY.md, "Budgets", has what real files use.
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
    /// What it is, in the plural: `entries of debug information`.
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
