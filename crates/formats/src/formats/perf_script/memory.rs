//! Numbers that the processor takes with a sample of a memory access, as `perf script -F` prints them.

use profile::{EventId, FieldRows, FieldValue, Profile, SampleId, SampleRow, StringId};

use super::source::source_text;
use crate::options::ScriptFields;
use crate::render::escaped::Escaped;
use crate::render::field_value::push_value;
use crate::render::text::{push_hex_right, push_number_right};

/// `PERF_TYPE_TRACEPOINT`: the fields of such events are their own, even if they have the name of a number.
const TRACEPOINT: u32 = 2;
/// Width of a number.
const WIDTH: usize = 16;

/// The requested numbers of samples.
pub(super) struct MemoryNumbers {
    /// Names of the numbers before the frames, in the order of printing.
    before: Vec<&'static str>,
    /// Names of the numbers after the frames.
    after: Vec<&'static str>,
    /// Width of the source of the data in each sample: the longest one so far. Empty if it is not printed.
    widths: Vec<usize>,
}

impl MemoryNumbers {
    /// Returns the requested numbers. As in perf, the source of the data is padded to the longest one of the samples so
    /// far.
    pub(super) fn new(profile: &Profile, fields: ScriptFields) -> Self {
        let requested = |names: &[&'static str]| {
            names.iter().copied().filter(|name| fields.has(name)).collect::<Vec<_>>()
        };
        let before = requested(&["addr", "data_src", "weight", "ins_lat"]);
        let mut widths = Vec::new();
        if before.contains(&"data_src") {
            let mut longest = 0;
            widths.extend(profile.samples.entries().map(|(id, sample)| {
                let name = |id| profile.strings.get(id);
                if let Some(FieldValue::Unsigned(number)) =
                    number((id, sample), profile, name, "data_src")
                {
                    longest = longest.max(source_text(number).len());
                }
                longest
            }));
        }
        Self { before, after: requested(&["phys_addr"]), widths }
    }

    /// Returns true if a column has one of the numbers.
    pub(super) fn has(
        &self,
        column: &FieldRows,
        (profile, strings): (&Profile, &Escaped<'_>),
    ) -> bool {
        let name = strings.get(column.name);
        let mut names = self.before.iter().chain(&self.after);
        column.event.is_some_and(|event| has_numbers(profile, event))
            && names.any(|known| known.as_bytes() == name)
    }

    /// Appends the numbers that come before the frames of a sample.
    pub(super) fn push_before(
        &self,
        (id, sample): (SampleId, &SampleRow),
        (profile, strings): (&Profile, &Escaped<'_>),
        out: &mut Vec<u8>,
    ) {
        for name in &self.before {
            self.push(name, (id, sample), (profile, strings), out);
        }
    }

    /// Appends the numbers that come after the frames and the branches of a sample.
    pub(super) fn push_after(
        &self,
        (id, sample): (SampleId, &SampleRow),
        (profile, strings): (&Profile, &Escaped<'_>),
        out: &mut Vec<u8>,
    ) {
        for name in &self.after {
            self.push(name, (id, sample), (profile, strings), out);
        }
    }

    fn push(
        &self,
        name: &str,
        (id, sample): (SampleId, &SampleRow),
        (profile, strings): (&Profile, &Escaped<'_>),
        out: &mut Vec<u8>,
    ) {
        match (name, number((id, sample), profile, |id| strings.get(id), name)) {
            (_, None) => {}
            ("data_src", Some(FieldValue::Unsigned(number))) => {
                let text = source_text(number);
                out.extend_from_slice(text.as_bytes());
                let width = self.widths.get(id.index()).copied().unwrap_or_default();
                out.resize(out.len() + width.saturating_sub(text.len()), b' ');
            }
            ("addr" | "phys_addr", Some(FieldValue::Unsigned(number))) => {
                push_hex_right(out, number);
            }
            (_, Some(FieldValue::Unsigned(number))) => push_number_right(out, number, WIDTH),
            // A hash in place of the number.
            (_, Some(value)) => {
                out.push(b' ');
                push_value(out, value, profile, strings);
            }
        }
    }
}

/// Returns true if the fields of an event are numbers of its samples.
fn has_numbers(profile: &Profile, event: EventId) -> bool {
    profile.events.get(event).is_some_and(|event| event.kind != TRACEPOINT)
}

/// Returns a number of a sample. `text` returns the name of a column.
fn number<'t>(
    (id, sample): (SampleId, &SampleRow),
    profile: &Profile,
    text: impl Fn(StringId) -> &'t [u8],
    name: &str,
) -> Option<FieldValue> {
    let mut values = profile.fields.of_sample(sample.event, id);
    let is_number = |column: &FieldRows| {
        column.event.is_some_and(|event| has_numbers(profile, event))
            && text(column.name) == name.as_bytes()
    };
    values.find(|(column, _)| is_number(column)).map(|(_, value)| value)
}
