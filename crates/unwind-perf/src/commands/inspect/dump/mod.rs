//! `unwind-perf dump`: every record as one line, in file order.

mod line;
mod record;

use std::io::{self, Write};
use std::ops::ControlFlow;

use address::Timestamp;
use anyhow::Context as _;
use perf_data::{Findings, Head, RawBody, RawRecord, Record, visit_records};

use self::line::DumpLine;
use crate::args::{DumpArgs, clock_range, open};
use crate::terminal::{Status, print_findings, status_of};

/// Buffer size at which lines are written out, in bytes.
const FULL: usize = 1 << 18;

/// Dumps a recording to standard output.
pub(crate) fn run(args: &DumpArgs) -> anyhow::Result<Status> {
    let times = match &args.time {
        None => (None, None),
        Some(text) => {
            clock_range(text).with_context(|| format!("--time {text}: expected A,B in seconds"))?
        }
    };
    let mut dump = Dump {
        args,
        times,
        line: DumpLine::new(args.json),
        out: io::stdout().lock(),
        failed: None,
    };
    let mut findings = Findings::default();
    let (input, watch) = open(&args.input)?;
    visit_records(input, &mut findings, &mut |head, record| dump.add(head, record))
        .with_context(|| format!("cannot read {}", args.input.display()))?;
    dump.flush();
    if let Some(error) = dump.failed {
        return Err(error.into());
    }
    // The records up to here are genuine; a truncated file reads as zeros after them.
    watch.check()?;
    print_findings(&findings);
    Ok(status_of(&findings))
}

struct Dump<'a, W> {
    args: &'a DumpArgs,
    times: (Option<Timestamp>, Option<Timestamp>),
    line: DumpLine,
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> Dump<'_, W> {
    fn add(&mut self, head: &Head, record: &RawRecord<'_>) -> ControlFlow<()> {
        let (time, pid) = time_and_pid(&record.body);
        if self.matches(record, time, pid) {
            self.write(head, record, time);
            if self.line.text.len() >= FULL {
                self.flush();
            }
        }
        if self.failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn matches(&self, record: &RawRecord<'_>, time: Timestamp, pid: Option<i32>) -> bool {
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
            RawBody::Sample(sample) => record::sample(line, head, sample, self.args.full),
            RawBody::Record(body, _) => record::record(line, body),
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

/// Returns the time of a record and the process that it is about; the trailer's process if the body names none.
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
