//! The code of a dump as one ELF file, with its names, lines and call frame information.

use address::{Arch, Avma, FileOffset, Svma, Timestamp};
use elf_writer::LineRow;
use hashbrown::HashMap;
use module_map::{JitDump, JitLoad};

use super::code_image::CodeImage;
use super::frames::relocated;
use super::records::{DumpDamage, JitRecord, lines, read};

/// `e_machine` of a dump without a processor, as written by `CPython` 3.13.
///
/// Source: gABI, "ELF Header", `EM_NONE`.
const NO_MACHINE: u16 = 0;

/// Code of a dump.
#[derive(Debug)]
pub struct DumpCode {
    /// Times and addresses at which code was loaded; offsets refer to `file`.
    pub dump: JitDump,
    /// Bytes of an ELF file with all code.
    pub file: Vec<u8>,
    /// Unusable parts of the dump.
    pub damage: DumpDamage,
}

impl DumpCode {
    /// Reads the bytes of a dump; `None` if they do not start like one. `arch` is the processor
    /// of dumps that do not state one.
    #[must_use]
    pub fn read(bytes: &[u8], arch: Option<Arch>) -> Option<Self> {
        let (head, mut records) = read(bytes)?;
        let e_machine = match head.machine {
            NO_MACHINE => arch.map_or(NO_MACHINE, Arch::e_machine),
            stated => stated,
        };
        // With some writers, the time in the head is from another clock.
        let first = records.clone().next().map_or(head.time, |(time, _)| time);
        let begun = Timestamp(if head.arch_time { 0 } else { first });
        let mut collected = Collected {
            image: CodeImage::new(e_machine),
            dump: JitDump { begun, loads: Vec::new() },
            by_index: HashMap::new(),
            lines: None,
            unwinding: None,
        };
        for (time, record) in records.by_ref() {
            collected.add(Timestamp(time), record);
        }
        let Collected { dump, image, .. } = collected;
        Some(Self { dump, file: image.finish(), damage: records.damage() })
    }
}

struct Collected<'d> {
    image: CodeImage,
    dump: JitDump,
    /// Address in the image and length of the code, by index.
    by_index: HashMap<u64, (Svma, u64)>,
    lines: Option<&'d [u8]>,
    unwinding: Option<(&'d [u8], usize)>,
}

impl<'d> Collected<'d> {
    fn add(&mut self, time: Timestamp, record: JitRecord<'d>) {
        match record {
            JitRecord::Lines(entries) => self.lines = Some(entries),
            JitRecord::Unwinding { data, header } => self.unwinding = Some((data, header)),
            JitRecord::Move { to, size, index, .. } => {
                if let Some(&(place, len)) = self.by_index.get(&index) {
                    let (start, offset) = (Avma(to), FileOffset(place.0));
                    // The bytes after this code belong to other code.
                    let len = size.min(len);
                    self.dump.loads.push(JitLoad { time, start, len, offset });
                }
            }
            JitRecord::Load { address, index, name, code } => {
                let (lines, unwinding) = (self.lines.take(), self.unwinding.take());
                // Code without bytes was loaded before its dump started; a full image accepts no more.
                let Some(place) = self.image.add_code(name, code) else { return };
                let len = code.len() as u64;
                self.by_index.insert(index, (place, len));
                let (start, offset) = (Avma(address), FileOffset(place.0));
                self.dump.loads.push(JitLoad { time, start, len, offset });
                if let Some(entries) = lines {
                    self.add_lines(entries, address, place, len);
                }
                if let Some((data, header)) = unwinding {
                    let to = self.image.next_eh_frame();
                    if let Some(frames) = relocated(data, header, len, place, to) {
                        self.image.add_eh_frame(&frames.bytes, &frames.descriptions);
                    }
                }
            }
        }
    }

    fn add_lines(&mut self, entries: &[u8], address: u64, place: Svma, len: u64) {
        let mut rows = Vec::new();
        // Millions of entries can repeat a long name: it is checked once.
        let mut last: Option<(&[u8], Option<u64>)> = None;
        lines(entries, |at, line, name| {
            // Some writers state addresses of the code, others of the file that `perf inject` would make of it.
            let Some(within) = Some(at.wrapping_sub(address)).filter(|&within| within < len) else {
                return;
            };
            let known = last.filter(|(known, _)| std::ptr::eq(*known, name));
            let (_, file) = known.unwrap_or_else(|| {
                // Some write names from freed memory.
                let text = std::str::from_utf8(name).ok();
                let is_name = text.is_some_and(|text| !text.contains(char::is_control));
                (name, is_name.then(|| self.image.source_file(name)))
            });
            last = Some((name, file));
            if let Some(file) = file {
                rows.push(LineRow { address: place.add(within), file, line, column: 0 });
            }
        });
        self.image.add_lines(place.add(len), rows);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use image_store::Image;

    use super::super::records::tests::{dump, load};
    use super::*;

    /// Repeated entries neither copy nor check the name again.
    #[test]
    fn a_long_name_is_repeated_often() {
        const REPEATED: usize = 100_000;
        let mut entries = vec![0; 16];
        let entry = |entries: &mut Vec<u8>, name: &[u8]| {
            entries.extend(0x1000_u64.to_le_bytes());
            entries.extend([7, 0, 0, 0, 0, 0, 0, 0]);
            entries.extend(name);
            entries.push(0);
        };
        entry(&mut entries, &vec![b'a'; 1 << 20]);
        (0..REPEATED).for_each(|_| entry(&mut entries, b"\xff"));
        let bytes = dump(&[(2, 101, entries), load(0x1000, 1, "f", &[1, 2, 3])]);
        let DumpCode { file, .. } = DumpCode::read(&bytes, Some(Arch::X86_64)).expect("a dump");
        let image = Image::from_vec(Path::new("jit"), file).expect("an ELF file");
        let lines = image.section(".debug_line").expect("lines");
        let size = image.section_data(lines).expect("sound").len();
        assert!(size > (1 << 20) + REPEATED && size < (1 << 20) + 2 * REPEATED, "{size}");
    }

    /// Returns a record of a move to 0x9000.
    fn moved(size: u64) -> Vec<u8> {
        let words = [0x1000, 0x9000, size, 1];
        [0; 2].iter().chain(&words).flat_map(|word: &u64| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_move_is_not_longer_than_its_code() {
        let bytes = dump(&[
            load(0x1000, 1, "f", &[1, 2, 3]),
            load(0x2000, 2, "g", &[4]),
            (1, 150, moved(16)),
        ]);
        let DumpCode { dump, .. } = DumpCode::read(&bytes, Some(Arch::X86_64)).expect("a dump");
        let places: Vec<_> = dump.loads.iter().map(|load| (load.start.0, load.len)).collect();
        assert_eq!(places, [(0x1000, 3), (0x2000, 1), (0x9000, 3)]);
    }

    #[test]
    fn loads_and_moves_share_code() {
        let bytes = dump(&[load(0x1000, 1, "f", &[1, 2, 3]), (1, 150, moved(3))]);
        let DumpCode { dump, file, damage } =
            DumpCode::read(&bytes, Some(Arch::X86_64)).expect("a dump");
        assert_eq!(damage, DumpDamage::default());
        assert_eq!(dump.begun, Timestamp(101));
        let places: Vec<_> =
            dump.loads.iter().map(|l| (l.time.0, l.start.0, l.len, l.offset.0)).collect();
        assert_eq!(places, [(101, 0x1000, 3, 0x1000), (150, 0x9000, 3, 0x1000)]);
        let image = Image::from_vec(Path::new("jit"), file).expect("an ELF file");
        assert_eq!(image.symbol_address(b"f"), Some(Svma(0x1000)));
        assert_eq!(image.read_only_bytes(Svma(0x1000), 3), Some(&[1, 2, 3][..]));
    }

    /// A dump of `CPython` 3.13, which states no processor.
    #[test]
    fn the_processor_of_a_dump() {
        let mut bytes = dump(&[load(0x1000, 1, "f", &[1, 2, 3])]);
        let machine = |bytes: &[u8]| {
            let DumpCode { file, .. } = DumpCode::read(bytes, Some(Arch::Aarch64)).expect("a dump");
            Image::from_vec(Path::new("jit"), file).expect("an ELF file").arch()
        };
        assert_eq!(machine(&bytes), Some(Arch::X86_64));
        bytes[12..16].copy_from_slice(&[0; 4]);
        assert_eq!(machine(&bytes), Some(Arch::Aarch64));
    }

    /// A truncated dump gives the records before its end. While its process is still writing, it ends with zeros.
    #[test]
    fn what_is_left_of_a_dump_that_was_cut() {
        let records = [load(0x1000, 1, "f", &[1, 2, 3]), load(0x2000, 2, "g", &[4; 20])];
        let bytes = dump(&records);
        let whole = dump(&records[..1]).len();
        for end in whole..=bytes.len() {
            let DumpCode { dump, damage, .. } =
                DumpCode::read(&bytes[..end], Some(Arch::X86_64)).expect("a dump");
            let is_whole = end == bytes.len();
            // A record of kind 0 starts with zeros, and zeros are not a record.
            let is_cut = end > whole + 4 && !is_whole;
            let left = if is_cut { (end - whole) as u64 } else { 0 };
            assert_eq!(damage, DumpDamage { records: 0, bytes: left }, "{end}");
            assert_eq!(dump.loads.len(), 1 + usize::from(is_whole));
        }
        let zeros = [&bytes[..whole], &[0; 100]].concat();
        let DumpCode { damage, .. } = DumpCode::read(&zeros, Some(Arch::X86_64)).expect("a dump");
        assert_eq!(damage, DumpDamage::default());
        // The code is longer than its record; the following record is still read.
        let mut broken = dump(&[load(0x1000, 1, "f", &[1]), load(0x2000, 2, "g", &[4])]);
        let at = dump(&[]).len() + 16 + 4 + 4 + 8 + 8;
        broken[at..at + 8].copy_from_slice(&1000_u64.to_le_bytes());
        let DumpCode { dump, damage, .. } =
            DumpCode::read(&broken, Some(Arch::X86_64)).expect("a dump");
        assert_eq!((dump.loads.len(), damage), (1, DumpDamage { records: 1, bytes: 0 }));
    }
}
