//! View of a file without its unreadable section headers. The loader ignores them, too, and packers write invalid ones.

use std::ops::Range;

use object::ReadRef;

/// Bytes of a file with a header that states no section headers.
#[derive(Clone, Copy)]
pub(in crate::elf) struct Unsectioned<'f> {
    header: &'f [u8],
    bytes: &'f [u8],
}

/// Returns the header of a file with its references to section headers removed; `None` if it is not an ELF header.
///
/// Source: gABI, "ELF Header": `e_shoff`, `e_shnum`, `e_shstrndx` of both classes.
pub(in crate::elf) fn header_without_sections(bytes: &[u8]) -> Option<Vec<u8>> {
    const CLASS_64: u8 = 2;
    let is_wide = *bytes.get(4)? == CLASS_64;
    let (size, table, numbers) =
        if is_wide { (64, 0x28..0x30, 0x3c..0x40) } else { (52, 0x20..0x24, 0x30..0x34) };
    let mut header = bytes.get(..size)?.to_vec();
    for place in [table, numbers] {
        header.get_mut(place)?.fill(0);
    }
    header.starts_with(b"\x7fELF").then_some(header)
}

impl<'f> Unsectioned<'f> {
    /// Creates a view of the file with another header.
    pub(in crate::elf) const fn new(header: &'f [u8], bytes: &'f [u8]) -> Self {
        Self { header, bytes }
    }
}

impl<'f> ReadRef<'f> for Unsectioned<'f> {
    fn len(self) -> Result<u64, ()> {
        ReadRef::len(self.bytes)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'f [u8], ()> {
        let header = offset == 0 && size <= self.header.len() as u64;
        (if header { self.header } else { self.bytes }).read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'f [u8], ()> {
        self.bytes.read_bytes_at_until(range, delimiter)
    }
}
