//! The same run in other containers: the outputs of `perf record` with `-z`, `-o -` and `--threads`.

use crate::bytes::{ByteWriter, Endian};
use crate::perf::compressed::{CompressedKind, Compressor};

const FIRST_USER: u32 = 64;
const BUILD_ID: u16 = 2;
const DIR_FORMAT: u16 = 24;
const HEADER: usize = 104;

/// A recording in file form, split into its parts. Little-endian, without AUX traces.
///
/// Source: `tools/perf/util/header.h`, `struct perf_file_header`.
#[derive(Clone, Debug)]
pub struct RecordingParts {
    /// Attributes with their ids.
    attrs: Vec<(Vec<u8>, Vec<u8>)>,
    features: Vec<(u16, Vec<u8>)>,
    records: Vec<Vec<u8>>,
}

fn number(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    let digits = bytes.get(at..at.checked_add(len)?)?.iter().rev();
    Some(digits.fold(0, |value, &byte| value << 8 | usize::from(byte)))
}

impl RecordingParts {
    /// Splits a recording into its parts; `None` if it is not a plain little-endian file.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| number(bytes, at, 8);
        let part = |at: usize| bytes.get(word(at)?..)?.get(..word(at + 8)?);
        if !bytes.starts_with(b"PERFILE2") || word(8)? != HEADER {
            return None;
        }
        let attrs = part(24)?.chunks(word(16)?).map(|entry| {
            let (attr, ids) = entry.split_at_checked(entry.len().checked_sub(16)?)?;
            let ids = bytes.get(number(ids, 0, 8)?..)?.get(..number(ids, 8, 8)?)?;
            Some((attr.to_vec(), ids.to_vec()))
        });
        let mut rest = part(40)?;
        let mut records = Vec::new();
        while !rest.is_empty() {
            let (record, after) = rest.split_at_checked(number(rest, 6, 2)?.max(8))?;
            records.push(record.to_vec());
            rest = after;
        }
        let table = word(40)? + word(48)?;
        let is_set = |bit: &u16| {
            let byte = bytes.get(72 + usize::from(bit / 8));
            byte.is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
        };
        let features = (0..256).filter(is_set).enumerate();
        let features = features.map(|(slot, bit)| Some((bit, part(table + 16 * slot)?.to_vec())));
        Some(Self {
            attrs: attrs.collect::<Option<_>>()?,
            features: features.collect::<Option<_>>()?,
            records,
        })
    }

    /// Adds or replaces a feature section by its bit and payload.
    pub fn feature(&mut self, bit: u16, payload: &[u8]) {
        self.features.retain(|(other, _)| *other != bit);
        self.features.push((bit, payload.to_vec()));
        self.features.sort();
    }

    /// Returns the original file.
    #[must_use]
    pub fn file(&self) -> Vec<u8> {
        self.file_of(&self.records.concat(), &self.features)
    }

    /// Returns a file with the kernel's records compressed into records of `chunk` bytes, between the recorder's own
    /// records.
    #[must_use]
    pub fn compressed(&self, chunk: usize) -> Vec<u8> {
        self.file_of(&self.packed(chunk), &self.features)
    }

    /// Returns a pipe stream.
    #[must_use]
    pub fn pipe(&self) -> Vec<u8> {
        self.pipe_of(&self.records.concat())
    }

    /// Returns a pipe stream with compressed records.
    #[must_use]
    pub fn compressed_pipe(&self, chunk: usize) -> Vec<u8> {
        self.pipe_of(&self.packed(chunk))
    }

    /// Returns a directory: `data` with the recorder's own records, and `parts` files to which the kernel's records are
    /// dealt in turn, compressed if there is a `chunk`. Without parts, `data` holds all records: the other version of
    /// the format.
    #[must_use]
    pub fn directory(&self, parts: usize, chunk: Option<usize>) -> (Vec<u8>, Vec<Vec<u8>>) {
        let mut features = self.features.clone();
        features.push((DIR_FORMAT, u64::from(parts > 0).to_le_bytes().to_vec()));
        features.sort();
        if parts == 0 {
            return (self.file_of(&self.records.concat(), &features), Vec::new());
        }
        let mut files = vec![Vec::new(); parts];
        let mut own = Vec::new();
        let mut turn = 0;
        for record in &self.records {
            if is_of_kernel(record) {
                files[turn % parts].extend_from_slice(record);
                turn += 1;
            } else if number(record, 0, 4) != Some(68) {
                // Several writing threads do not end rounds.
                own.extend_from_slice(record);
            }
        }
        if let Some(chunk) = chunk {
            let pack = |records: &mut Vec<u8>| {
                *records = Compressor::new(Endian::Little, CompressedKind::Compressed2)
                    .pack(records, chunk);
            };
            files.iter_mut().for_each(pack);
        }
        (self.file_of(&own, &features), files)
    }

    fn packed(&self, chunk: usize) -> Vec<u8> {
        let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed2);
        let mut out = Vec::new();
        for run in self.records.chunk_by(|a, b| is_of_kernel(a) == is_of_kernel(b)) {
            let bytes = run.concat();
            if run.first().is_some_and(|record| is_of_kernel(record)) {
                out.extend(compressor.pack(&bytes, chunk));
            } else {
                out.extend(bytes);
            }
        }
        out
    }

    fn file_of(&self, records: &[u8], features: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let ids: Vec<u8> = self.attrs.iter().flat_map(|attr| attr.1.clone()).collect();
        let entry = self.attrs.first().map_or(0, |attr| attr.0.len()) + 16;
        let attrs_at = HEADER + ids.len();
        let data_at = attrs_at + entry * self.attrs.len();
        let mut bits = [0_u8; 32];
        for (bit, _) in features {
            bits[usize::from(bit / 8)] |= 1 << (bit % 8);
        }
        let mut w = ByteWriter::new(Endian::Little);
        w.bytes(b"PERFILE2");
        for word in
            [HEADER, entry, attrs_at, entry * self.attrs.len(), data_at, records.len(), 0, 0]
        {
            w.u64(word as u64);
        }
        w.bytes(&bits).bytes(&ids);
        let mut at = HEADER;
        for (attr, ids) in &self.attrs {
            w.bytes(attr).u64(at as u64).u64(ids.len() as u64);
            at += ids.len();
        }
        w.bytes(records);
        let mut at = w.len() + 16 * features.len();
        for (_, payload) in features {
            w.u64(at as u64).u64(payload.len() as u64);
            at += payload.len();
        }
        for (_, payload) in features {
            w.bytes(payload);
        }
        w.into_bytes()
    }

    /// Source: `perf_event__synthesize_for_pipe`, `tools/perf/util/synthetic-events.c`.
    fn pipe_of(&self, records: &[u8]) -> Vec<u8> {
        let mut w = ByteWriter::new(Endian::Little);
        w.bytes(b"PERFILE2").u64(16);
        let mut build_ids = &[][..];
        for (bit, payload) in &self.features {
            if *bit == BUILD_ID {
                build_ids = payload;
            } else if payload.len() < 0xff00 {
                w.u32(80).u16(0).u16(payload.len() as u16 + 16).u64((*bit).into()).bytes(payload);
            }
        }
        w.u32(80).u16(0).u16(16).u64(35);
        for (attr, ids) in &self.attrs {
            let size = 8 + attr.len() + ids.len();
            w.u32(64).u16(0).u16(size as u16).bytes(attr).bytes(ids);
        }
        w.bytes(records);
        // The section's entries have record headers without a type.
        while let Some((entry, after)) =
            number(build_ids, 6, 2).and_then(|size| build_ids.split_at_checked(size.max(8)))
        {
            w.u32(67).bytes(&entry[4..]);
            build_ids = after;
        }
        w.into_bytes()
    }
}

fn is_of_kernel(record: &[u8]) -> bool {
    number(record, 0, 4).is_some_and(|kind| kind < FIRST_USER as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventAttr, Feature, PerfDataBuilder, SampleBuilder, UserRecord};

    #[test]
    fn taken_apart_and_put_together() {
        let mut it = PerfDataBuilder::new(Endian::Little);
        it.event("cycles", EventAttr::dwarf(0xff), &[7]);
        it.feature(&Feature::Hostname("host"));
        it.sample(&SampleBuilder::at(1, 2, 3, 4).with_callchain(&[1]));
        it.user_record(&UserRecord::FinishedRound);
        let parts = RecordingParts::read(&it.build()).expect("a plain file");
        let again = RecordingParts::read(&parts.file()).expect("a plain file");
        assert_eq!(again.attrs, parts.attrs);
        assert_eq!(again.features, parts.features);
        assert_eq!(again.records, parts.records);
        assert_eq!(parts.records.len(), 2);
        let (data, files) = parts.directory(2, None);
        assert_eq!(files, [parts.records[0].clone(), Vec::new()]);
        let own = RecordingParts::read(&data).expect("a plain file");
        assert_eq!(own.records, Vec::<Vec<u8>>::new());
        assert_eq!(own.features.len(), parts.features.len() + 1);
    }
}
