//! File header: magic, byte order, version, and the ranges of attributes, data and features.
//! It does not read the sections but checks their bounds against the file.
//!
//! Source: `tools/perf/util/header.h`, `struct perf_file_header`, `struct perf_pipe_file_header`.

use std::ops::Range;

use super::feature::Feature;
use crate::bytes::{Endian, FieldReader};
use crate::error::Error;
use crate::finding::{Finding, Findings};

const HEADER_V1: u64 = 72;
const HEADER: u64 = 104;
/// Size of the header of a pipe stream in bytes: magic and size.
///
/// Source: `tools/perf/util/header.h`, `struct perf_pipe_file_header`.
pub(crate) const PIPE_HEADER: usize = 16;

/// Header with the sections as byte ranges. Invariant: the ranges lie in the file.
#[derive(Clone, Debug)]
pub(crate) struct FileHeader {
    pub(crate) endian: Endian,
    /// Stated distance of two attribute entries, in bytes.
    pub(crate) attr_size: u64,
    pub(crate) attrs: Range<usize>,
    pub(crate) data: Range<usize>,
    /// Bitmap of features; all zero if there can be none.
    pub(crate) features: [u64; 4],
    /// Offset of the feature table; at or after the end of a truncated file.
    pub(crate) feature_table: u64,
}

/// Stated range of a section.
#[derive(Clone, Copy)]
struct StatedSection {
    offset: u64,
    size: u64,
}

impl StatedSection {
    fn read(cursor: &mut FieldReader<'_>) -> Option<Self> {
        Some(Self { offset: cursor.u64()?, size: cursor.u64()? })
    }

    fn end(self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

impl FileHeader {
    /// Parses the header of a recording.
    pub(crate) fn parse(bytes: &[u8], findings: &mut Findings) -> Result<Self, Error> {
        let file_len = bytes.len() as u64;
        let cut = Error::HeaderTruncated { expected: HEADER_V1, found: file_len };
        let endian = byte_order(bytes)?;
        let mut cursor = FieldReader::new(bytes, endian);
        let header_size = cursor.u64().and_then(|_magic| cursor.u64()).ok_or(cut)?;
        if header_size == PIPE_HEADER as u64 {
            return Err(Error::PipeMode);
        }
        if header_size < HEADER_V1 {
            return Err(Error::HeaderSize { found: header_size });
        }
        let mut fields = || {
            let attr_size = cursor.u64()?;
            let sections = [
                StatedSection::read(&mut cursor)?,
                StatedSection::read(&mut cursor)?,
                StatedSection::read(&mut cursor)?,
            ];
            Some((attr_size, sections))
        };
        let (attr_size, [attrs, data, _event_types]) = fields().ok_or(cut)?;
        let mut features = [0; 4];
        if header_size >= HEADER {
            let bitmap = cursor
                .bytes(32)
                .ok_or(Error::HeaderTruncated { expected: HEADER, found: file_len })?;
            features = feature_bits(bitmap, endian);
        }
        for (section, name) in [(attrs, "attribute"), (data, "data")] {
            if section.offset < header_size || section.offset > file_len {
                return Err(Error::SectionOutside {
                    section: name,
                    offset: section.offset,
                    end: file_len,
                });
            }
        }
        if attrs.offset < data.end() && data.offset < attrs.end() && attrs.size > 0 && data.size > 0
        {
            return Err(Error::SectionsOverlap { attrs: attrs.offset, data: data.offset });
        }
        let data_end = clamp_data(data, file_len, findings);
        if data.size == 0 {
            features = [0; 4];
        }
        if attrs.end() > file_len {
            findings.push(Finding::AttrsTruncated { offset: attrs.offset, size: attrs.size });
        }
        Ok(Self {
            endian,
            attr_size,
            attrs: attrs.offset as usize..attrs.end().min(file_len) as usize,
            data: data.offset as usize..data_end as usize,
            features,
            feature_table: data.end(),
        })
    }
}

/// Returns the actual end of the data, and reports a missing or truncated end.
fn clamp_data(data: StatedSection, file_len: u64, findings: &mut Findings) -> u64 {
    if data.size == 0 {
        // A recorder that was killed did not write the size nor any feature.
        findings.push(Finding::Unfinished { offset: data.offset });
        return file_len;
    }
    if data.end() > file_len {
        findings.push(Finding::DataTruncated { expected: data.end(), found: file_len });
    }
    data.end().min(file_len)
}

/// Checks for the magic of a recording.
pub(crate) fn check_magic(bytes: &[u8]) -> Result<(), Error> {
    let mut magic = [0; 8];
    let len = bytes.len().min(8);
    magic[..len].copy_from_slice(&bytes[..len]);
    match &magic {
        b"PERFILE2" | b"2ELIFREP" | b"PERFFILE" => Ok(()),
        _ => Err(Error::NotPerfData { found: magic }),
    }
}

/// Returns the byte order by the magic. Version 1 has the same magic in both orders, so the attribute size decides.
fn byte_order(bytes: &[u8]) -> Result<Endian, Error> {
    let mut magic = [0; 8];
    let len = bytes.len().min(8);
    magic[..len].copy_from_slice(&bytes[..len]);
    match &magic {
        b"PERFILE2" => Ok(Endian::Little),
        b"2ELIFREP" => Ok(Endian::Big),
        b"PERFFILE" => {
            let cut = Error::HeaderTruncated { expected: HEADER_V1, found: bytes.len() as u64 };
            if Endian::Little.u64_at(bytes, 8) == Some(PIPE_HEADER as u64)
                || Endian::Big.u64_at(bytes, 8) == Some(PIPE_HEADER as u64)
            {
                return Err(Error::PipeMode);
            }
            let known = |endian: Endian| {
                let size = endian.u64_at(bytes, 16)?;
                Some([64, 72, 80, 96, 104].contains(&size.wrapping_sub(16)))
            };
            if known(Endian::Little).ok_or(cut)? {
                Ok(Endian::Little)
            } else if known(Endian::Big).ok_or(cut)? {
                Ok(Endian::Big)
            } else {
                Err(Error::UnknownByteOrder {
                    found: Endian::Little.u64_at(bytes, 16).unwrap_or_default(),
                })
            }
        }
        _ => Err(Error::NotPerfData { found: magic }),
    }
}

/// Decodes the bitmap, an array of the recorder's `unsigned long`. Their width matters only on big-endian machines.
/// Recorders always write the host name, so the decoding with that bit is used.
fn feature_bits(bytes: &[u8], endian: Endian) -> [u64; 4] {
    let wide = std::array::from_fn(|index| endian.u64_at(bytes, index * 8).unwrap_or_default());
    let half = |at: usize| u64::from(endian.u32_at(bytes, at).unwrap_or_default());
    let narrow: [u64; 4] = std::array::from_fn(|index| half(index * 8) | half(index * 8 + 4) << 32);
    let hostname = |bits: &[u64; 4]| bits[0] >> Feature::Hostname.bit() & 1 == 1;
    if !hostname(&wide) && hostname(&narrow) { narrow } else { wide }
}
