//! NDJSON: one self-contained JSON object per sample and line. `docs/OUTPUT.md` describes the fields.

use std::io;
use std::ops::Range;

use address::ModuleId;

use crate::facts::FormatFacts;
use crate::printer::Printer;
use crate::render::chunks::write_rows;
use crate::render::escaped::Escaped;
use crate::render::field_value::push_value;
use crate::render::frame_texts::FrameTexts;
use crate::render::text::{push_hex, push_json, push_number};
use profile::query::{BiasCache, FrameFunction, StackWalker};
use profile::{
    FoundBy, FrameRow, InlineRow, LONGEST_REPEATED, LocationRow, ModuleKind, Profile, RowId as _,
    SampleId, SampleRow, Table, ThreadId,
};

/// Prints one JSON object per line.
#[derive(Debug, Clone, Copy)]
pub struct Ndjson {
    /// Whether inlined functions are separate frames.
    pub inlines: bool,
}

/// Frames are rendered in advance only if they number at most this many times the printed rows.
const FEW: usize = 8;

impl Ndjson {
    /// Name, file name endings and weights of the format.
    pub(crate) const FACTS: FormatFacts = FormatFacts::text(
        "ndjson",
        "one JSON object per line and sample",
        &[".ndjson", ".jsonl"],
        "application/x-ndjson",
    );
}

impl Printer for Ndjson {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        self.print_rows(profile, 0..profile.samples.len(), out)
    }
}

impl Ndjson {
    /// Prints a range of a profile's samples, for instance the latest ones. Printing a profile in ranges gives the same
    /// lines as printing it at once.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    pub fn print_rows(
        &self,
        profile: &Profile,
        samples: Range<usize>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let lines = JsonLines::new(profile);
        let render = |function: &FrameFunction<'_>, text: &mut Vec<u8>| lines.frame(function, text);
        let texts = if samples.len().saturating_mul(FEW) < profile.frames.len() {
            FrameTexts::of_few(profile, self.inlines, render)
        } else {
            FrameTexts::new(profile, self.inlines, render)
        };
        let walker = StackWalker::new(profile);
        write_rows(
            out,
            samples.len(),
            |sample| walker.depth(SampleId::from_index(samples.start + sample)),
            |rows, text| {
                let mut biases = BiasCache::new();
                let rows = samples.start + rows.start..samples.start + rows.end;
                let first = rows.start;
                let samples = profile.samples.as_slice().get(rows).unwrap_or_default();
                for (id, sample) in (first..).map(SampleId::from_index).zip(samples) {
                    lines.head(sample, text);
                    if !profile.fields.is_empty() {
                        lines.fields(id, sample, text);
                    }
                    lines.spans(id, text);
                    text.extend_from_slice(b",\"frames\":[");
                    let mut has_frames = false;
                    walker.walk(sample, &mut biases, |frame, addr| {
                        if !text.wants_more() {
                            return;
                        }
                        let before = text.len();
                        texts.push(frame, text, |text| push_addr(text, addr.0));
                        has_frames |= text.len() > before;
                    });
                    if has_frames {
                        // Removes the comma after the last frame.
                        text.pop();
                    }
                    text.extend_from_slice(b"]}\n");
                }
            },
        )
    }
}

/// Appends the start of a frame's object.
#[inline]
fn push_addr(out: &mut Vec<u8>, addr: u64) {
    out.extend_from_slice(b"{\"addr\":\"0x");
    push_hex(out, addr);
    out.push(b'"');
}

/// The profile, with rendered text for parts that many lines share.
struct JsonLines<'a> {
    profile: &'a Profile,
    strings: Escaped<'a>,
    /// `"pid":…,"tid":…,"comm":"…","process":"…"`.
    threads: Table<ThreadId, Box<[u8]>>,
    /// `,"module":"…","build_id":"…"`.
    modules: Table<ModuleId, Box<[u8]>>,
    /// By [`tail_index`]: `,"inlined":…,"found_by":"…","kernel":…},`.
    tails: Vec<Box<[u8]>>,
}

impl<'a> JsonLines<'a> {
    fn new(profile: &'a Profile) -> Self {
        let strings = Escaped::new(&profile.strings, LONGEST_REPEATED, push_json);
        let threads = profile.threads.iter().map(|thread| {
            let mut text =
                format!("\"pid\":{},\"tid\":{},\"comm\":\"", thread.pid, thread.tid).into_bytes();
            text.extend_from_slice(strings.get(thread.comm));
            text.extend_from_slice(b"\",\"process\":\"");
            text.extend_from_slice(strings.get(thread.process));
            text.push(b'"');
            if let Some(cgroup) = thread.cgroup {
                text.extend_from_slice(b",\"cgroup\":\"");
                text.extend_from_slice(strings.get(cgroup));
                text.push(b'"');
            }
            text.into()
        });
        let threads = threads.collect();
        let modules = profile.modules.iter().map(|module| {
            let mut text = b",\"module\":\"".to_vec();
            text.extend_from_slice(strings.get(module.path));
            text.push(b'"');
            if let Some(id) = module.build_id {
                text.extend_from_slice(format!(",\"build_id\":\"{id}\"").as_bytes());
            }
            text.into()
        });
        let modules = modules.collect();
        Self { profile, strings, threads, modules, tails: tails() }
    }

    /// Appends the line of a sample up to its frames.
    fn head(&self, sample: &SampleRow, out: &mut Vec<u8>) {
        out.push(b'{');
        if let Some(time) = sample.time() {
            out.extend_from_slice(b"\"time_ns\":");
            push_number(out, time.0);
            out.push(b',');
        }
        out.extend_from_slice(self.threads.get(sample.thread).map_or(&[], |text| text));
        if let Some(cpu) = sample.cpu() {
            out.extend_from_slice(b",\"cpu\":");
            push_number(out, cpu);
        }
        if let Some(event) = self.profile.events.get(sample.event) {
            out.extend_from_slice(b",\"event\":\"");
            out.extend_from_slice(self.strings.get(event.name));
            out.push(b'"');
        }
        if let Some(period) = sample.period() {
            out.extend_from_slice(b",\"period\":");
            push_number(out, period);
        }
        out.extend_from_slice(b",\"end\":\"");
        out.extend_from_slice(sample.end.as_str().as_bytes());
        out.push(b'"');
    }

    /// Appends the requested fields of a sample, if it has any.
    fn fields(&self, id: SampleId, sample: &SampleRow, out: &mut Vec<u8>) {
        let mut before: &[u8] = b",\"fields\":{\"";
        for (column, value) in self.profile.fields.of_sample(sample.event, id) {
            out.extend_from_slice(before);
            out.extend_from_slice(self.strings.get(column.name));
            out.extend_from_slice(b"\":");
            push_value(out, value, self.profile, &self.strings);
            before = b",\"";
        }
        if before.len() == 2 {
            out.push(b'}');
        }
    }

    /// Appends the spans that a sample begins, if there are any.
    fn spans(&self, id: SampleId, out: &mut Vec<u8>) {
        let spans = self.profile.fields.spans.of_sample(id);
        if spans.is_empty() {
            return;
        }
        let mut before: &[u8] = b",\"spans\":[{\"name\":\"";
        for span in spans {
            out.extend_from_slice(before);
            out.extend_from_slice(self.strings.get(span.name));
            if let Some(key) = span.key {
                out.extend_from_slice(b"\",\"key\":\"");
                out.extend_from_slice(self.strings.get(key));
            }
            out.extend_from_slice(b"\",\"duration_ns\":");
            push_number(out, span.duration);
            out.extend_from_slice(b",\"self_ns\":");
            push_number(out, span.own);
            out.push(b'}');
            before = b",{\"name\":\"";
        }
        out.push(b']');
    }

    /// Appends the object of a function of a frame after its address, and a comma.
    fn frame(&self, it: &FrameFunction<'_>, out: &mut Vec<u8>) {
        self.location(it.location, out);
        if let Some(function) = it.function {
            self.function(function, it.location, out);
        }
        out.extend_from_slice(self.tail(it.frame, it.function.is_some_and(|row| row.inlined)));
    }

    /// Appends the location, which all functions inlined at one address share.
    fn location(&self, location: &LocationRow, out: &mut Vec<u8>) {
        let Some(id) = location.module else { return };
        out.extend_from_slice(self.modules.get(id).map_or(&[], |text| text));
        if self.is_elf(id) {
            out.extend_from_slice(b",\"svma\":\"0x");
            push_hex(out, location.relative);
            out.push(b'"');
        }
        if let Some(offset) = location.offset {
            out.extend_from_slice(b",\"offset\":\"0x");
            push_hex(out, offset);
            out.push(b'"');
        }
    }

    fn is_elf(&self, id: ModuleId) -> bool {
        self.profile.modules.get(id).is_some_and(|module| module.kind == ModuleKind::Elf)
    }

    /// Appends the known fields of a function.
    fn function(&self, function: &InlineRow, location: &LocationRow, out: &mut Vec<u8>) {
        if let Some(name) = function.function {
            out.extend_from_slice(b",\"function\":\"");
            out.extend_from_slice(self.strings.get(name));
            out.push(b'"');
        }
        if let Some(offset) = location.function_offset.filter(|_| !function.inlined) {
            out.extend_from_slice(b",\"function_offset\":");
            push_number(out, offset);
        }
        if let Some(file) = function.file {
            out.extend_from_slice(b",\"file\":\"");
            out.extend_from_slice(self.strings.get(file));
            out.push(b'"');
        }
        if function.line != 0 {
            out.extend_from_slice(b",\"line\":");
            push_number(out, function.line);
        }
    }

    fn tail(&self, frame: &FrameRow, inlined: bool) -> &[u8] {
        self.tails.get(tail_index(frame.found_by, frame.kernel, inlined)).map_or(&[], |text| text)
    }
}

const fn tail_index(found_by: FoundBy, kernel: bool, inlined: bool) -> usize {
    found_by as usize * 4 + kernel as usize * 2 + inlined as usize
}

/// Returns the ends of frame objects, indexed by [`tail_index`].
fn tails() -> Vec<Box<[u8]>> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let all =
        FoundBy::ALL.iter().flat_map(|word| flags.map(|(kernel, inlined)| (word, kernel, inlined)));
    all.map(|(word, kernel, inlined)| {
        format!(",\"inlined\":{inlined},\"found_by\":\"{word}\",\"kernel\":{kernel}}},")
            .into_bytes()
            .into()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_where_the_index_says() {
        let tails = tails();
        for &word in FoundBy::ALL {
            for (kernel, inlined) in [(false, false), (false, true), (true, false), (true, true)] {
                let expected = format!(
                    ",\"inlined\":{inlined},\"found_by\":\"{word}\",\"kernel\":{kernel}}},"
                );
                assert_eq!(&*tails[tail_index(word, kernel, inlined)], expected.as_bytes());
            }
        }
    }
}
