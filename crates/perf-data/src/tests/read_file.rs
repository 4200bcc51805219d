//! A file read by a session to its end, and its records as passed to a visitor.

use std::ops::ControlFlow;

use crate::{
    Batch, Endian, Error, Event, Features, Finding, Findings, Input, RawRecord, RecordCounts,
    RecordedMachine, Sample, SampleEntry, SampleError, Session, SessionOptions, SharedBytes,
    TimedRecord, visit_records,
};

/// Result of a session for a file: at most one batch.
pub(crate) struct ReadFile {
    session: Session,
    batch: Option<Batch>,
    /// Findings from opening and reading.
    pub(crate) findings: Findings,
    is_sound_at_open: bool,
}

impl ReadFile {
    /// Reads a plain file as a whole.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Error> {
        Self::read_input(Input::File(SharedBytes::from(bytes.to_vec())))
    }

    pub(crate) fn read_input(input: Input) -> Result<Self, Error> {
        let mut findings = Findings::default();
        let mut session = Session::open(input, SessionOptions::default(), &mut findings)?;
        let is_sound_at_open = findings.is_empty();
        let batch = session.next_batch(&mut findings);
        assert!(session.next_batch(&mut findings).is_none(), "a file is one batch");
        Ok(Self { session, batch, findings, is_sound_at_open })
    }

    pub(crate) fn endian(&self) -> Endian {
        self.session.head().endian()
    }

    pub(crate) fn events(&self) -> &[Event] {
        self.session.head().events()
    }

    pub(crate) fn features(&self) -> Features<'_> {
        self.session.head().features()
    }

    pub(crate) fn machine(&self) -> RecordedMachine {
        self.session.head().machine()
    }

    pub(crate) fn counts(&self) -> &RecordCounts {
        self.session.counts()
    }

    pub(crate) fn samples(&self) -> &[SampleEntry] {
        self.batch.as_ref().map_or(&[], Batch::samples)
    }

    pub(crate) fn records(&self) -> Vec<TimedRecord<'_>> {
        self.batch.iter().flat_map(Batch::records).collect()
    }

    pub(crate) fn sample(&self, entry: &SampleEntry) -> Result<Sample<'_>, SampleError> {
        self.batch.as_ref().expect("a batch").sample(entry)
    }
}

/// Reads a file that has no findings when it is opened.
pub(crate) fn open(bytes: &[u8]) -> ReadFile {
    let file = ReadFile::read(bytes).expect("a recording");
    assert!(file.is_sound_at_open, "{:?}", file.findings);
    file
}

/// Passes each record of a file to `visitor`; returns their number and the findings.
pub(crate) fn visit(
    bytes: &[u8],
    visitor: &mut dyn FnMut(&RawRecord<'_>),
) -> (u64, Vec<(u64, Finding)>) {
    let mut findings = Findings::default();
    let mut count = 0;
    let input = Input::File(SharedBytes::from(bytes.to_vec()));
    let visited = visit_records(input, &mut findings, &mut |_, record| {
        count += 1;
        visitor(record);
        ControlFlow::Continue(())
    });
    assert_eq!(visited.expect("a recording").counts.total().records, count);
    (count, list(&findings))
}

/// Returns the first finding of each kind, with their number.
pub(crate) fn list(findings: &Findings) -> Vec<(u64, Finding)> {
    findings.iter().map(|group| (group.count, group.examples[0])).collect()
}
