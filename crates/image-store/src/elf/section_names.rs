//! Detection of overwritten section names: a section without its name is not found, and its
//! content would be missing silently.

use object::read::elf::{ElfFile, FileHeader, SectionHeader as _};
use object::{Object as _, ObjectSection as _, ReadRef, SectionIndex};

/// Maximum number of bytes of a name table that are examined. Names in real files take a few hundred bytes; in
/// relocatable files the table also has the names of symbols, after those of sections.
const LOOKED_AT: usize = 1 << 20;

/// Returns true if the table contradicts itself or the section headers.
pub(super) fn are_damaged<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> bool {
    match file {
        object::File::Elf32(file) => are_damaged_in(file),
        object::File::Elf64(file) => are_damaged_in(file),
        _ => false,
    }
}

fn are_damaged_in<'d, Elf: FileHeader, R: ReadRef<'d>>(file: &ElfFile<'d, Elf, R>) -> bool {
    let endian = file.endian();
    let table = SectionIndex(file.elf_header().e_shstrndx(endian).0.into());
    let Some(names) = file.section_by_index(table).ok().and_then(|section| section.data().ok())
    else {
        return false;
    };
    let starts = file.elf_section_table().iter().map(|header| header.sh_name(endian));
    contradict(names, starts)
}

/// Returns true if a section has an empty name other than at the start of the table, or two zeros are
/// adjacent before the last name. Linkers write neither.
fn contradict(names: &[u8], mut starts: impl Iterator<Item = u32>) -> bool {
    let names = names.get(..LOOKED_AT).unwrap_or(names);
    let is_empty = |start: u32| start != 0 && names.get(start as usize) == Some(&0);
    let end = names.iter().rposition(|&byte| byte != 0).unwrap_or(0);
    let used = names.get(..end).unwrap_or_default();
    starts.any(is_empty) || used.windows(2).any(|pair| pair == [0, 0])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use budget::Budget;
    use host::Content;

    use super::super::data::ElfData;
    use super::contradict;

    /// A file with intact section names, and the same with zeros instead of `.symtab`.
    #[test]
    fn a_file_with_overwritten_names_is_reported() {
        let path = Path::new("bfd-separate");
        let mut bytes = include_bytes!("../../testdata/layouts/bfd-separate").to_vec();
        let omitted = |bytes: &[u8]| {
            let content = Content::from(bytes.to_vec());
            let file = ElfData::parse(path, content, &Budget::default()).expect("an ELF file");
            file.omitted.into_iter().map(|it| (it.what, it.why)).collect::<Vec<_>>()
        };
        assert_eq!(omitted(&bytes), []);
        let at = bytes.windows(8).position(|window| window == b".symtab\0").expect("its name");
        bytes[at..at + 7].fill(0);
        let expected = ("the table of section names".to_owned(), "is damaged".to_owned());
        assert_eq!(omitted(&bytes), [expected]);
    }

    #[test]
    fn zeros_among_names_are_seen() {
        let starts = [0, 1, 7, 13];
        let damaged = |names: &[u8]| contradict(names, starts.into_iter());
        assert!(!damaged(b"\0.text\0.data\0.shstrtab\0"));
        assert!(!damaged(b"\0.text\0.data\0.shstrtab\0\0\0\0"));
        assert!(damaged(b"\0\0\0\0\0\0\0.data\0.shstrtab\0"));
        assert!(damaged(b"\0.text\0.d\0\0\0.shstrtab\0"));
        assert!(damaged(b"\0.text\0.data\0\0\0\0\0\0\0\0\0\0\0"));
        assert!(!damaged(b"\0"));
        assert!(!damaged(b""));
    }
}
