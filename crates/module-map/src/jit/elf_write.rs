//! Writes an ELF file around code that never was in one, so that JIT code is unwound, named and given lines by the
//! same means as any other: `.text`, `.eh_frame` with its header, `.symtab`, and a line program.
//!
//! ```text
//!   text      offset = address, from 0x1000 on
//!   eh_frame  at 0x60000000, within reach of 32-bit relative pointers from the text and to it
//! ```
//!
//! Source: gABI; LSB, "`.eh_frame_hdr`"; DWARF 4, 6.2.4 and 7.5.

use address::Svma;

use super::line_write::{LINE_ABBREVIATIONS, line_program, line_unit};
use crate::elf::ElfMachine;

/// Lines of a piece of code begin at their addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineRow<'a> {
    /// The first address of the line.
    pub address: Svma,
    /// The line, from 1.
    pub line: u32,
    /// The path of the file.
    pub file: &'a [u8],
}

/// Lines of a piece of code in a row.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) end: u64,
    /// Address, line, index of the file.
    pub(crate) rows: Vec<(u64, u32, u32)>,
}

/// Code that is collected for a file.
#[derive(Debug)]
pub struct CodeImage {
    machine: ElfMachine,
    text: Vec<u8>,
    symbols: Vec<u8>,
    strings: Vec<u8>,
    eh_frame: Vec<u8>,
    fdes: Vec<(u64, u64)>,
    files: Vec<Vec<u8>>,
    file_index: hashbrown::HashMap<Vec<u8>, u32>,
    sequences: Vec<Sequence>,
}

const TEXT: u64 = 0x1000;
const EH_FRAME: u64 = 0x6000_0000;
const SYMBOL: usize = 24;

impl CodeImage {
    /// A file without code for that processor.
    #[must_use]
    pub fn new(machine: ElfMachine) -> Self {
        Self {
            machine,
            text: Vec::new(),
            symbols: vec![0; SYMBOL],
            strings: vec![0],
            eh_frame: Vec::new(),
            fdes: Vec::new(),
            files: Vec::new(),
            file_index: hashbrown::HashMap::new(),
            sequences: Vec::new(),
        }
    }

    /// Appends a function. Returns its address, which is its offset in the file, too; `None` where the file is full.
    pub fn add_code(&mut self, name: &[u8], code: &[u8]) -> Option<Svma> {
        const GLOBAL_FUNCTION: u8 = 0x12;
        const TEXT_SECTION: u16 = 1;
        self.text.resize(self.text.len().next_multiple_of(16), 0);
        let start = TEXT + self.text.len() as u64;
        if start.checked_add(code.len() as u64)? > EH_FRAME - TEXT {
            return None;
        }
        let at = u32::try_from(self.strings.len()).ok()?;
        self.text.extend(code);
        self.strings.extend(name.iter().filter(|&&byte| byte != 0));
        self.strings.push(0);
        self.symbols.extend(at.to_le_bytes());
        self.symbols.extend([GLOBAL_FUNCTION, 0]);
        self.symbols.extend(TEXT_SECTION.to_le_bytes());
        self.symbols.extend(start.to_le_bytes());
        self.symbols.extend((code.len() as u64).to_le_bytes());
        Some(Svma(start))
    }

    /// Where the next call frame information will be.
    #[must_use]
    pub fn next_eh_frame(&self) -> Svma {
        Svma(EH_FRAME + self.eh_frame.len() as u64)
    }

    /// Appends call frame information whose relative pointers hold at [`Self::next_eh_frame`], without terminator;
    /// `descriptions` gives for each FDE the first address that it covers and its offset in `bytes`.
    pub fn add_eh_frame(&mut self, bytes: &[u8], descriptions: &[(Svma, u64)]) {
        let base = self.next_eh_frame().0;
        self.fdes.extend(descriptions.iter().map(|(start, offset)| (start.0, base + offset)));
        self.eh_frame.extend(bytes);
    }

    /// Appends the lines of a function that ends before `end`; rows in any order.
    pub fn add_lines(&mut self, end: Svma, rows: &[LineRow<'_>]) {
        let mut sorted: Vec<(u64, u32, u32)> = Vec::with_capacity(rows.len());
        for row in rows.iter().filter(|row| row.address < end) {
            let file = match self.file_index.get(row.file) {
                Some(&file) => file,
                None => {
                    self.files.push(row.file.to_vec());
                    let file = self.files.len() as u32;
                    self.file_index.insert(row.file.to_vec(), file);
                    file
                }
            };
            sorted.push((row.address.0, row.line, file));
        }
        sorted.sort_by_key(|&(address, ..)| address);
        if !sorted.is_empty() {
            self.sequences.push(Sequence { end: end.0, rows: sorted });
        }
    }

    /// The bytes of the file.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        // A length of zero ends the section.
        self.eh_frame.extend([0; 4]);
        let hdr_address = (EH_FRAME + self.eh_frame.len() as u64).next_multiple_of(4);
        self.eh_frame.resize((hdr_address - EH_FRAME) as usize, 0);
        let hdr = self.eh_frame_hdr(hdr_address);
        let mut writer =
            Writer { out: vec![0; TEXT as usize], headers: vec![[0; 10]], names: vec![0] };
        let text_end = TEXT + self.text.len() as u64;
        writer.section(".text", 1, 6, TEXT, &self.text, (0, 16));
        writer.out.resize(writer.out.len().next_multiple_of(16), 0);
        let frames_at = writer.out.len() as u64;
        writer.section(".eh_frame", 1, 2, EH_FRAME, &self.eh_frame, (0, 4));
        writer.section(".eh_frame_hdr", 1, 2, hdr_address, &hdr, (0, 4));
        let frames_len = writer.out.len() as u64 - frames_at;
        writer.section(".strtab", 3, 0, 0, &self.strings, (0, 1));
        writer.section(".symtab", 2, 0, 0, &self.symbols, (4, 8));
        if !self.sequences.is_empty() {
            writer.section(".debug_abbrev", 1, 0, 0, LINE_ABBREVIATIONS, (0, 1));
            writer.section(".debug_info", 1, 0, 0, &line_unit(TEXT, text_end), (0, 1));
            writer.section(
                ".debug_line",
                1,
                0,
                0,
                &line_program(&self.files, &self.sequences),
                (0, 1),
            );
        }
        writer.finish(
            self.machine,
            [(5, TEXT, TEXT, text_end - TEXT), (4, frames_at, EH_FRAME, frames_len)],
        )
    }

    /// The table that leads from an address to its description.
    fn eh_frame_hdr(&mut self, at: u64) -> Vec<u8> {
        // version 1; pointer: relative, signed, 4 bytes; count: 4 bytes; table: relative to this header, signed.
        let mut hdr = vec![1, 0x1b, 3, 0x3b];
        let relative = |value: u64, to: u64| (value.wrapping_sub(to) as u32).to_le_bytes();
        hdr.extend(relative(EH_FRAME, at + 4));
        self.fdes.sort_unstable();
        hdr.extend((self.fdes.len() as u32).to_le_bytes());
        for &(start, description) in &self.fdes {
            hdr.extend(relative(start, at));
            hdr.extend(relative(description, at));
        }
        hdr
    }
}

/// An ELF file in the making.
struct Writer {
    out: Vec<u8>,
    headers: Vec<[u64; 10]>,
    names: Vec<u8>,
}

impl Writer {
    /// Appends a section with (link, alignment).
    fn section(
        &mut self,
        name: &str,
        kind: u64,
        flags: u64,
        addr: u64,
        bytes: &[u8],
        more: (u64, u64),
    ) {
        let (link, align) = more;
        if align > 1 && kind != 1 {
            self.out.resize(self.out.len().next_multiple_of(align as usize), 0);
        }
        let entry_size = if kind == 2 { SYMBOL as u64 } else { 0 };
        // The first global symbol is the one behind the empty one.
        let info = u64::from(kind == 2);
        let offset = self.out.len() as u64;
        let name_at = self.names.len() as u64;
        self.names.extend(name.as_bytes());
        self.names.push(0);
        self.out.extend(bytes);
        self.headers.push([
            name_at,
            kind,
            flags,
            addr,
            offset,
            bytes.len() as u64,
            link,
            info,
            align,
            entry_size,
        ]);
    }

    /// Adds the headers; segments are (flags, offset, address, size).
    fn finish(mut self, machine: ElfMachine, segments: [(u32, u64, u64, u64); 2]) -> Vec<u8> {
        let at = self.names.len() as u64;
        self.names.extend(b".shstrtab\0");
        let names = std::mem::take(&mut self.names);
        self.headers.push([at, 3, 0, 0, self.out.len() as u64, names.len() as u64, 0, 0, 1, 0]);
        self.out.extend(names);
        self.out.resize(self.out.len().next_multiple_of(8), 0);
        let section_headers = self.out.len() as u64;
        for [name, kind, flags, addr, offset, size, link, info, align, entry] in &self.headers {
            self.out.extend((*name as u32).to_le_bytes());
            self.out.extend((*kind as u32).to_le_bytes());
            for word in [flags, addr, offset, size] {
                self.out.extend(word.to_le_bytes());
            }
            self.out.extend((*link as u32).to_le_bytes());
            self.out.extend((*info as u32).to_le_bytes());
            self.out.extend(align.to_le_bytes());
            self.out.extend(entry.to_le_bytes());
        }
        let n_sections = self.headers.len() as u16;
        let head = head(machine, section_headers, n_sections, &segments);
        if let Some(start) = self.out.get_mut(..head.len()) {
            start.copy_from_slice(&head);
        }
        self.out
    }
}

/// The file header and the program headers.
fn head(
    machine: ElfMachine,
    sections: u64,
    n_sections: u16,
    segments: &[(u32, u64, u64, u64)],
) -> Vec<u8> {
    let machine: u16 = match machine {
        ElfMachine::X86_64 => 62,
        ElfMachine::Aarch64 => 183,
        ElfMachine::X86 => 3,
        ElfMachine::Arm => 40,
        ElfMachine::Other(machine) => machine,
    };
    let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    head.extend(3_u16.to_le_bytes());
    head.extend(machine.to_le_bytes());
    head.extend(1_u32.to_le_bytes());
    for word in [0, 64, sections] {
        head.extend(word.to_le_bytes());
    }
    head.extend(0_u32.to_le_bytes());
    for half in [64, 56, segments.len() as u16, 64, n_sections, n_sections - 1] {
        head.extend(half.to_le_bytes());
    }
    for &(flags, offset, addr, size) in segments {
        head.extend(1_u32.to_le_bytes());
        head.extend(flags.to_le_bytes());
        for word in [offset, addr, addr, size, size, 16] {
            head.extend(word.to_le_bytes());
        }
    }
    head
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use address::FileOffset;

    use super::*;
    use crate::elf::Image;

    #[test]
    fn what_is_written_can_be_read() {
        let mut code = CodeImage::new(ElfMachine::X86_64);
        let first = code.add_code(b"first", &[0x90; 5]).expect("room");
        let second = code.add_code(b"second", &[0xc3]).expect("room");
        code.add_lines(second.add(1), &[LineRow { address: second, line: 7, file: b"a.js" }]);
        let image = Image::from_vec(Path::new("jit"), code.finish()).expect("an ELF file");
        assert_eq!((first, second), (Svma(0x1000), Svma(0x1010)));
        assert_eq!(image.machine(), ElfMachine::X86_64);
        assert_eq!(image.svma_of_offset(FileOffset(0x1010), true), Some(second));
        assert_eq!(image.read_only_bytes(first, 5), Some(&[0x90; 5][..]));
        let names: Vec<_> = image
            .sections()
            .iter()
            .map(|s| String::from_utf8_lossy(&s.name).into_owned())
            .collect();
        assert!(names.contains(&".debug_line".to_owned()), "{names:?}");
        let frames = image.section(".eh_frame").expect("call frame information");
        assert_eq!(frames.svma, Svma(0x6000_0000));
        assert_eq!(image.section_data(frames).expect("its bytes").as_ref(), [0; 4]);
    }
}
