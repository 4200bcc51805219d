//! Contents of the sections that identify a file.

use crate::bytes::{ByteWriter, Endian};

/// Returns the content of `.note.gnu.build-id`.
///
/// Source: System V ABI, chapter 5, "Note Section"; `NT_GNU_BUILD_ID` (3) in `elf.h`.
#[must_use]
pub fn gnu_build_id_note(endian: Endian, id: &[u8]) -> Vec<u8> {
    let mut w = ByteWriter::new(endian);
    w.u32(4).u32(id.len() as u32).u32(3).bytes(b"GNU\0").bytes(id).align(4);
    w.into_bytes()
}

/// Returns the content of `.gnu_debuglink`: a file name and the CRC-32 of that file.
///
/// Source: GDB manual, "Debugging Information in Separate Files".
#[must_use]
pub fn gnu_debuglink(endian: Endian, file_name: &str, crc: u32) -> Vec<u8> {
    let mut w = ByteWriter::new(endian);
    w.c_str(file_name.as_bytes(), 4).u32(crc);
    w.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_and_link_bytes() {
        assert_eq!(
            gnu_build_id_note(Endian::Little, &[0xaa, 0xbb]),
            [4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0, 0xaa, 0xbb, 0, 0]
        );
        assert_eq!(
            gnu_debuglink(Endian::Big, "a.debug", 0x0102_0304),
            [b'a', b'.', b'd', b'e', b'b', b'u', b'g', 0, 1, 2, 3, 4]
        );
    }
}
