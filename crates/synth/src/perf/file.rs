//! The recording as a file: header, attributes, data, features.

use std::collections::BTreeMap;
use std::ops::Range;

use super::attr::EventAttr;
use super::feature::{EventDesc, Feature};
use super::record::{Record, SampleId};
use super::sample::SampleBuilder;
use super::user_record::UserRecord;
use crate::bytes::{ByteWriter, Endian};

/// Choices of the file container beyond those of a usual recorder.
#[derive(Clone, Debug)]
pub struct FileLayout {
    /// The magic's eight bytes; `None` writes `PERFILE2` in the byte order.
    pub magic: Option<[u8; 8]>,
    /// Header size: 104, or 72 for a header without feature bitmap (then no features are written).
    pub header_size: u64,
    /// Stated size of an attribute entry, if it differs from the true one.
    pub stated_attr_size: Option<u64>,
    /// True to write attributes and ids after data and features, as after a conversion from a pipe.
    pub attrs_after_data: bool,
    /// True for a finished recording; else `data.size` is 0 and feature bits are set without features.
    pub finished: bool,
    /// Number of unused slots at the end of the feature table, as after features that failed.
    pub spare_feature_slots: usize,
    /// True to write the feature bitmap as eight 32-bit words, as a 32-bit recorder does.
    pub narrow_bitmap: bool,
}

impl Default for FileLayout {
    /// Returns a finished file of a current recorder.
    fn default() -> Self {
        Self {
            magic: None,
            header_size: 104,
            stated_attr_size: None,
            attrs_after_data: false,
            finished: true,
            spare_feature_slots: 0,
            narrow_bitmap: false,
        }
    }
}

/// An event with its ids and its name for `EVENT_DESC` or `EVENT_UPDATE`.
#[derive(Clone, Debug)]
pub(super) struct RecordedEvent {
    pub(super) attr: EventAttr,
    pub(super) ids: Vec<u64>,
    pub(super) name: String,
}

/// A built file and the ranges of its parts, for tests that damage one of them.
#[derive(Clone, Debug)]
pub struct PerfDataFile {
    /// Bytes of the file.
    pub bytes: Vec<u8>,
    /// Table of attributes.
    pub attrs: Range<usize>,
    /// Data section.
    pub data: Range<usize>,
    /// File offset of each record, in the given order.
    pub records: Vec<usize>,
    /// Bit and payload of each feature; its table entry is 16 bytes, the first at `data.end`.
    pub features: Vec<(u8, Range<usize>)>,
}

/// Collects events, features and records, and writes them as a file or as a pipe stream.
///
/// ```
/// use synth::{Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId};
/// let mut recording = PerfDataBuilder::new(Endian::Little);
/// recording.event("cpu-clock", EventAttr::dwarf(0xff0fff), &[7]);
/// recording.feature(&Feature::Hostname("host"));
/// recording.record_at(&Record::Comm { pid: 1, tid: 1, comm: b"a", exec: true }, SampleId::at(1, 1, 5));
/// recording.sample(&SampleBuilder::at(0x401000, 1, 1, 10));
/// let file = recording.build_file();
/// assert_eq!(&file.bytes[..8], b"PERFILE2");
/// // Record header, two ids, eight bytes of name, and pid, tid and time as trailer.
/// assert_eq!(file.records[1] - file.records[0], 8 + 8 + 8 + 16);
/// assert_eq!(recording.build_pipe(&Default::default())[..16], *b"PERFILE2\x10\0\0\0\0\0\0\0");
/// ```
#[derive(Clone, Debug)]
pub struct PerfDataBuilder {
    pub(super) endian: Endian,
    pub(super) events: Vec<RecordedEvent>,
    pub(super) features: BTreeMap<u8, Vec<u8>>,
    pub(super) records: Vec<u8>,
    record_offsets: Vec<usize>,
    /// Container of [`Self::build_file`].
    pub layout: FileLayout,
}

impl PerfDataBuilder {
    /// Creates an empty recording.
    #[must_use]
    pub fn new(endian: Endian) -> Self {
        Self {
            endian,
            events: Vec::new(),
            features: BTreeMap::new(),
            records: Vec::new(),
            record_offsets: Vec::new(),
            layout: FileLayout::default(),
        }
    }

    /// Adds an event and returns its index. Add it before its records, since it determines their layout.
    pub fn event(&mut self, name: &str, attr: EventAttr, ids: &[u64]) -> usize {
        self.events.push(RecordedEvent { attr, ids: ids.to_vec(), name: name.to_owned() });
        self.events.len() - 1
    }

    /// Adds or replaces a feature section.
    pub fn feature(&mut self, feature: &Feature<'_>) -> &mut Self {
        self.raw_feature(feature.bit(), &feature.encode(self.endian))
    }

    /// Adds or replaces a feature section by its bit and payload.
    pub fn raw_feature(&mut self, bit: u8, payload: &[u8]) -> &mut Self {
        self.features.insert(bit, payload.to_vec());
        self
    }

    /// Adds `EVENT_DESC` for the events added so far.
    pub fn describe_events(&mut self) -> &mut Self {
        let descs: Vec<EventDesc<'_>> = self
            .events
            .iter()
            .map(|event| EventDesc { attr: &event.attr, ids: &event.ids, name: &event.name })
            .collect();
        let attr_size = self.events.first().map_or(0, |event| event.attr.disk_size);
        let feature = Feature::EventDesc { attr_size, events: &descs };
        let payload = feature.encode(self.endian);
        self.raw_feature(feature.bit(), &payload)
    }

    /// Adds a kernel record with an all-zero trailer, as in synthesized records.
    pub fn record(&mut self, record: &Record<'_>) -> &mut Self {
        self.record_at(record, SampleId::default())
    }

    /// Adds a kernel record with a trailer.
    pub fn record_at(&mut self, record: &Record<'_>, id: SampleId) -> &mut Self {
        self.record_with(record, record.misc(), id)
    }

    /// Adds a kernel record with the given `misc` and trailer. Without events there is no trailer.
    pub fn record_with(&mut self, record: &Record<'_>, misc: u16, id: SampleId) -> &mut Self {
        let attr = self.events.get(id.event_idx).map(|event| &event.attr);
        let mut body = record.encode(attr.map_or(0, |attr| attr.read_format), self.endian);
        if let Some(attr) = attr {
            body.extend(id.encode(attr, self.endian));
        }
        self.raw_record(record.record_type(), misc, &body)
    }

    /// Adds a record of the recorder.
    pub fn user_record(&mut self, record: &UserRecord<'_>) -> &mut Self {
        let bytes = record.encode(self.endian);
        self.raw_bytes(&bytes)
    }

    /// Adds a sample of the first event.
    pub fn sample(&mut self, sample: &SampleBuilder) -> &mut Self {
        self.sample_of(0, sample)
    }

    /// Adds a sample of the event with that index.
    ///
    /// # Panics
    /// If there is no such event.
    pub fn sample_of(&mut self, event_idx: usize, sample: &SampleBuilder) -> &mut Self {
        let bytes = sample.encode(&self.events[event_idx].attr, self.endian);
        self.raw_bytes(&bytes)
    }

    /// Adds a record of any type; `body` is everything after the header.
    pub fn raw_record(&mut self, record_type: u32, misc: u16, body: &[u8]) -> &mut Self {
        let bytes = super::record_bytes(self.endian, record_type, misc, body);
        self.raw_bytes(&bytes)
    }

    /// Adds bytes unchanged, counted as one record.
    pub fn raw_bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.record_offsets.push(self.records.len());
        self.records.extend_from_slice(bytes);
        self
    }

    /// Returns the records so far, as in a `data.N` file of a directory recording.
    #[must_use]
    pub fn record_stream(&self) -> &[u8] {
        &self.records
    }

    /// Removes and returns the records, to be added again in compressed form.
    pub fn take_records(&mut self) -> Vec<u8> {
        self.record_offsets.clear();
        std::mem::take(&mut self.records)
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        self.build_file().bytes
    }

    /// Returns the file with the ranges of its parts.
    ///
    /// Source: `struct perf_file_header`, `tools/perf/util/header.h`.
    #[must_use]
    pub fn build_file(&self) -> PerfDataFile {
        let mut w = ByteWriter::new(self.endian);
        w.zeros(self.layout.header_size as usize);
        let mut attrs = 0..0;
        if !self.layout.attrs_after_data {
            attrs = self.write_attrs(&mut w);
        }
        let data_start = w.len();
        w.bytes(&self.records);
        let data = data_start..w.len();
        let mut features = Vec::new();
        if self.layout.finished && self.layout.header_size >= 104 {
            features = self.write_features(&mut w);
        }
        if self.layout.attrs_after_data {
            attrs = self.write_attrs(w.align(8));
        }
        let header = self.header(&attrs, &data);
        w.write_at(0, &header);
        let records = self.record_offsets.iter().map(|offset| data.start + offset).collect();
        PerfDataFile { bytes: w.into_bytes(), attrs, data, records, features }
    }

    /// Returns the size of an attribute on disk, in bytes: that of the largest.
    fn attr_disk_size(&self) -> usize {
        self.events.iter().map(|event| event.attr.disk_size as usize).max().unwrap_or(128)
    }

    /// Writes the ids of all events and the table of attributes; returns the range of the table.
    fn write_attrs(&self, w: &mut ByteWriter) -> Range<usize> {
        let ids_at: Vec<usize> = self
            .events
            .iter()
            .map(|event| {
                let at = w.len();
                w.u64s(&event.ids);
                at
            })
            .collect();
        let start = w.len();
        for (event, at) in self.events.iter().zip(ids_at) {
            w.fixed_str(&event.attr.encode(self.endian), self.attr_disk_size());
            w.u64(at as u64).u64(event.ids.len() as u64 * 8);
        }
        start..w.len()
    }

    /// Writes the table of sections and their payloads; returns bit and range of each.
    fn write_features(&self, w: &mut ByteWriter) -> Vec<(u8, Range<usize>)> {
        let mut at = w.len() + 16 * (self.features.len() + self.layout.spare_feature_slots);
        let mut places = Vec::new();
        for (&bit, payload) in &self.features {
            w.u64(at as u64).u64(payload.len() as u64);
            places.push((bit, at..at + payload.len()));
            at += payload.len();
        }
        w.zeros(16 * self.layout.spare_feature_slots);
        for payload in self.features.values() {
            w.bytes(payload);
        }
        places
    }

    fn header(&self, attrs: &Range<usize>, data: &Range<usize>) -> Vec<u8> {
        let magic = self.layout.magic.unwrap_or(magic(self.endian));
        let attr_size = self.layout.stated_attr_size.unwrap_or(self.attr_disk_size() as u64 + 16);
        let data_size = if self.layout.finished { data.len() as u64 } else { 0 };
        let mut w = ByteWriter::new(self.endian);
        w.bytes(&magic).u64(self.layout.header_size).u64(attr_size);
        w.u64(attrs.start as u64).u64(attrs.len() as u64);
        w.u64(data.start as u64).u64(data_size);
        w.u64(0).u64(0);
        if self.layout.header_size >= 104 {
            let width = if self.layout.narrow_bitmap { 32 } else { 64 };
            for word in 0..256 / width {
                let bits = self.features.keys().map(|&bit| usize::from(bit));
                let in_word = bits.filter(|bit| bit / width == word);
                w.uint(in_word.fold(0, |bits, bit| bits | 1 << (bit % width)), width / 8);
            }
        }
        w.into_bytes()
    }
}

/// Returns the number `0x32454c4946524550` in the byte order of the file.
pub(super) fn magic(endian: Endian) -> [u8; 8] {
    match endian {
        Endian::Little => *b"PERFILE2",
        Endian::Big => *b"2ELIFREP",
    }
}
