//! Access to the program that contains a table.

use std::ops::Range;

/// An ELF file. Addresses are file addresses.
pub trait Program: Sync {
    /// All bytes of the file.
    fn bytes(&self) -> &[u8];

    /// Returns true if its numbers are little-endian.
    fn is_little_endian(&self) -> bool;

    /// Returns the section with a name.
    fn section(&self, name: &str) -> Option<ProgramSection>;

    /// Returns its segments of type `PT_LOAD`.
    fn segments(&self) -> Vec<ProgramSegment>;

    /// Returns the words that the dynamic loader fills with addresses of this file: the address of each word and the
    /// address that it gets, sorted by word.
    fn relative_words(&self) -> Vec<(u64, u64)>;

    /// Returns the bytes at an address, if no instruction of the program can change them.
    fn read_only_bytes(&self, address: u64, len: usize) -> Option<&[u8]>;
}

/// A section of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramSection {
    /// Address of its first byte.
    pub address: u64,
    /// File offsets of its bytes; `None` if they are compressed or truncated.
    pub bytes: Option<Range<usize>>,
}

/// A mapped segment of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramSegment {
    /// Address of its first byte.
    pub address: u64,
    /// File offset of its first byte.
    pub offset: u64,
    /// Size in the file, in bytes.
    pub file_size: u64,
    /// True if it is mapped as code.
    pub is_executable: bool,
    /// True if the program can write to it.
    pub is_writable: bool,
}

impl ProgramSegment {
    /// Returns the offset of an address in the segment, if the file has the byte.
    pub(crate) fn holds(&self, address: u64) -> Option<u64> {
        let within = address.wrapping_sub(self.address);
        (within < self.file_size).then_some(within)
    }
}
