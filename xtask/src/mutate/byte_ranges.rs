//! Kinds of bytes in a file: damage is chosen among kinds first, so that stacks and code, which are most of the bytes,
//! are not most of the runs.

use std::ops::Range;

use object::{Object as _, ObjectSection as _};

/// Bytes of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ByteRange {
    pub(super) kind: String,
    pub(super) range: Range<usize>,
}

/// Offsets of fields in a recording's header. Source: perf.data-file-format.txt of Linux.
const HEADER: usize = 104;
const ATTRIBUTES: usize = 24;
const DATA: usize = 40;
const FEATURES: usize = 72;
/// Size of a record's header, and of a section's offset and size, in bytes.
const RECORD_HEADER: usize = 8;
const SECTION: usize = 16;

const SAMPLE: u32 = 9;

/// Names of the record types in recordings of the test data.
const RECORDS: &[(u32, &str)] = &[
    (1, "MMAP"),
    (2, "LOST"),
    (3, "COMM"),
    (4, "EXIT"),
    (7, "FORK"),
    (SAMPLE, "SAMPLE"),
    (10, "MMAP2"),
    (13, "LOST_SAMPLES"),
    (14, "SWITCH"),
    (17, "KSYMBOL"),
    (18, "BPF_EVENT"),
];

/// Returns the byte ranges of a file by kind, recognized by its first bytes.
pub(super) fn of(bytes: &[u8]) -> Vec<ByteRange> {
    let mut ranges = match bytes {
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', b'2', ..] => recording(bytes),
        [0x7f, b'E', b'L', b'F', ..] => elf(bytes),
        [b'D', b'T', b'i', b'J', ..] | [b'J', b'i', b'T', b'D', ..] => {
            whole_file("dump of JIT code", bytes)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => whole_file("bundle", bytes),
        _ => whole_file("list of symbols", bytes),
    };
    ranges.retain(|byte_range| {
        byte_range.range.start < byte_range.range.end && byte_range.range.end <= bytes.len()
    });
    ranges
}

fn byte_range(kind: impl Into<String>, range: Range<usize>) -> ByteRange {
    ByteRange { kind: kind.into(), range }
}

fn whole_file(kind: &str, bytes: &[u8]) -> Vec<ByteRange> {
    vec![byte_range(kind, 0..bytes.len())]
}

/// Returns the byte ranges of a recording in the byte order of x86.
fn recording(bytes: &[u8]) -> Vec<ByteRange> {
    let mut ranges = vec![byte_range("recording: header", 0..HEADER)];
    let attributes = section(bytes, ATTRIBUTES).unwrap_or(0..0);
    ranges.push(byte_range("recording: attributes", attributes));
    let data = section(bytes, DATA).unwrap_or(0..0);
    let mut at = data.start;
    while let Some(size) = number(bytes, at + 6, 2).filter(|&size| size >= RECORD_HEADER) {
        if at + size > data.end {
            break;
        }
        record(bytes, at..at + size, &mut ranges);
        at += size;
    }
    let mut table = data.end;
    for bit in 0..256 {
        let word = number(bytes, FEATURES + bit / 8, 1).unwrap_or(0);
        if word & (1 << (bit % 8)) != 0 {
            ranges.push(byte_range("recording: table of features", table..table + SECTION));
            ranges.push(byte_range("recording: features", section(bytes, table).unwrap_or(0..0)));
            table += SECTION;
        }
    }
    ranges
}

/// Adds the byte ranges of a record.
fn record(bytes: &[u8], range: Range<usize>, ranges: &mut Vec<ByteRange>) {
    let kind = number(bytes, range.start, 4).and_then(|kind| u32::try_from(kind).ok()).unwrap_or(0);
    let name = RECORDS.iter().find(|(known, _)| *known == kind).map_or("other records", |it| it.1);
    let body = range.start + RECORD_HEADER;
    ranges.push(byte_range(format!("{name}: header"), range.start..body));
    // Size of the numbers before a path or name, in bytes.
    let n_numbers = match name {
        "MMAP" => 32,
        "MMAP2" => 64,
        "COMM" => 8,
        _ => 0,
    };
    let stack = if kind == SAMPLE { stack(bytes, body..range.end) } else { None };
    if let Some(stack) = stack {
        ranges.push(byte_range("SAMPLE: numbers and registers", body..stack.start - 8));
        ranges.push(byte_range("SAMPLE: sizes of the stack", stack.start - 8..stack.start));
        ranges.push(byte_range("SAMPLE: sizes of the stack", stack.end..stack.end + 8));
        ranges.push(byte_range("SAMPLE: numbers and registers", stack.end + 8..range.end));
        ranges.push(byte_range("SAMPLE: copy of the stack", stack));
    } else if n_numbers > 0 && body + n_numbers < range.end {
        let text = body + n_numbers;
        let rest = bytes.get(text..range.end).unwrap_or_default();
        let end = text + rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        ranges.push(byte_range(format!("{name}: numbers"), body..text));
        ranges.push(byte_range(format!("{name}: text"), text..end));
        ranges.push(byte_range(format!("{name}: padding, id, time"), end..range.end));
    } else {
        ranges.push(byte_range(format!("{name}: body"), body..range.end));
    }
}

/// Returns the stack copy in a sample: after its size, before the number of its valid bytes. It is found by these two,
/// since the fields before it depend on the event; a copy has 256 bytes or more.
fn stack(bytes: &[u8], body: Range<usize>) -> Option<Range<usize>> {
    let starts = (body.start + 8..body.end).step_by(8);
    let sized = starts.filter_map(|at| {
        let size = number(bytes, at - 8, 8).filter(|size| *size >= 256 && size % 8 == 0)?;
        Some(at..at.checked_add(size)?)
    });
    let mut fitting = sized.filter(|it| it.end + 8 <= body.end);
    fitting.find(|it| number(bytes, it.end, 8).is_some_and(|valid| valid <= it.len()))
}

/// Returns the byte ranges of an ELF file: its headers, and its sections by name, with similar ones grouped.
fn elf(bytes: &[u8]) -> Vec<ByteRange> {
    let mut ranges = vec![byte_range("ELF: header", 0..64)];
    let Ok(file) = object::File::parse(bytes) else { return ranges };
    if file.is_64() && file.is_little_endian() {
        let table = |offset, size, count| {
            let at = number(bytes, offset, 8)?;
            Some(at..at + number(bytes, size, 2)? * number(bytes, count, 2)?)
        };
        ranges.push(byte_range("ELF: segments", table(32, 54, 56).unwrap_or(0..0)));
        ranges.push(byte_range("ELF: section headers", table(40, 58, 60).unwrap_or(0..0)));
    }
    for section in file.sections() {
        let Some((at, size)) = section.file_range() else { continue };
        let (Ok(at), Ok(size)) = (usize::try_from(at), usize::try_from(size)) else { continue };
        let kind = group(section.name().unwrap_or_default());
        ranges.push(byte_range(format!("ELF: {kind}"), at..at.saturating_add(size)));
    }
    ranges
}

/// Returns the group of a section.
fn group(name: &str) -> &str {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    match name {
        ".eh_frame" | ".eh_frame_hdr" | ".symtab" | ".strtab" | ".dynsym" | ".dynstr"
        | ".shstrtab" | ".gnu_debugdata" | ".ARM.exidx" | ".ARM.extab" => name,
        _ if name.starts_with(".debug_") => name,
        _ if starts(&[".text", ".plt", ".init", ".fini"]) => "code",
        _ if starts(&[".note"]) => "notes",
        _ if starts(&[".rela", ".rel.", ".gnu.", ".hash", ".dynamic", ".got"]) => {
            "tables of the loader"
        }
        _ if starts(&[".rodata", ".data", ".tdata", ".comment"]) => "data",
        _ => "other sections",
    }
}

/// Returns the range of a section of a recording, by its offset and size.
fn section(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let (start, size) = (number(bytes, at, 8)?, number(bytes, at + 8, 8)?);
    Some(start..start.checked_add(size)?)
}

/// Returns a little-endian number.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    let value = bytes.iter().rev().fold(0, |value, &byte| (value << 8) | u64::from(byte));
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(path: &str) -> Vec<ByteRange> {
        of(&std::fs::read(crate::command::root().join(path)).unwrap())
    }

    fn has(ranges: &[ByteRange], kind: &str) -> usize {
        ranges
            .iter()
            .filter(|byte_range| byte_range.kind == kind)
            .map(|byte_range| byte_range.range.len())
            .sum()
    }

    #[test]
    fn a_recording_has_records_and_stacks() {
        let ranges = kinds("testdata/cases/deep/perf.data");
        assert_eq!(has(&ranges, "recording: header"), 104);
        assert_eq!(has(&ranges, "SAMPLE: body"), 0);
        let n_samples = has(&ranges, "SAMPLE: header") / 8;
        assert!(n_samples > 0);
        assert_eq!(has(&ranges, "SAMPLE: sizes of the stack"), n_samples * 16);
        assert_eq!(has(&ranges, "SAMPLE: copy of the stack") % n_samples, 0);
        assert!(has(&ranges, "MMAP2: text") > 20);
        assert!(has(&ranges, "recording: features") > 100);
    }

    #[test]
    fn sections_are_grouped() {
        assert_eq!(group(".debug_line"), ".debug_line");
        assert_eq!([group(".plt.sec"), group(".note.gnu.build-id")], ["code", "notes"]);
        assert_eq!(
            [group(".rela.dyn"), group(".tbss")],
            ["tables of the loader", "other sections"]
        );
    }
}
