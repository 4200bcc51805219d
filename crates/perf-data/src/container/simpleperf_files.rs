//! Files hit by the samples of a simpleperf recording, with their symbols: names are available without the files.
//!
//! Source: simpleperf's `record_file_writer.cpp`, `WriteFileFeature`; `record_file.proto`, `message FileFeature`;
//! `record_file_reader.cpp`, `ReadFileV1Feature`.

use crate::bytes::FieldReader;

/// A symbol recorded by simpleperf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimpleperfSymbol<'d> {
    /// Address as stated in the file; for the kernel and for symbol maps, as in memory.
    pub addr: u64,
    /// Length in bytes.
    pub len: u32,
    /// Name, mangled as in the file.
    pub name: &'d [u8],
}

/// A file hit by samples.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SimpleperfFile<'d> {
    /// Path as in map records; `base.apk!/lib/…` for libraries in archives.
    pub path: &'d [u8],
    /// 0 kernel, 1 kernel module, 2 ELF file, 3 DEX file, 4 symbol map, 5 unknown.
    pub kind: u32,
    /// Lowest address of the executable segments.
    pub min_vaddr: u64,
    /// File offset of that address, if recorded.
    pub offset_of_min_vaddr: Option<u64>,
    /// Symbols hit by samples.
    pub symbols: Vec<SimpleperfSymbol<'d>>,
}

const ELF_FILE: u32 = 2;
const DEX_FILE: u32 = 3;

/// Returns the entries of a FILE section (bit 128) up to the first damaged one.
pub(crate) fn read_files<'d>(cursor: &mut FieldReader<'d>) -> Vec<SimpleperfFile<'d>> {
    let entry = |cursor: &mut FieldReader<'d>| {
        let len = cursor.u32()?;
        file(&mut FieldReader::new(cursor.bytes_u64(len.into())?, cursor.endian()))
    };
    std::iter::from_fn(|| entry(cursor)).collect()
}

fn file<'d>(cursor: &mut FieldReader<'d>) -> Option<SimpleperfFile<'d>> {
    let path = name(cursor)?;
    let kind = cursor.u32()?;
    let min_vaddr = cursor.u64()?;
    let count = cursor.u32()?;
    let mut file = SimpleperfFile { path, kind, min_vaddr, ..SimpleperfFile::default() };
    for _ in 0..count {
        let (addr, len) = (cursor.u64()?, cursor.u32()?);
        file.symbols.push(SimpleperfSymbol { addr, len, name: name(cursor)? });
    }
    if kind == DEX_FILE {
        let count = cursor.u32()?;
        cursor.words(count.into())?;
    }
    // Newer recorders append the offset.
    file.offset_of_min_vaddr = cursor.u64().filter(|_| kind == ELF_FILE);
    Some(file)
}

/// Reads a string and skips its terminating NUL.
fn name<'d>(cursor: &mut FieldReader<'d>) -> Option<&'d [u8]> {
    let len = cursor.rest().iter().position(|&byte| byte == 0)?;
    let name = cursor.bytes(len)?;
    cursor.u8()?;
    Some(name)
}

/// Returns the entries of a FILE2 section (bit 132), lengths with protobuf messages, up to the first damaged one.
pub(crate) fn read_files2<'d>(cursor: &mut FieldReader<'d>) -> Vec<SimpleperfFile<'d>> {
    let entry = |cursor: &mut FieldReader<'d>| {
        let len = cursor.u32()?;
        message(cursor.bytes_u64(len.into())?)
    };
    std::iter::from_fn(|| entry(cursor)).collect()
}

fn message(bytes: &[u8]) -> Option<SimpleperfFile<'_>> {
    let mut file = SimpleperfFile::default();
    fields(bytes, &mut |field| match field {
        (1, ProtoField::Bytes(path)) => file.path = path,
        (2, ProtoField::Number(kind)) => file.kind = kind as u32,
        (3, ProtoField::Number(addr)) => file.min_vaddr = addr,
        (4, ProtoField::Bytes(bytes)) => file.symbols.extend(symbol(bytes)),
        (6, ProtoField::Bytes(bytes)) => {
            // A field with value 0 is not written.
            let mut offset = 0;
            let read = fields(bytes, &mut |field| {
                if let (1, ProtoField::Number(value)) = field {
                    offset = value;
                }
            });
            file.offset_of_min_vaddr = read.map(|()| offset);
        }
        _ => {}
    })?;
    Some(file)
}

fn symbol(bytes: &[u8]) -> Option<SimpleperfSymbol<'_>> {
    let mut symbol = SimpleperfSymbol { addr: 0, len: 0, name: &[] };
    fields(bytes, &mut |field| match field {
        (1, ProtoField::Number(addr)) => symbol.addr = addr,
        (2, ProtoField::Number(len)) => symbol.len = len as u32,
        (3, ProtoField::Bytes(name)) => symbol.name = name,
        _ => {}
    })?;
    Some(symbol)
}

enum ProtoField<'d> {
    Number(u64),
    Bytes(&'d [u8]),
}

/// Calls `take` with each field of a protobuf message; `None` if it is damaged.
///
/// Source: protobuf encoding, "Message Structure".
fn fields<'d>(mut bytes: &'d [u8], take: &mut dyn FnMut((u64, ProtoField<'d>))) -> Option<()> {
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let field = match tag & 7 {
            0 => ProtoField::Number(varint(&mut bytes)?),
            1 => ProtoField::Number(u64::from_le_bytes(*split(&mut bytes, 8)?.first_chunk()?)),
            2 => {
                let len = varint(&mut bytes)?;
                ProtoField::Bytes(split(&mut bytes, len)?)
            }
            5 => {
                ProtoField::Number(u32::from_le_bytes(*split(&mut bytes, 4)?.first_chunk()?).into())
            }
            _ => return None,
        };
        take((tag >> 3, field));
    }
    Some(())
}

fn split<'d>(bytes: &mut &'d [u8], len: u64) -> Option<&'d [u8]> {
    let (head, tail) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = tail;
    Some(head)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Endian;

    fn expected(offset: Option<u64>) -> SimpleperfFile<'static> {
        let symbols = vec![SimpleperfSymbol { addr: 0x1050, len: 300, name: b"main" }];
        let (path, kind, min_vaddr) = (&b"/a"[..], 2, 0x1000);
        SimpleperfFile { path, kind, min_vaddr, offset_of_min_vaddr: offset, symbols }
    }

    #[test]
    fn plain_form() {
        let mut body = b"/a\0\x02\0\0\0\0\x10\0\0\0\0\0\0\x01\0\0\0".to_vec();
        body.extend(b"\x50\x10\0\0\0\0\0\0\x2c\x01\0\0main\0");
        for offset in [None, Some(0x800)] {
            body.extend(offset.map(u64::to_le_bytes).into_iter().flatten());
            let mut section = (body.len() as u32).to_le_bytes().to_vec();
            section.extend(&body);
            section.extend([9, 0, 0, 0, 1]);
            let cursor = &mut FieldReader::new(&section, Endian::Little);
            assert_eq!(read_files(cursor), [expected(offset)]);
        }
    }

    #[test]
    fn protobuf_form() {
        let symbol = b"\x08\xd0\x20\x10\xac\x02\x1a\x04main";
        let mut body = b"\x0a\x02/a\x10\x02\x18\x80\x20\x22".to_vec();
        body.push(symbol.len() as u8);
        body.extend(symbol);
        body.extend(b"\x32\x03\x08\x80\x10");
        let mut section = (body.len() as u32).to_le_bytes().to_vec();
        section.extend(&body);
        let read =
            |section: &[u8]| read_files2(&mut FieldReader::new(section, Endian::Little)).len();
        let cursor = &mut FieldReader::new(&section, Endian::Little);
        assert_eq!(read_files2(cursor), [expected(Some(0x800))]);
        assert_eq!((0..section.len()).map(|cut| read(&section[..cut])).sum::<usize>(), 0);
    }
}
