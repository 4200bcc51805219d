//! Records of a jitdump: code with its name, moves of it, lines and call frame information.
//! A dump can be read while its process still writes it, so it ends at the first partial record.
//!
//! Source: `tools/perf/Documentation/jitdump-specification.txt`; `tools/perf/util/jitdump.h`.

/// Head of a dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JitHead {
    /// `e_machine` of the code.
    pub(crate) machine: u16,
    /// Start time of the dump.
    pub(crate) time: u64,
    /// True if times are counts of the processor rather than nanoseconds.
    pub(crate) arch_time: bool,
}

/// A record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JitRecord<'d> {
    /// Code was loaded.
    Load { address: u64, index: u64, name: &'d [u8], code: &'d [u8] },
    /// Code was moved.
    Move { from: u64, to: u64, size: u64, index: u64 },
    /// Lines of the next loaded code: entries of address, line, discriminator and name.
    Lines(&'d [u8]),
    /// Call frame information of the next loaded code; the last `header` bytes are its `.eh_frame_hdr`.
    Unwinding { data: &'d [u8], header: usize },
}

const MAGIC: u32 = 0x4a69_5444;
const HEADER: usize = 40;

/// Reads the head; also returns the following records with their times.
pub(crate) fn read(dump: &[u8]) -> Option<(JitHead, DumpRecords<'_>)> {
    let magic = u32::from_le_bytes(*dump.first_chunk()?);
    let big_endian = match magic {
        MAGIC => false,
        _ if magic.swap_bytes() == MAGIC => true,
        _ => return None,
    };
    let cursor = Cursor { bytes: dump, at: 4, big_endian };
    let mut head = cursor;
    let (version, size, machine) = (head.u32()?, head.u32()?, head.u32()?);
    let (_pad, _pid, time, flags) = (head.u32()?, head.u32()?, head.u64()?, head.u64()?);
    let size = usize::try_from(size).ok().filter(|&size| size >= HEADER && version == 1)?;
    let head = JitHead { machine: machine as u16, time, arch_time: flags & 1 != 0 };
    Some((head, DumpRecords { cursor: Cursor { at: size, ..cursor }, broken: 0, closed: false }))
}

/// Iterator over the records of a dump, with their times.
#[derive(Clone)]
pub(crate) struct DumpRecords<'d> {
    /// Position after the last whole record.
    cursor: Cursor<'d>,
    /// Number of records of known kinds with invalid contents.
    broken: u64,
    /// True after the record that ends the dump.
    closed: bool,
}

impl DumpRecords<'_> {
    /// Returns the unusable parts of the dump, after all records were read.
    pub(crate) fn damage(&self) -> DumpDamage {
        let left = if self.closed { &[] } else { self.cursor.rest() };
        // Writers that map the file leave zeros after their data.
        let is_record = left.iter().any(|&byte| byte != 0);
        DumpDamage { records: self.broken, bytes: if is_record { left.len() as u64 } else { 0 } }
    }
}

/// Unusable parts of a dump.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DumpDamage {
    /// Number of records with invalid contents.
    pub records: u64,
    /// Number of bytes at the end that are not a whole record.
    pub bytes: u64,
}

impl<'d> Iterator for DumpRecords<'d> {
    type Item = (u64, JitRecord<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        const CLOSE: u32 = 3;
        while !self.closed {
            let mut head = self.cursor;
            let (id, size, time) = (head.u32()?, head.u32()?, head.u64()?);
            let end = self.cursor.at.checked_add(size as usize).filter(|&end| end >= head.at)?;
            let body = head.bytes.get(head.at..end)?;
            self.cursor.at = end;
            let body = Cursor { bytes: body, at: 0, ..head };
            if let Some(record) = record(id, body) {
                return Some((time, record));
            }
            self.closed = id == CLOSE;
            self.broken += u64::from(matches!(id, 0..=2 | 4));
        }
        None
    }
}

/// Decodes a record of a known kind; `None` if it is not whole.
fn record(id: u32, mut body: Cursor<'_>) -> Option<JitRecord<'_>> {
    match id {
        0 => {
            let (_pid, _tid, _vma) = (body.u32()?, body.u32()?, body.u64()?);
            let (address, size, index) = (body.u64()?, body.u64()?, body.u64()?);
            let rest = body.rest();
            let name = rest.split(|&byte| byte == 0).next()?;
            // The code is at the end of the record; the name may be followed by padding.
            let code = rest.len().checked_sub(usize::try_from(size).ok()?)?;
            Some(JitRecord::Load { address, index, name, code: rest.get(code..)? })
        }
        1 => {
            let (_pid, _tid, _vma) = (body.u32()?, body.u32()?, body.u64()?);
            let (from, to, size, index) = (body.u64()?, body.u64()?, body.u64()?, body.u64()?);
            Some(JitRecord::Move { from, to, size, index })
        }
        2 => {
            let (_address, _count) = (body.u64()?, body.u64()?);
            Some(JitRecord::Lines(body.rest()))
        }
        4 => {
            let (size, header, _mapped) = (body.u64()?, body.u64()?, body.u64()?);
            let data = body.rest().get(..usize::try_from(size).ok()?)?;
            let header = usize::try_from(header).ok().filter(|&header| header <= data.len())?;
            Some(JitRecord::Unwinding { data, header })
        }
        _ => None,
    }
}

/// Calls `each` with the entries of a lines record: address, line, file name.
///
/// A repeated name is the same slice.
///
/// Source: `struct debug_entry`; a name of only `\xff` repeats the previous one.
pub(crate) fn lines<'d>(entries: &'d [u8], mut each: impl FnMut(u64, u32, &'d [u8])) {
    let mut cursor = Cursor { bytes: entries, at: 0, big_endian: false };
    let mut last: &'d [u8] = b"";
    let mut next = || {
        let (address, line, _discriminator) = (cursor.u64()?, cursor.u32()?, cursor.u32()?);
        let name = cursor.rest().split(|&byte| byte == 0).next()?;
        cursor.at += name.len() + 1;
        if name != b"\xff" {
            last = name;
        }
        Some((address, line, last))
    };
    while let Some((address, line, name)) = next() {
        each(address, line, name);
    }
}

#[derive(Clone, Copy)]
struct Cursor<'d> {
    bytes: &'d [u8],
    at: usize,
    big_endian: bool,
}

impl<'d> Cursor<'d> {
    fn u32(&mut self) -> Option<u32> {
        let word = *self.bytes.get(self.at..)?.first_chunk()?;
        self.at += 4;
        Some(if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
    }

    fn u64(&mut self) -> Option<u64> {
        let word = *self.bytes.get(self.at..)?.first_chunk()?;
        self.at += 8;
        Some(if self.big_endian { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) })
    }

    fn rest(&self) -> &'d [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn dump(records: &[(u32, u64, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [MAGIC, 1, 48, 62, 0, 7] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(100_u64.to_le_bytes());
        bytes.extend([0; 16]); // flags, and eight bytes that a later version may add
        for (id, time, body) in records {
            bytes.extend(id.to_le_bytes());
            bytes.extend((body.len() as u32 + 16).to_le_bytes());
            bytes.extend(time.to_le_bytes());
            bytes.extend(body);
        }
        bytes
    }

    pub(crate) fn load(address: u64, index: u64, name: &str, code: &[u8]) -> (u32, u64, Vec<u8>) {
        let mut body = vec![0; 8];
        for word in [address, address, code.len() as u64, index] {
            body.extend(word.to_le_bytes());
        }
        body.extend(name.as_bytes());
        body.extend([0; 3]);
        body.extend(code);
        (0, 101, body)
    }

    #[test]
    fn records_are_read_to_the_first_that_is_cut() {
        let mut bytes = dump(&[
            load(0x1000, 1, "f g", &[1, 2, 3]),
            (99, 0, vec![0; 8]),
            load(0x2000, 2, "h", &[4]),
        ]);
        let (head, records) = read(&bytes).expect("a dump");
        assert_eq!(head, JitHead { machine: 62, time: 100, arch_time: false });
        let names: Vec<_> = records
            .map(|(time, record)| match record {
                JitRecord::Load { address, name, code, .. } => (time, address, name, code),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            names,
            [(101, 0x1000, &b"f g"[..], &[1, 2, 3][..]), (101, 0x2000, &b"h"[..], &[4][..])]
        );
        bytes.pop();
        assert_eq!(read(&bytes).expect("a dump").1.count(), 1);
        assert!(read(&[0; 64]).is_none());
    }

    #[test]
    fn names_of_lines_repeat() {
        let mut entries = Vec::new();
        for (address, line, name) in [(1_u64, 2_u32, &b"a.js"[..]), (3, 4, b"\xff")] {
            entries.extend(address.to_le_bytes());
            entries.extend(line.to_le_bytes());
            entries.extend([0; 4]);
            entries.extend(name);
            entries.push(0);
        }
        let mut rows = Vec::new();
        lines(&entries, |address, line, name| rows.push((address, line, name.to_vec())));
        assert_eq!(rows, [(1, 2, b"a.js".to_vec()), (3, 4, b"a.js".to_vec())]);
    }
}
