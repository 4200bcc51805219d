//! The program that a table is in, as far as the table depends on it.

use std::ops::Range;

/// An ELF file. Addresses are those that the file states.
pub trait Program: Sync {
    /// All bytes of the file.
    fn bytes(&self) -> &[u8];

    /// Whether its numbers are little-endian.
    fn is_little_endian(&self) -> bool;

    /// The section of a name.
    fn section(&self, name: &str) -> Option<ProgramSection>;

    /// Its segments of type `PT_LOAD`.
    fn segments(&self) -> Vec<ProgramSegment>;

    /// The words that the dynamic loader fills with addresses of this file: the address of each word, and the address that
    /// it gets; in the order of the words.
    fn relative_words(&self) -> Vec<(u64, u64)>;

    /// Bytes at an address that no instruction of the program can change.
    fn read_only_bytes(&self, address: u64, len: usize) -> Option<&[u8]>;
}

/// A section of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramSection {
    /// The address of its first byte.
    pub address: u64,
    /// Its bytes in the file; `None` if they are compressed or not all there.
    pub bytes: Option<Range<usize>>,
}

/// A segment of a program that is mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramSegment {
    /// The address of its first byte.
    pub address: u64,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// How many bytes of it are in the file.
    pub file_size: u64,
    /// Whether it is mapped as code.
    pub is_executable: bool,
    /// Whether the program can write to it.
    pub is_writable: bool,
}

impl ProgramSegment {
    /// How far behind its first byte an address is, if the file has the byte there.
    pub(crate) fn holds(&self, address: u64) -> Option<u64> {
        let within = address.wrapping_sub(self.address);
        (within < self.file_size).then_some(within)
    }
}
