//! A function with the costs of its lines and instructions for programs, as JSON.

use std::io;

use profile::query::{Cost, LineCost, event_name};
use serde::Serialize;

use super::annotated::AnnotatedFunction;
use super::row_keys::text_of;

/// Costs of a row.
#[derive(Serialize)]
struct Costs {
    own_samples: u64,
    own: u64,
    inclusive_samples: u64,
    inclusive: u64,
}

impl Costs {
    const fn new(own: Cost, inclusive: Cost) -> Self {
        Self {
            own_samples: own.samples,
            own: own.weight,
            inclusive_samples: inclusive.samples,
            inclusive: inclusive.weight,
        }
    }
}

/// A line with a cost.
#[derive(Serialize)]
struct Line<'a> {
    file: Option<String>,
    /// Null if it is unknown.
    line: Option<u32>,
    /// Null if the file was not found.
    text: Option<&'a str>,
    #[serde(flatten)]
    costs: Costs,
}

#[derive(Serialize)]
struct Instruction<'a> {
    address: u64,
    /// In bytes.
    length: u8,
    text: &'a str,
    #[serde(flatten)]
    costs: Costs,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: u32,
    function: Option<String>,
    mark: Option<&'a str>,
    module: Option<String>,
    #[serde(flatten)]
    costs: Costs,
    unit: &'static str,
    event: Option<String>,
    samples: u64,
    total: u64,
    lines: Vec<Line<'a>>,
    instructions: Vec<Instruction<'a>>,
}

impl AnnotatedFunction<'_> {
    /// Prints a JSON object and a line feed.
    ///
    /// # Errors
    /// Returns the error of writing to `out`.
    pub fn print_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let text = |id| text_of(self.profile.strings.get(id));
        let it = &self.function.function;
        let document = Document {
            schema: "unwind-perf.annotate",
            version: 1,
            function: it.name.map(text),
            mark: self.marks.of(it),
            module: it.module.map(text),
            costs: Costs::new(self.function.own, self.function.inclusive),
            unit: self.weights.unit().as_str(),
            event: self.weights.event().map(|event| text_of(event_name(self.profile, event))),
            samples: self.total.samples,
            total: self.total.weight,
            lines: self.function.lines.iter().map(|line| self.line_row(line)).collect(),
            instructions: self.instruction_rows(),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        out.write_all(b"\n")
    }

    fn line_row(&self, line: &LineCost) -> Line<'_> {
        let source = self.sources.iter().find(|source| source.file == line.file);
        let lines = source.and_then(|source| source.lines.as_deref());
        let at = (line.line as usize).checked_sub(1);
        Line {
            file: line.file.map(|file| text_of(self.profile.strings.get(file))),
            line: (line.line != 0).then_some(line.line),
            text: lines.zip(at).and_then(|(lines, at)| lines.get(at)).map(String::as_str),
            costs: Costs::new(line.own, line.inclusive),
        }
    }

    fn instruction_rows(&self) -> Vec<Instruction<'_>> {
        let mut rows = Vec::with_capacity(self.instructions.len());
        for &(address, length, ref text) in self.instructions {
            let (own, inclusive) = self.instruction_costs(address, length);
            rows.push(Instruction { address, length, text, costs: Costs::new(own, inclusive) });
        }
        rows
    }
}
