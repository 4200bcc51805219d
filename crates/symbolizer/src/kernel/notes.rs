//! The build-id in ELF notes, which is the running kernel's form of it.

use address::BuildId;

/// Returns the build-id in a notes section.
///
/// Source: ELF notes: name size, descriptor size, type, each of 4 bytes; name and descriptor padded to 4.
pub(super) fn build_id_of_notes(notes: &[u8]) -> Option<BuildId> {
    const NT_GNU_BUILD_ID: u32 = 3;
    let mut rest = notes;
    loop {
        let (header, body) = rest.split_first_chunk::<12>()?;
        let word = |at: usize| {
            header
                .get(at..at + 4)
                .and_then(|w| w.first_chunk::<4>())
                .map(|w| u32::from_ne_bytes(*w))
        };
        let (name_size, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let name = body.get(..name_size)?;
        let start = name_size.checked_next_multiple_of(4)?;
        let content = body.get(start..start.checked_add(size)?)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" {
            return BuildId::new(content);
        }
        rest = body.get(start.checked_add(size.checked_next_multiple_of(4)?)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_searched_for_the_build_id() {
        let note = |name: &[u8], kind: u32, content: &[u8]| {
            let sizes = [name.len() as u32, content.len() as u32, kind];
            let mut bytes: Vec<u8> = sizes.iter().flat_map(|word| word.to_ne_bytes()).collect();
            for part in [name, content] {
                bytes.extend_from_slice(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let mut notes = note(b"Linux\0", 0x100, &[1, 2, 3]);
        notes.extend(note(b"GNU\0", 3, &[0xab, 0xcd]));
        assert_eq!(build_id_of_notes(&notes).map(|id| id.to_string()).as_deref(), Some("abcd"));
        assert_eq!(build_id_of_notes(&notes[..notes.len() - 4]), None);
        assert_eq!(build_id_of_notes(&[]), None);
    }
}
