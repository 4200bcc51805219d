//! The fields of a map record that the timeline needs.

use address::{Avma, FileOffset, Pid};

use crate::module::FileIdentity;

/// A new mapping.
#[derive(Clone, Copy, Debug)]
pub struct MapEvent<'a> {
    /// Process; ignored for kernel maps.
    pub pid: Pid,
    /// True for a kernel map: `[kernel.kallsyms]`, a module, BPF code.
    pub kernel: bool,
    /// First address.
    pub start: Avma,
    /// Length in bytes. Zero maps nothing; the range is truncated at the end of the address space.
    pub len: u64,
    /// File offset of the first byte.
    pub offset: FileOffset,
    /// True if it is executable.
    pub executable: bool,
    /// True if it is writable.
    pub writable: bool,
    /// Path of the file, or the kernel's name for the memory.
    pub path: &'a [u8],
    /// Identity of the file.
    pub identity: FileIdentity,
}

/// The undecoded name of a mapping in a map record. Equal bytes mean the same file, so decoding can be skipped.
#[derive(Clone, Copy, Debug)]
pub struct RecordedName<'a> {
    /// True if the identity is a build-id, false if it is device and inode.
    pub kind: bool,
    /// Identity of the file.
    pub identity: &'a [u8; 24],
    /// Path with the record's padding.
    pub path: &'a [u8],
}

/// Returns the end of a mapping, at most the end of the address space; `None` if it is empty.
pub(super) fn end_of(start: Avma, len: u64) -> Option<Avma> {
    let end = Avma(start.0.saturating_add(len));
    (start < end).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_stay_in_the_address_space() {
        assert_eq!(end_of(Avma(0x1000), 0x20), Some(Avma(0x1020)));
        assert_eq!(end_of(Avma(0x1000), u64::MAX), Some(Avma(u64::MAX)));
        assert_eq!(end_of(Avma(0x1000), 0), None);
        assert_eq!(end_of(Avma(u64::MAX), 1), None);
    }
}
