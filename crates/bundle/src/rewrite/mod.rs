//! Rewriting of a recording: callchains replace stacks and registers, and optionally pseudonyms replace names.
//!
//! The input is records of any recording (plain, stream, compressed, directory, either byte order); the output is a
//! plain little-endian file.

mod container;
mod features;
mod fields;
mod growing;
mod records;
mod sample;

use std::collections::BTreeMap;

use perf_data::{
    ChainEvidenceWriter, Endian, Event, EventAttr, Feature, Head, RawBody, RawRecord, Record,
    RecordContent, RecordKind, SampleType, UserRecord,
};

use self::container::{data_start, file};
pub use self::growing::{
    FinishedChain, FinishedFile, GrowingOptions, GrowingRecording, LastRecords,
};
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
    stacks: Stacks,
    /// True if the arguments of the recorded program stay.
    with_arguments: bool,
}

/// `exclude_callchain_user` in the flags of an attribute.
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;

/// Form of samples without their stacks and registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stacks {
    /// The fields stay, without content.
    Empty,
    /// The samples have no such fields.
    Removed,
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
    /// A stream whose records are copied is in another byte order than recordings are written in.
    #[error("the stream is of a big-endian machine; save it to a file, which can be rewritten")]
    ByteOrder,
    /// The names of simpleperf's lists contain paths.
    #[error("recordings of simpleperf cannot be anonymized")]
    Simpleperf,
    /// The recording has no events.
    #[error("the recording has no events")]
    NoEvents,
    /// A stream states further events after its first samples.
    #[error("the stream states events after its first samples")]
    NewEvents,
    /// A callchain belongs to none of the waiting samples.
    #[error("a callchain belongs to no sample of the recording")]
    UnknownSample,
    /// The output cannot be written.
    #[error("the recording cannot be written")]
    Output(#[from] std::io::Error),
}

impl<'n> Rewriter<'n> {
    /// Creates an empty recording. `one_file` is false if the records come from a directory. With `names`, only data
    /// without unknown names is copied.
    #[must_use]
    pub const fn new(names: Option<&'n Pseudonyms>, one_file: bool) -> Self {
        Self {
            names,
            data: Vec::new(),
            omitted: BTreeMap::new(),
            one_file,
            stacks: Stacks::Empty,
            with_arguments: true,
        }
    }

    /// Omits the arguments of the recorded program.
    #[must_use]
    pub fn without_arguments(self) -> Self {
        Self { with_arguments: false, ..self }
    }

    /// Creates an empty recording whose samples have no fields for stacks and registers, as that of a recorder that
    /// unwinds.
    #[must_use]
    pub fn unwound(one_file: bool) -> Self {
        Self { stacks: Stacks::Removed, ..Self::new(None, one_file) }
    }

    /// Returns the number of bytes of all records so far.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        self.data.len() as u64
    }

    /// Adds a record. `chain` is the user part of a sample's callchain, which replaces its stack: the address of the
    /// innermost frame, then return addresses. In an unwound recording it replaces recorded callchains, too.
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
                let attr = self.stacks.attr(&event.attr);
                let is_unwound = self.stacks == Stacks::Removed
                    || event.attr.sample_type.has(SampleType::STACK_USER);
                let chain = Some(chain).filter(|_| is_unwound);
                let bytes = sample(it, &attr, chain, self.names.is_some());
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
        self.finish_with(head, None)
    }

    /// Same as [`Self::finish`], with evidence for the callchains of the samples at these positions in the data.
    ///
    /// # Errors
    /// If it has no events.
    pub fn finish_with(
        self,
        head: &Head,
        evidence: Option<ChainEvidenceWriter>,
    ) -> Result<Vec<u8>, RewriteError> {
        if head.events().is_empty() {
            return Err(RewriteError::NoEvents);
        }
        let events: Vec<Event> = head.events().iter().map(|it| self.stacks.event(it)).collect();
        let mut features = features::sections(head, &events, self.names);
        if !self.with_arguments && self.names.is_none() {
            features::omit_arguments(&mut features, head);
        }
        features.remove(&Feature::ChainEvidence.bit());
        if let Some(evidence) = evidence {
            features.insert(Feature::ChainEvidence.bit(), evidence.finish(data_start(&events)));
        }
        Ok(file(&events, &self.data, &features))
    }
}

impl Stacks {
    /// Returns the event after callchains have replaced stacks.
    fn event(self, event: &Event) -> Event {
        let mut event = event.clone();
        event.attr = self.attr(&event.attr);
        event
    }

    /// Returns the attribute after callchains have replaced stacks.
    fn attr(self, attr: &EventAttr) -> EventAttr {
        let mut attr = *attr;
        if !attr.sample_type.has(SampleType::STACK_USER) {
            return attr;
        }
        attr.sample_type.0 |= SampleType::CALLCHAIN.0;
        if self == Self::Removed {
            attr.sample_type.0 &= !(SampleType::STACK_USER.0 | SampleType::REGS_USER.0);
            (attr.sample_regs_user, attr.sample_stack_user) = (0, 0);
            attr.flags.0 &= !EXCLUDE_CALLCHAIN_USER;
        }
        attr
    }
}

/// Returns true if the recorder writes records of that kind, which have no trailer.
const fn is_of_recorder(kind: RecordKind) -> bool {
    kind.0 >= RecordKind::FIRST_USER
}
