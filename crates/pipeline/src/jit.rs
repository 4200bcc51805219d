//! JIT code: everything from the dump that its process marked.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Avma, FileOffset, Pid, Svma, Timestamp};
use hashbrown::HashMap;
use host::{Host, Origin};
use module_map::{CodeImage, Image, JitDump, JitLoad, JitReader, Library, LineRow, Machine};

use crate::jit_frames::relocated;
use crate::jitdump::{JitRecord, lines, read};

/// Reads dumps for the timeline, and gives the image of their code to the library.
#[derive(Debug)]
pub(crate) struct DumpReader {
    pub(crate) library: Arc<Library>,
    pub(crate) host: Arc<dyn Host>,
}

impl JitReader for DumpReader {
    fn read(&self, path: &[u8], pid: Pid) -> Option<JitDump> {
        let found = self.library.data_file(Path::new(OsStr::from_bytes(path)), pid)?;
        let file = self.host.open(&found, Origin::Recording).ok()?;
        let (dump, code) = collect(&file.content)?;
        let image = Image::from_vec(&PathBuf::from(OsStr::from_bytes(path)), code).ok()?;
        self.library.provide(path, image);
        Some(dump)
    }
}

/// What a dump says, and an ELF file of its code.
pub(crate) fn collect(bytes: &[u8]) -> Option<(JitDump, Vec<u8>)> {
    let (head, records) = read(bytes)?;
    let machine = match head.machine {
        62 => Machine::X86_64,
        183 => Machine::Aarch64,
        other => Machine::Other(other),
    };
    // The time in the head is of another clock for some writers.
    let mut records = records.peekable();
    let first = records.peek().map_or(head.time, |&(time, _)| time);
    let begun = Timestamp(if head.arch_time { 0 } else { first });
    let mut collected = Collected {
        image: CodeImage::new(machine),
        dump: JitDump { begun, loads: Vec::new() },
        by_index: HashMap::new(),
        lines: None,
        unwinding: None,
    };
    for (time, record) in records {
        collected.add(Timestamp(time), record);
    }
    Some((collected.dump, collected.image.finish()))
}

struct Collected<'d> {
    image: CodeImage,
    dump: JitDump,
    /// Where the code of an index is in the image.
    by_index: HashMap<u64, Svma>,
    lines: Option<&'d [u8]>,
    unwinding: Option<(&'d [u8], usize)>,
}

impl<'d> Collected<'d> {
    fn add(&mut self, time: Timestamp, record: JitRecord<'d>) {
        match record {
            JitRecord::Lines(entries) => self.lines = Some(entries),
            JitRecord::Unwinding { data, header } => self.unwinding = Some((data, header)),
            JitRecord::Move { to, size, index, .. } => {
                if let Some(&place) = self.by_index.get(&index) {
                    let (start, offset) = (Avma(to), FileOffset(place.0));
                    self.dump.loads.push(JitLoad { time, start, len: size, offset });
                }
            }
            JitRecord::Load { address, index, name, code } => {
                let (lines, unwinding) = (self.lines.take(), self.unwinding.take());
                // Code without bytes was loaded before its dump was; an image that is full takes no more.
                let Some(place) = self.image.add_code(name, code) else { return };
                let len = code.len() as u64;
                self.by_index.insert(index, place);
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
        lines(entries, |at, line, name| {
            // Some writers state addresses of the code, some of the file that `perf inject` would make of it.
            let within = Some(at.wrapping_sub(address)).filter(|&within| within < len);
            // Some write names of memory that is gone.
            let sound =
                std::str::from_utf8(name).is_ok_and(|name| !name.contains(char::is_control));
            if let Some(within) = within.filter(|_| sound) {
                rows.push((place.add(within), line, name.to_vec()));
            }
        });
        let rows: Vec<LineRow<'_>> = rows
            .iter()
            .map(|(address, line, file)| LineRow { address: *address, line: *line, file })
            .collect();
        self.image.add_lines(place.add(len), &rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jitdump::tests::{dump, load};

    #[test]
    fn loads_and_moves_share_code() {
        let mut moved = vec![0; 16];
        for word in [0x1000_u64, 0x9000, 3, 1] {
            moved.extend(word.to_le_bytes());
        }
        let bytes = dump(&[load(0x1000, 1, "f", &[1, 2, 3]), (1, 150, moved)]);
        let (dump, code) = collect(&bytes).expect("a dump");
        assert_eq!(dump.begun, Timestamp(101));
        let places: Vec<_> =
            dump.loads.iter().map(|l| (l.time.0, l.start.0, l.len, l.offset.0)).collect();
        assert_eq!(places, [(101, 0x1000, 3, 0x1000), (150, 0x9000, 3, 0x1000)]);
        let image = Image::from_vec(Path::new("jit"), code).expect("an ELF file");
        assert_eq!(image.symbol_address(b"f"), Some(Svma(0x1000)));
        assert_eq!(image.read_only_bytes(Svma(0x1000), 3), Some(&[1, 2, 3][..]));
    }
}
