//! Every record of a recording of any kind, decoded in file order: for dumps and checks.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::index::{index_record, index_sample};
use super::input::{Input, open};
use super::options::SessionOptions;
use super::raw_record::{RawRecord, raw_body};
use crate::container::Head;
use crate::error::Error;
use crate::finding::{Finding, Findings};
use crate::record::RecordBytes;
use crate::record_types::SessionUse;
use crate::stream::{
    Driver, Flow, RecordChunk, RecordCounts, RecordLocation, RecordSink, SinkContext,
};

/// Result of a visit: events, features and the counts of all records.
#[derive(Clone, Debug)]
pub struct VisitSummary {
    /// Head as of the end of the recording.
    pub head: Arc<Head>,
    /// All records by type.
    pub counts: RecordCounts,
}

/// Calls `visitor` with each record, including those inside compressed records, until it breaks.
///
/// Offsets in the findings are positions, see [`RawRecord::position`].
///
/// # Errors
/// If the input is not a recording. All other damage is a finding.
pub fn visit_records(
    input: Input,
    findings: &mut Findings,
    visitor: &mut dyn FnMut(&Head, &RawRecord<'_>) -> ControlFlow<()>,
) -> Result<VisitSummary, Error> {
    let options = SessionOptions::default();
    let opened = open(input, options, &Arc::default(), findings)?;
    let (head, visit) = (Arc::new(opened.head), RecordVisitor { visitor });
    let mut driver = Driver::new(head, options.expansion_bytes, options.budget, visit);
    driver.run(opened.feeds);
    findings.merge(&driver.findings);
    Ok(VisitSummary { head: driver.head, counts: driver.counts })
}

struct RecordVisitor<'v> {
    visitor: &'v mut dyn FnMut(&Head, &RawRecord<'_>) -> ControlFlow<()>,
}

impl RecordSink for RecordVisitor<'_> {
    type Entries = ();

    fn chunk(&mut self, _chunk: RecordChunk) {}

    fn record(
        &mut self,
        found: &RecordBytes<'_>,
        location: RecordLocation,
        context: SinkContext<'_>,
    ) -> Flow {
        let SinkContext { head, counts, findings } = context;
        let (schema, kind) = (&head.schema, found.header.kind);
        match kind.session_use() {
            // Called to count losses and findings.
            Some(SessionUse::Sample) => {
                let _ = index_sample(schema, found, counts, findings);
            }
            Some(SessionUse::MovesMaps | SessionUse::Collected) => {
                let _ = index_record(schema, found, counts, findings);
            }
            _ if !kind.is_known(schema.simpleperf) => {
                findings.push(Finding::UnknownRecord { offset: found.position, kind });
            }
            Some(
                SessionUse::Switch
                | SessionUse::Compressed
                | SessionUse::EndsRound
                | SessionUse::Counted,
            )
            | None => {}
        }
        let record = RawRecord {
            position: found.position,
            file: location.file,
            offset: location.offset,
            inside: location.inside,
            header: found.header,
            bytes: found.bytes,
            body: raw_body(schema, found, &mut Findings::default()),
        };
        match (self.visitor)(head, &record) {
            ControlFlow::Continue(()) => Flow::Continue,
            ControlFlow::Break(()) => Flow::Stop,
        }
    }

    fn ready(&mut self, _head: &Arc<Head>) {}
}
