//! Entry of the tar file. Its header lists the omitted ranges, so that other programs unpack a sparse file.
//!
//! Source: GNU tar, "Basic Tar Format" and "Storing Sparse Files". Entries in the old GNU format have type `S`, with
//! four ranges in the header and 21 in each block after it.

use std::io::{self, Read as _, Write};
use std::ops::Range;
use std::path::Path;

use tar::{Builder, EntryType, GnuExtSparseHeader, GnuSparseHeader, Header};

use super::slice;

/// Size of a tar block in bytes.
const BLOCK: usize = 512;

/// Appends an entry with the bytes outside the holes.
pub(super) fn append(
    archive: &mut Builder<impl Write>,
    name: &str,
    bytes: &[u8],
    holes: &[(u64, u64)],
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_path(name)?;
    header.set_mode(0o644);
    if holes.is_empty() {
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        return archive.append(&header, bytes);
    }
    let parts = parts(bytes.len() as u64, holes);
    header.set_entry_type(EntryType::GNUSparse);
    header.set_size(parts.iter().map(|part| part.end - part.start).sum());
    let gnu = header.as_gnu_mut().ok_or(io::ErrorKind::InvalidInput)?;
    set_number(&mut gnu.realsize, bytes.len() as u64);
    let (first, rest) = parts.split_at(parts.len().min(gnu.sparse.len()));
    set_parts(&mut gnu.sparse, first);
    gnu.set_is_extended(!rest.is_empty());
    header.set_cksum();
    let mut blocks = Vec::new();
    let mut chunks = rest.chunks(21).peekable();
    while let Some(chunk) = chunks.next() {
        let mut block = GnuExtSparseHeader::new();
        set_parts(&mut block.sparse, chunk);
        block.set_is_extended(chunks.peek().is_some());
        blocks.extend_from_slice(block.as_bytes());
    }
    // Pads the data to whole tar blocks, as the builder would; the extension blocks are whole already.
    let out = archive.get_mut();
    out.write_all(header.as_bytes())?;
    out.write_all(&blocks)?;
    let mut written = 0;
    for part in &parts {
        out.write_all(slice(bytes, part))?;
        written += slice(bytes, part).len();
    }
    let padding = written.next_multiple_of(BLOCK) - written;
    io::copy(&mut io::repeat(0).take(padding as u64), out).map(drop)
}

/// Appends a further name of an entry as a hard link.
pub(super) fn append_link(
    archive: &mut Builder<impl Write>,
    name: &Path,
    entry: &str,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Link);
    header.set_mode(0o644);
    header.set_size(0);
    archive.append_link(&mut header, name, entry)
}

/// Returns the stored ranges; the last one is empty if the file ends with a hole.
fn parts(size: u64, holes: &[(u64, u64)]) -> Vec<Range<u64>> {
    let starts = std::iter::once(0).chain(holes.iter().map(|hole| hole.1));
    let ends = holes.iter().map(|hole| hole.0).chain(std::iter::once(size));
    let parts = starts.zip(ends).map(|(start, end)| start..end);
    parts.filter(|part| !part.is_empty() || part.end == size).collect()
}

fn set_parts(blocks: &mut [GnuSparseHeader], parts: &[Range<u64>]) {
    for (block, part) in blocks.iter_mut().zip(parts) {
        set_number(&mut block.offset, part.start);
        set_number(&mut block.numbytes, part.end - part.start);
    }
}

/// Writes a number in tar's format: in octal, or in binary with the top bit set if it is too large.
fn set_number(field: &mut [u8; 12], number: u64) {
    if number < 1 << 33 {
        let octal = format!("{number:011o}\0");
        field.copy_from_slice(octal.as_bytes());
    } else {
        *field = [0; 12];
        field[0] = 0x80;
        field[4..].copy_from_slice(&number.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(bytes: &[u8], holes: &[(u64, u64)]) -> (u64, Vec<u8>) {
        let mut builder = Builder::new(Vec::new());
        append(&mut builder, "a/b", bytes, holes).expect("memory");
        append(&mut builder, "c", b"next", &[]).expect("memory");
        let packed = builder.into_inner().expect("memory");
        let mut archive = tar::Archive::new(&packed[..]);
        let mut entries = archive.entries().expect("entries");
        let mut entry = entries.next().expect("one").expect("an entry");
        assert_eq!(entry.path().expect("a name").to_str(), Some("a/b"));
        let (size, mut read) = (entry.size(), Vec::new());
        entry.read_to_end(&mut read).expect("its bytes");
        let mut entry = entries.next().expect("two").expect("an entry");
        let mut next = Vec::new();
        entry.read_to_end(&mut next).expect("its bytes");
        assert_eq!(next, b"next");
        (size, read)
    }

    #[test]
    fn files_are_unpacked_with_their_holes() {
        const PAGE: u64 = 4096;
        let bytes: Vec<u8> = (0..100 * PAGE + 7).map(|at| (at % 251) as u8 + 1).collect();
        let many: Vec<_> = (1..50).map(|at| (2 * at * PAGE, (2 * at + 1) * PAGE)).collect();
        let end = bytes.len() as u64;
        for holes in [vec![], vec![(0, PAGE)], vec![(PAGE, end)], vec![(0, end)], many] {
            let mut expected = bytes.clone();
            for &(from, to) in &holes {
                expected[from as usize..to as usize].fill(0);
            }
            assert!(unpacked(&bytes, &holes) == (end, expected), "{holes:?}");
        }
    }

    #[test]
    fn large_numbers_are_binary() {
        let mut field = [0; 12];
        set_number(&mut field, 8);
        assert_eq!(&field, b"00000000010\0");
        set_number(&mut field, 1 << 33);
        assert_eq!(field, [0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    }
}
