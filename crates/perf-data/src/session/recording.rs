//! The parsed container, and the decoding of its records on demand.

use super::raw_records::RawRecords;
use super::scan::{SampleEntry, Scan};
use crate::container::{Features, FileHead, Machine};
use crate::cursor::Endian;
use crate::error::Error;
use crate::event::Event;
use crate::finding::{Finding, Findings};
use crate::record::{Sample, SampleError, Schema};
use crate::stream::{Piece, Source};

/// A recording: header, attributes and features, with the bytes of its records borrowed. It does not change, so
/// threads share it by reference.
#[derive(Clone, Debug)]
pub struct Recording<'d> {
    schema: Schema,
    features: Features<'d>,
    source: Source<'d>,
}

impl<'d> Recording<'d> {
    /// Reads the container around the records: all of a `perf.data` file is handed in as `bytes`.
    ///
    /// # Errors
    /// Where the header, or the attributes without which no record can be read, are missing or make no sense; and for
    /// kinds of recordings that are not supported. Any other damage is a finding.
    pub fn parse(bytes: &'d [u8], findings: &mut Findings) -> Result<Self, Error> {
        let FileHead { container, sections, schema } = FileHead::read(bytes, findings)?;
        let features = Features::decode_all(
            sections.iter().map(|(bit, range)| (*bit, &bytes[range.clone()])),
            schema.endian,
            &mut |_| {},
        );
        if let Some(version) = features.directory_version.filter(|&version| version > 0) {
            findings.push(Finding::DirectoryRecording { version });
        }
        let start = container.data.start as u64;
        let source = Source::new(vec![Piece { start, bytes: &bytes[container.data] }]);
        Ok(Self { schema, features, source })
    }

    /// The byte order of the recording machine; that of its stack bytes, too.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.schema.endian
    }

    /// The events, in the order in which samples name them by index. There is at least one.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.schema.events
    }

    /// What the recorder wrote about the machine and itself.
    #[must_use]
    pub fn features(&self) -> &Features<'d> {
        &self.features
    }

    /// The machine that was recorded.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let attrs = self.schema.events.iter().map(|event| &event.attr);
        Machine::detect(&self.features, attrs, self.schema.endian)
    }

    /// Walks all records once: an index of the samples and every other record that replaying needs, in time order.
    #[must_use]
    pub fn scan(&self, findings: &mut Findings) -> Scan<'d> {
        Scan::run(self, findings)
    }

    /// All records in the order of the file, decoded one by one.
    #[must_use]
    pub fn raw_records(&self) -> RawRecords<'_, 'd> {
        RawRecords::new(self)
    }

    /// Decodes one sample. Damage inside costs the damaged field and those behind it, see [`Sample::damage`].
    ///
    /// # Errors
    /// Where the entry is not of this recording's scan.
    pub fn sample(&self, entry: &SampleEntry) -> Result<Sample<'d>, SampleError> {
        self.schema.sample(self.source.at(entry.position), entry)
    }

    pub(crate) fn source(&self) -> &Source<'d> {
        &self.source
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }
}
