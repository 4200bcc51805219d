//! `unwind-perf dump`: every record, one a line, in the order of the file.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use address::Timestamp;
use anyhow::Context as _;
use clap::Args;
use perf_data::{Findings, Head, RawBody, RawRecord, Record, RecordKind, Severity, visit_records};

use crate::dump_line::Line;
use crate::dump_record;
use crate::filter::time_range;
use crate::open::open;
use crate::pipeline::Status;

/// Lines are written out when so many bytes of them are there.
const FULL: usize = 1 << 18;

/// What to dump.
#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// The recording, or - for standard input
    #[arg(value_name = "PERF_DATA")]
    input: PathBuf,

    /// Only records of these types, by name or number
    #[arg(long = "type", value_name = "TYPE,…", value_delimiter = ',', value_parser = parse_kind)]
    kinds: Vec<RecordKind>,

    /// Only records of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',', allow_negative_numbers = true)]
    pid: Vec<i32>,

    /// Only records from time A to time B, in seconds of the recording's clock; either may be left out
    #[arg(long, value_name = "A,B")]
    time: Option<String>,

    /// Callchains and registers of samples, too
    #[arg(long)]
    full: bool,

    /// All bytes of each record, too, in hexadecimal
    #[arg(long)]
    raw: bool,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

fn parse_kind(text: &str) -> Result<RecordKind, String> {
    let by_number = text.parse().ok().map(RecordKind);
    let wanted = text.to_ascii_uppercase();
    let name = wanted.strip_prefix("PERF_RECORD_").unwrap_or(&wanted);
    let named = |kind: &RecordKind| kind.name().is_some_and(|known| known == name);
    let by_name = || (0..128).chain(32768..32800).map(RecordKind).find(named);
    by_number.or_else(by_name).ok_or_else(|| "no type of record has that name".to_owned())
}

/// Dumps a recording to standard output.
pub(crate) fn run(args: &DumpArgs) -> anyhow::Result<Status> {
    let times = match &args.time {
        None => (None, None),
        Some(text) => {
            time_range(text).with_context(|| format!("--time {text}: expected A,B in seconds"))?
        }
    };
    let mut dump =
        Dump { args, times, line: Line::new(args.json), out: io::stdout().lock(), failed: None };
    let mut findings = Findings::default();
    visit_records(open(&args.input)?, &mut findings, &mut |head, record| {
        dump.take_in(head, record)
    })
    .with_context(|| format!("cannot read {}", args.input.display()))?;
    dump.flush();
    if let Some(error) = dump.failed {
        return Err(error.into());
    }
    crate::info::tell(&findings);
    Ok(status(&findings))
}

/// Whether something is missing.
pub(crate) fn status(findings: &Findings) -> Status {
    if findings.severity() == Some(Severity::Damage) { Status::Damaged } else { Status::Complete }
}

struct Dump<'a, W> {
    args: &'a DumpArgs,
    times: (Option<Timestamp>, Option<Timestamp>),
    line: Line,
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> Dump<'_, W> {
    fn take_in(&mut self, head: &Head, record: &RawRecord<'_>) -> ControlFlow<()> {
        let (time, pid) = time_and_pid(&record.body);
        if self.wants(record, time, pid) {
            self.write(head, record, time);
            if self.line.text.len() >= FULL {
                self.flush();
            }
        }
        if self.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn wants(&self, record: &RawRecord<'_>, time: Timestamp, pid: Option<i32>) -> bool {
        let args = self.args;
        (args.kinds.is_empty() || args.kinds.contains(&record.header.kind))
            && (args.pid.is_empty() || pid.is_some_and(|pid| args.pid.contains(&pid)))
            && self.times.0.is_none_or(|from| from <= time)
            && self.times.1.is_none_or(|to| time <= to)
    }

    fn write(&mut self, head: &Head, record: &RawRecord<'_>, time: Timestamp) {
        let (line, header) = (&mut self.line, record.header);
        line.begin(time.0, record.offset, header.size, &header.kind.to_string());
        if let Some(inside) = record.inside {
            line.hex("inside", inside);
        }
        if record.file > 0 {
            line.number("file", record.file.into());
        }
        match &record.body {
            RawBody::Sample(sample) => dump_record::sample(line, head, sample, self.args.full),
            RawBody::Record(body, _) => dump_record::record(line, body),
            RawBody::Undecodable => line.flag("undecodable", true),
        }
        if self.args.raw {
            line.bytes("bytes", record.bytes);
        }
        line.end();
    }

    fn flush(&mut self) {
        if let Err(error) = self.out.write_all(&self.line.text) {
            self.failed.get_or_insert(error);
        }
        self.line.text.clear();
    }
}

/// When a record was made and which process it is about; processes of trailers where the body names none.
fn time_and_pid(body: &RawBody<'_>) -> (Timestamp, Option<i32>) {
    match body {
        RawBody::Sample(sample) => (sample.time, sample.pid.map(|pid| pid.0)),
        RawBody::Record(record, trailer) => {
            let pid = match record {
                Record::Mmap(map) => Some(map.pid),
                Record::Comm(comm) => Some(comm.pid),
                Record::Fork(task) | Record::Exit(task) => Some(task.pid),
                Record::Read { pid, .. } | Record::ItraceStart { pid, .. } => Some(*pid),
                Record::Namespaces(it) => Some(it.pid),
                _ => trailer.pid,
            };
            let time = match record {
                Record::Fork(task) | Record::Exit(task) => task.time,
                _ => trailer.time,
            };
            (time, pid.map(|pid| pid.0))
        }
        RawBody::Undecodable => (Timestamp(0), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_name_and_number() {
        assert_eq!(parse_kind("sample"), Ok(RecordKind::SAMPLE));
        assert_eq!(parse_kind("PERF_RECORD_MMAP2"), Ok(RecordKind::MMAP2));
        assert_eq!(parse_kind("81"), Ok(RecordKind::COMPRESSED));
        assert_eq!(parse_kind("simpleperf_callchain"), Ok(RecordKind::SIMPLEPERF_CALLCHAIN));
        assert!(parse_kind("nothing").is_err());
    }
}
