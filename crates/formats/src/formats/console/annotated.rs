//! Source and instructions of a function with their costs.

use std::io;

use profile::query::{AddressCost, Annotation, Cost, FunctionMarks, LineCost, Weights};
use profile::{Profile, StringId};

use super::labels;
use super::look::ConsoleLook;
use super::short_names::ShortNames;
use crate::render::numbers::share;
use crate::render::width::{columns, cut_end, cut_middle, wrapped_text};

/// Number of source lines shown before and after each line with a cost.
const AROUND: u32 = 3;

/// A source file with lines of the function.
#[derive(Debug)]
pub struct AnnotatedSource {
    /// Its name; `None` if it is unknown.
    pub file: Option<StringId>,
    /// Its lines; `None` if the file was not found.
    pub lines: Option<Vec<String>>,
}

/// A function with the available source and instructions.
#[derive(Debug)]
pub struct AnnotatedFunction<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Weights of the samples.
    pub weights: &'a Weights,
    /// Total cost of the counted samples.
    pub total: Cost,
    /// The function with the costs of its lines.
    pub function: &'a Annotation,
    /// Its source files, starting with the file of its declaration.
    pub sources: &'a [AnnotatedSource],
    /// Its instructions: address, length and text.
    pub instructions: &'a [(u64, u8, String)],
    /// Costs of its code addresses, sorted by address.
    pub addresses: &'a [AddressCost],
    /// Marks of functions that share a name.
    pub marks: &'a FunctionMarks,
    /// Names of all functions, among which a short name is distinct.
    pub names: &'a [Option<StringId>],
    /// Appearance of the table.
    pub look: ConsoleLook,
}

impl AnnotatedFunction<'_> {
    /// Prints the function.
    ///
    /// # Errors
    /// Returns the error of writing to `out`.
    pub fn print(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let mut text = labels::what_is_counted(self.profile, self.weights, self.total);
        let function = &self.function.function;
        let rest = format!(
            "  {}: own {}, inclusive {}",
            labels::module(self.profile, function.module),
            share(self.function.own.weight, self.total.weight),
            share(self.function.inclusive.weight, self.total.weight),
        );
        let names = match self.look.short_names {
            true => ShortNames::new(self.profile, [function.name], self.names.iter().copied()),
            false => ShortNames::default(),
        };
        let name = labels::marked(self.profile, function, self.marks, &names);
        let name = cut_middle(&name, self.look.remaining(columns(&rest)));
        text = format!("{}\n{name}{rest}\n", wrapped_text(&text, self.look.width, 2));
        for source in self.sources {
            self.source(source, &mut text);
        }
        if !self.instructions.is_empty() {
            self.code(&mut text);
        }
        out.write_all(text.as_bytes())
    }

    fn source(&self, source: &AnnotatedSource, text: &mut String) {
        let heading = self.look.heading();
        let file = source.file.map(|file| self.profile.strings.get(file));
        let file = file.map_or_else(|| "[no source file]".to_owned(), labels::text);
        let file = cut_middle(&file, self.look.remaining(28));
        let head = format!("{:>7}  {:>9}  {:>6}  {file}", "own", "inclusive", "line");
        text.push_str(&format!("\n{heading}{head}{heading:#}\n"));
        let lines = self.lines_of(source.file);
        let Some(source) = &source.lines else {
            for line in lines {
                self.line(line.line, Some(line), "", text);
            }
            return;
        };
        let mut last = 0;
        for (number, source) in (1_u32..).zip(source) {
            let near = |line: &LineCost| line.line != 0 && line.line.abs_diff(number) <= AROUND;
            if !lines.iter().any(|line| near(line)) {
                continue;
            }
            if last != 0 && number > last + 1 {
                text.push_str(&format!("{:>28}\n", "…"));
            }
            last = number;
            let cost = lines.iter().find(|line| line.line == number);
            self.line(number, cost.copied(), source, text);
        }
        if let Some(unknown) = lines.iter().find(|line| line.line == 0) {
            self.line(0, Some(unknown), "[no line]", text);
        }
    }

    /// Returns the lines of a file. Lines without a file belong to the file of the function.
    fn lines_of(&self, file: Option<StringId>) -> Vec<&LineCost> {
        let own = self.function.function.file;
        let of = |line: &LineCost| line.file.filter(|_| line.line != 0).or(own);
        self.function.lines.iter().filter(|line| of(line) == file).collect()
    }

    fn line(&self, number: u32, cost: Option<&LineCost>, source: &str, text: &mut String) {
        let cost = cost.map(|it| (it.own, it.inclusive));
        self.costs(cost, text);
        let number = if number == 0 { String::new() } else { number.to_string() };
        let source = labels::text(source.replace('\t', "    ").as_bytes());
        let source = cut_end(&source, self.look.remaining(28));
        text.push_str(format!("  {number:>6}  {source}").trim_end());
        text.push('\n');
    }

    /// Appends the costs of a line; blank if it has none.
    fn costs(&self, cost: Option<(Cost, Cost)>, text: &mut String) {
        let total = self.total.weight;
        let (own, inclusive) = cost.unwrap_or_default();
        let shown = |cost: Cost| {
            if cost.weight == 0 { String::new() } else { share(cost.weight, total) }
        };
        let (first, second) =
            (self.look.share(own.weight, total), self.look.share(inclusive.weight, total));
        text.push_str(&format!(
            "{first}{:>7}{first:#}  {second}{:>9}{second:#}",
            shown(own),
            shown(inclusive)
        ));
    }

    fn code(&self, text: &mut String) {
        let heading = self.look.heading();
        let head = format!("{:>7}  {:>9}  {:>10}  instruction", "own", "inclusive", "address");
        text.push_str(&format!("\n{heading}{head}{heading:#}\n"));
        for (address, len, instruction) in self.instructions {
            self.costs(Some(self.instruction_costs(*address, *len)), text);
            let instruction =
                cut_end(&labels::text(instruction.as_bytes()), self.look.remaining(32));
            text.push_str(&format!("  {:>10}  {instruction}\n", format!("{address:x}")));
        }
    }

    /// Returns the own and inclusive costs of the instruction at an address.
    pub(super) fn instruction_costs(&self, address: u64, length: u8) -> (Cost, Cost) {
        let end = address.saturating_add(u64::from(length));
        let first = self.addresses.partition_point(|it| it.address < address);
        let rest = self.addresses.get(first..).unwrap_or_default();
        let within = rest.iter().take_while(|it| it.address < end);
        (within.clone().map(|it| it.own).sum(), within.map(|it| it.inclusive).sum())
    }
}
