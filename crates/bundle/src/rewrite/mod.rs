//! Rewriting of a recording: callchains replace stacks and registers, and optionally pseudonyms replace names.
//!
//! The input is records of any recording (plain, stream, compressed, directory, either byte order); the output is a
//! plain little-endian file.

mod container;
mod features;
mod fields;
mod records;
mod sample;

use std::collections::BTreeMap;

use perf_data::{
    Endian, Head, RawBody, RawRecord, Record, RecordContent, RecordKind, SampleType, UserRecord,
};

use self::container::file;
use self::records::encoded;
use self::sample::sample;
use crate::anonymous::Pseudonyms;

/// Recording that is being rewritten. Records are added in the order of the recording.
#[derive(Debug)]
pub struct Rewriter<'n> {
    names: Option<&'n Pseudonyms>,
    data: Vec<u8>,
    omitted: BTreeMap<String, u64>,
    /// True if the records come from one file; rounds of the files of a directory are not valid in one file.
    one_file: bool,
}

/// Reason why a recording cannot be rewritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// A record is damaged, or too long for its header.
    #[error("the record at {0:#x} is damaged")]
    Damaged(u64),
    /// Raw data of tracepoints is in the host's byte order, and its fields are unknown here.
    #[error("raw data of tracepoints in another byte order cannot be rewritten")]
    RawData,
    /// The names of simpleperf's lists contain paths.
    #[error("recordings of simpleperf cannot be anonymized")]
    Simpleperf,
    /// The recording has no events.
    #[error("the recording has no events")]
    NoEvents,
}

impl<'n> Rewriter<'n> {
    /// Creates an empty recording. `one_file` is false if the records come from a directory. With `names`, only data
    /// without unknown names is copied.
    #[must_use]
    pub const fn new(names: Option<&'n Pseudonyms>, one_file: bool) -> Self {
        Self { names, data: Vec::new(), omitted: BTreeMap::new(), one_file }
    }

    /// Adds a record. `chain` is the user part of a sample's callchain, which replaces its stack: the address of the
    /// innermost frame, then return addresses.
    ///
    /// # Errors
    /// If the record is damaged or cannot be written.
    pub fn take_in(
        &mut self,
        head: &Head,
        record: &RawRecord<'_>,
        chain: &[u64],
    ) -> Result<(), RewriteError> {
        let damaged = || RewriteError::Damaged(record.position);
        let simple = head.is_simpleperf();
        if simple && self.names.is_some() {
            return Err(RewriteError::Simpleperf);
        }
        let kind = record.header.kind;
        let (body, trailer) = match &record.body {
            RawBody::Sample(it) => {
                if it.raw.is_some() && head.endian() == Endian::Big && self.names.is_none() {
                    return Err(RewriteError::RawData);
                }
                let event = head.events().get(usize::from(it.event)).ok_or_else(damaged)?;
                let bytes = sample(it, &event.attr, chain, self.names.is_some());
                self.data.extend(bytes.ok_or_else(damaged)?);
                return Ok(());
            }
            RawBody::Record(body, trailer) => (body, trailer),
            RawBody::Undecodable => return Err(damaged()),
        };
        let is_round = matches!(body, Record::User(UserRecord::FinishedRound));
        if kind.content() == RecordContent::OfHead || is_round && !self.one_file {
            return Ok(());
        }
        let as_it_is = self.names.is_none() && head.endian() == Endian::Little;
        if as_it_is && kind.content() == RecordContent::Whole {
            self.data.extend(record.bytes);
            return Ok(());
        }
        match encoded(head, body, trailer, record.header, self.names) {
            Some(bytes) => self.data.extend(bytes.ok_or_else(damaged)?),
            // Records of the recorder repeat facts of the header, or are not needed for reading the recording.
            None if is_of_recorder(kind) => {}
            None => *self.omitted.entry(kind.to_string()).or_default() += 1,
        }
        Ok(())
    }

    /// Returns the kinds of omitted records, with their counts.
    pub fn omitted(&self) -> impl Iterator<Item = (&str, u64)> {
        self.omitted.iter().map(|(kind, &count)| (kind.as_str(), count))
    }

    /// Returns the recording.
    ///
    /// # Errors
    /// If it has no events.
    pub fn finish(self, head: &Head) -> Result<Vec<u8>, RewriteError> {
        if head.events().is_empty() {
            return Err(RewriteError::NoEvents);
        }
        let features = features::sections(head, self.names);
        Ok(file(head, &self.data, &features))
    }
}

/// Returns the fields of an event's samples after callchains have replaced stacks.
fn fields_of(sample_type: SampleType) -> SampleType {
    if sample_type.has(SampleType::STACK_USER) {
        SampleType(sample_type.0 | SampleType::CALLCHAIN.0)
    } else {
        sample_type
    }
}

/// Returns true if the recorder writes records of that kind, which have no trailer.
const fn is_of_recorder(kind: RecordKind) -> bool {
    kind.0 >= RecordKind::FIRST_USER
}
