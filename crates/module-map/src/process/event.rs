//! A map record, as far as the timeline needs it.

use address::{Avma, FileOffset, Pid};

use crate::module::FileIdentity;

/// A mapping that came into being.
#[derive(Clone, Copy, Debug)]
pub struct MapEvent<'a> {
    /// The process; ignored for the kernel.
    pub pid: Pid,
    /// Whether it is a map of the kernel: `[kernel.kallsyms]`, a module, BPF code.
    pub kernel: bool,
    /// The first address.
    pub start: Avma,
    /// Bytes mapped. Zero maps nothing; what passes the end of the address space is cut.
    pub len: u64,
    /// The offset in the file of the first byte.
    pub offset: FileOffset,
    /// Whether it is executable.
    pub executable: bool,
    /// Whether it is writable.
    pub writable: bool,
    /// The file's path or the kernel's name for the memory.
    pub path: &'a [u8],
    /// Which file it is.
    pub identity: FileIdentity,
}

/// What a map record says that is mapped, as it stands there. The same bytes are the same file, so what they stand for is
/// found again without reading them.
#[derive(Clone, Copy, Debug)]
pub struct RecordedName<'a> {
    /// Whether the identity is of the one kind or the other.
    pub kind: bool,
    /// The identity of the file.
    pub identity: &'a [u8; 24],
    /// The path, with all that is behind it.
    pub path: &'a [u8],
}

/// The end of a mapping, cut at the end of the address space; `None` where it is empty.
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
