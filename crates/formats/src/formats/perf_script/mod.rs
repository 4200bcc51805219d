//! The text of `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso`, for programs that parse it.
//!
//! ```text
//! comm    pid/tid   [cpu]     seconds:     period event:
//! t      9242/9242  [001]  1445.157017:    4000000 cpu-clock:
//!         ffffffff81d33dfc read_zero+0x7c ([kernel.kallsyms])
//!             560cb3a0e1c0 inl2+0x10 (inlined)
//!             560cb3a0e1c0 leaf+0x10 (/home/me/t)
//! ```
//!
//! # Known differences
//! - Addresses of user frames are those of the process. perf 6.1 prints some of them relative to the file.
//! - A field that a sample lacks is omitted from its header; perf refuses to print it for the whole recording.
//! - perf also prints `(inlined)` for a function that is not inlined but has two names.
//! - Events whose print format is not supported have `NAME=VALUE` for `trace`, as have selected fields and labels.
//! - Samples without a callchain have a line of their own for their address, except with `brstack`.
//! - Control characters in names are escaped, so that no name breaks a line; perf prints them raw.

mod branches;
mod memory;
mod source;

use std::io;

use self::branches::push_branch;
use self::memory::MemoryNumbers;
use crate::facts::{FormatFacts, PLAIN};
use crate::options::ScriptFields;
use crate::printer::Printer;
use crate::render::chunks::write_rows;
use crate::render::escaped::Escaped;
use crate::render::field_value::push_value;
use crate::render::frame_texts::FrameTexts;
use crate::render::text::{
    push_byte_escape, push_hex, push_hex_right, push_line_safe, push_number_right, push_right,
};
use profile::query::{BiasCache, FrameFunction, StackWalker, frame_functions};
use profile::{
    EventId, FieldValue, FoundBy, FrameId, FrameRow, InlineRow, LONGEST_REPEATED, LocationRow,
    Profile, RowId as _, SampleId, SampleRow, Table, ThreadId, ThreadRow,
};

/// Prints the output of `perf script`.
#[derive(Debug, Clone, Copy)]
pub struct PerfScript {
    /// Whether inlined functions are separate frames; if not, the output is that of `perf script --no-inline`.
    pub inlines: bool,
    /// The printed fields.
    pub fields: ScriptFields,
}

impl PerfScript {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::text(
        "perf-script",
        "the text of perf script",
        &[".perf-script", ".perf.txt", ".script"],
        PLAIN,
    );
}

impl Printer for PerfScript {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let lines = ScriptLines::new(profile, self.fields);
        let frames = self.fields.has("ip");
        let render = |function: &FrameFunction<'_>, text: &mut Vec<u8>| lines.frame(function, text);
        let texts = FrameTexts::new(profile, self.inlines, render);
        let deltas: Table<FrameId, u8> = profile.frames.iter().map(delta).collect();
        let walker = StackWalker::new(profile);
        write_rows(
            out,
            profile.samples.len(),
            |sample| walker.depth(SampleId::from_index(sample)),
            |rows, text| {
                let mut biases = BiasCache::new();
                let first = rows.start;
                let samples = profile.samples.as_slice().get(rows).unwrap_or_default();
                for (id, sample) in (first..).map(SampleId::from_index).zip(samples) {
                    let single = lines.is_single(sample);
                    lines.head(sample, single, text);
                    if lines.shown.trace {
                        lines.trace(id, sample, text);
                    }
                    lines.numbers.push_before((id, sample), lines.texts(), text);
                    if single && frames {
                        lines.single_frame(sample, (&walker, &mut biases), text);
                    }
                    if single || !frames {
                        lines.end(id, sample, text);
                        continue;
                    }
                    text.push(b'\n');
                    walker.walk(sample, &mut biases, |frame, addr| {
                        if !text.wants_more() {
                            return;
                        }
                        let delta = deltas.get(frame).copied().unwrap_or(0);
                        let addr = addr.add(delta.into());
                        texts.push(frame, text, |text| lines.addr(addr.0, text));
                    });
                    lines.end(id, sample, text);
                }
            },
        )
    }
}

/// Returns the offset of perf's address from ours. perf prints recorded callchains unchanged, with return addresses,
/// and subtracts 1 only when it unwinds itself.
fn delta(frame: &FrameRow) -> u8 {
    u8::from(frame.found_by == FoundBy::Callchain)
}

/// The profile, with rendered text for parts that many samples share.
struct ScriptLines<'a> {
    profile: &'a Profile,
    shown: RequestedFields,
    numbers: MemoryNumbers,
    strings: Escaped<'a>,
    /// The header up to and including the thread id.
    threads: Table<ThreadId, Box<[u8]>>,
    /// The same for samples on one line; empty if there are none.
    single_threads: Table<ThreadId, Box<[u8]>>,
    /// The name of each event, padded on the left to the longest name, as in perf.
    events: Table<EventId, Box<[u8]>>,
}

impl<'a> ScriptLines<'a> {
    fn new(profile: &'a Profile, fields: ScriptFields) -> Self {
        let shown = RequestedFields::new(fields);
        let numbers = MemoryNumbers::new(profile, fields);
        let strings = Escaped::new(&profile.strings, LONGEST_REPEATED, push_line_safe);
        let of_threads = |padded: bool| {
            let text =
                |thread: &ThreadRow| thread_text(thread, strings.get(thread.comm), fields, padded);
            profile.threads.iter().map(text).collect()
        };
        let threads = of_threads(!fields.has("ip"));
        let has_single = profile.events.ids().any(|id| profile.fields.branches.is_single(id));
        let single_threads = if has_single { of_threads(true) } else { Table::default() };
        let names = profile.events.iter().map(|event| strings.get(event.name));
        let width = names.clone().map(<[u8]>::len).max().unwrap_or(0);
        let events = names.map(|name| {
            let mut text = Vec::new();
            push_right(&mut text, name, width);
            text.extend_from_slice(b": ");
            text.into()
        });
        let events = events.collect();
        Self { profile, shown, numbers, strings, threads, single_threads, events }
    }

    /// Returns true if a sample is on one line, since it has no callchain.
    fn is_single(&self, sample: &SampleRow) -> bool {
        self.shown.brstack && self.profile.fields.branches.is_single(sample.event)
    }

    /// Appends the header of a sample.
    fn head(&self, sample: &SampleRow, single: bool, out: &mut Vec<u8>) {
        let threads = if single { &self.single_threads } else { &self.threads };
        out.extend_from_slice(threads.get(sample.thread).map_or(&[], |text| text));
        if let Some(cpu) = sample.cpu().filter(|_| self.shown.cpu) {
            push_cpu(out, cpu);
        }
        if let Some(time) = sample.time().filter(|_| self.shown.time) {
            push_time(out, time.0);
        }
        if let Some(period) = sample.period().filter(|_| self.shown.period) {
            push_number_right(out, period, 10);
            out.push(b' ');
        }
        if self.shown.event {
            let event = self.events.get(sample.event);
            out.extend_from_slice(event.map_or(&[], |text| text));
        }
    }

    /// Appends the text of a sample by the format of its event, and the requested values: the address of a probe in
    /// parentheses, then `NAME=VALUE`.
    fn trace(&self, id: SampleId, sample: &SampleRow, out: &mut Vec<u8>) {
        if let Some(text) = self.profile.fields.text(sample.event, id) {
            out.extend_from_slice(self.strings.get(text));
        }
        for (column, value) in self.profile.fields.of_sample(sample.event, id) {
            if self.numbers.has(column, self.texts()) {
                continue;
            }
            let name = self.strings.get(column.name);
            if let (b"__probe_ip", FieldValue::Unsigned(address)) = (name, value) {
                out.push(b'(');
                push_hex(out, address);
                out.push(b')');
                continue;
            }
            out.push(b' ');
            out.extend_from_slice(name);
            out.push(b'=');
            push_value(out, value, self.profile, &self.strings);
        }
    }

    /// Appends the start of a frame's line.
    #[inline]
    fn addr(&self, addr: u64, out: &mut Vec<u8>) {
        out.push(b'\t');
        push_hex_right(out, addr);
        if self.shown.has_function() {
            out.push(b' ');
        }
    }

    /// Appends the address of a sample without a callchain, on the line of its header. As in perf, inlined functions are
    /// omitted.
    fn single_frame<'b>(
        &self,
        sample: &SampleRow,
        (walker, biases): (&StackWalker<'b>, &mut BiasCache<'b>),
        out: &mut Vec<u8>,
    ) {
        let mut innermost = None;
        walker.walk(sample, biases, |frame, addr| {
            innermost.get_or_insert((frame, addr));
        });
        let Some((frame, addr)) = innermost else { return };
        out.push(b' ');
        push_hex_right(out, addr.0);
        if self.shown.has_function() {
            out.push(b' ');
        }
        if let Some(function) = frame_functions(self.profile, frame, false).next_back() {
            self.function(&function, out);
        }
    }

    /// Appends the end of a sample: its branches, and the numbers after them.
    fn end(&self, id: SampleId, sample: &SampleRow, out: &mut Vec<u8>) {
        if self.shown.brstack {
            for branch in self.profile.fields.branches.of_sample(id) {
                push_branch(out, branch, self.profile, &self.strings, self.shown.dso);
            }
        }
        self.numbers.push_after((id, sample), self.texts(), out);
        out.push(b'\n');
    }

    /// Returns the tables with the texts of values.
    const fn texts(&self) -> (&Profile, &Escaped<'a>) {
        (self.profile, &self.strings)
    }

    /// Appends the line of a function of a frame after its address.
    fn frame(&self, it: &FrameFunction<'_>, out: &mut Vec<u8>) {
        self.function(it, out);
        out.push(b'\n');
    }

    /// Appends a function of a frame: `<function>+0x<offset> (<module>)`, and its source line.
    fn function(&self, it: &FrameFunction<'_>, out: &mut Vec<u8>) {
        let FrameFunction { frame, location, function } = *it;
        match function.and_then(|function| function.function) {
            _ if !self.shown.sym => {}
            None => out.extend_from_slice(b"[unknown]"),
            Some(name) => {
                out.extend_from_slice(self.strings.get(name));
                // For an inlined function, perf prints the offset from the start of the containing function, too.
                if let Some(offset) = location.function_offset.filter(|_| self.shown.symoff) {
                    out.extend_from_slice(b"+0x");
                    push_hex(out, offset.wrapping_add(delta(frame).into()));
                }
            }
        }
        if self.shown.dso {
            self.module(function, location, out);
        }
        if self.shown.srcline
            && let Some((file, line)) = function.and_then(|row| Some((row.file?, row.line)))
        {
            let path = self.strings.get(file);
            out.extend_from_slice(b"\n  ");
            out.extend_from_slice(path.rsplit(|&byte| byte == b'/').next().unwrap_or(path));
            out.push(b':');
            push_number_right(out, line, 0);
        }
    }

    /// Appends ` (<module>)`.
    fn module(&self, function: Option<&InlineRow>, location: &LocationRow, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.shown.sym { b" (" } else { b"(" });
        let module = location.module.and_then(|id| self.profile.modules.get(id));
        out.extend_from_slice(match module {
            _ if function.is_some_and(|function| function.inlined) => b"inlined",
            Some(module) => self.strings.get(module.path),
            None => b"[unknown]",
        });
        out.push(b')');
    }
}

/// The requested fields of each sample or frame.
struct RequestedFields {
    cpu: bool,
    time: bool,
    period: bool,
    event: bool,
    sym: bool,
    symoff: bool,
    dso: bool,
    srcline: bool,
    trace: bool,
    brstack: bool,
}

impl RequestedFields {
    fn new(fields: ScriptFields) -> Self {
        Self {
            cpu: fields.has("cpu"),
            time: fields.has("time"),
            period: fields.has("period"),
            event: fields.has("event"),
            sym: fields.has("sym"),
            symoff: fields.has("symoff"),
            dso: fields.has("dso"),
            srcline: fields.has("srcline"),
            trace: fields.has(ScriptFields::TRACE),
            brstack: fields.has(ScriptFields::BRANCHES),
        }
    }
}

impl RequestedFields {
    /// Returns true if the function or the module follows the address of a frame.
    const fn has_function(&self) -> bool {
        self.sym || self.dso
    }
}

/// Width of thread names in lines without frames.
const COMM_WIDTH: usize = 16;

/// Returns the header up to and including the thread id. Before frames, it never begins with a space, a tab or `#`,
/// because readers would take it for a frame or a comment. Without lines of frames, names are padded to 16 characters, as
/// in perf.
fn thread_text(thread: &ThreadRow, comm: &[u8], fields: ScriptFields, padded: bool) -> Box<[u8]> {
    let mut text = Vec::new();
    match comm.split_first() {
        _ if !fields.has("comm") => {}
        // perf's name for a thread without a recorded name.
        None => text.extend_from_slice(format!(":{}", thread.tid).as_bytes()),
        Some((&first @ (b' ' | b'#'), rest)) => {
            push_byte_escape(&mut text, first);
            text.extend_from_slice(rest);
        }
        Some(_) => text.extend_from_slice(comm),
    }
    if fields.has("comm") {
        if padded {
            let padding = COMM_WIDTH.saturating_sub(text.len());
            text.splice(..0, std::iter::repeat_n(b' ', padding));
        }
        text.push(b' ');
    }
    let ids = match (fields.has("pid"), fields.has("tid")) {
        (true, true) => format!("{:5}/{:<5} ", thread.pid.0, thread.tid.0),
        (true, false) => format!("{:5} ", thread.pid.0),
        (false, true) => format!("{:5} ", thread.tid.0),
        (false, false) => String::new(),
    };
    text.extend_from_slice(ids.as_bytes());
    text.into()
}

/// Appends `[001] `.
fn push_cpu(out: &mut Vec<u8>, cpu: u32) {
    let mut number = itoa::Buffer::new();
    let digits = number.format(cpu).as_bytes();
    out.push(b'[');
    out.resize(out.len() + 3_usize.saturating_sub(digits.len()), b'0');
    out.extend_from_slice(digits);
    out.extend_from_slice(b"] ");
}

/// Appends ` 1445.157017: `: seconds and truncated microseconds.
fn push_time(out: &mut Vec<u8>, nanoseconds: u64) {
    push_number_right(out, nanoseconds / 1_000_000_000, 5);
    // The added 1,000,000 preserves leading zeros; the point replaces its 1.
    let fraction = out.len();
    push_number_right(out, 1_000_000 + nanoseconds % 1_000_000_000 / 1_000, 0);
    if let Some(byte) = out.get_mut(fraction) {
        *byte = b'.';
    }
    out.extend_from_slice(b": ");
}
