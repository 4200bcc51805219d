//! Source and instructions of a function on the screen.

use std::cmp::Reverse;

use profile::StringId;
use profile::query::{Cost, FunctionId};
use ratatui::termion::event::Key;

use crate::app::list::{List, Move};
use crate::data::{CodeLine, Query, Snapshot, SourceLine, code_lines, hottest_code, safe};
use crate::feed::Code;

/// A row of source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceRow {
    /// Name of a file, and the reason that its text is missing.
    File(String),
    /// A line: its number, 0 if unknown, its text and its costs.
    Line { number: u32, text: String, own: Cost, inclusive: Cost },
}

/// Source lines and instructions of a function.
#[derive(Debug, Default)]
pub(crate) struct SourcePane {
    pub(crate) function: Option<FunctionId>,
    key: u64,
    pub(crate) source: Vec<SourceRow>,
    pub(crate) code: Vec<CodeLine>,
    /// The reason that there are no instructions.
    pub(crate) no_code: Option<String>,
    /// Whether instructions are shown instead of source.
    pub(crate) shows_code: bool,
    /// Cursors of source and instructions.
    pub(crate) lists: [List; 2],
    pub(crate) is_current: bool,
    /// Whether the cursors are on the hottest rows next.
    jumps: bool,
}

impl SourcePane {
    /// Chooses the function.
    pub(crate) fn select(&mut self, function: FunctionId, key: u64) {
        let shows_code = self.shows_code;
        *self = Self { function: Some(function), key, shows_code, jumps: true, ..Self::default() };
    }

    /// Finds the function in another profile.
    pub(crate) fn restore(&mut self, data: Option<&Snapshot>) {
        self.function = self.function.and_then(|_| data?.find(self.key));
    }

    /// Reads source and instructions if they are not current.
    pub(crate) fn prepare(
        &mut self,
        data: &Snapshot,
        query: &Query,
        code: Option<&dyn Code>,
        page: usize,
    ) -> Result<(), String> {
        let Some(function) = self.function.filter(|_| !self.is_current) else { return Ok(()) };
        let lines = query.lines(data, function)?;
        self.source = source_rows(data, function, &lines, code);
        self.read_code(data, query, function, code)?;
        self.is_current = true;
        if std::mem::take(&mut self.jumps) {
            let shown = self.shows_code;
            for shows_code in [true, false] {
                self.shows_code = shows_code;
                self.jump(0, page);
            }
            self.shows_code = shown;
        }
        Ok(())
    }

    fn read_code(
        &mut self,
        data: &Snapshot,
        query: &Query,
        function: FunctionId,
        code: Option<&dyn Code>,
    ) -> Result<(), String> {
        self.code.clear();
        let stacks = query.stacks(data)?;
        let read = || {
            let code = code.ok_or("the recording is being read")?;
            let place = hottest_code(data, &stacks, function);
            let place = place.ok_or("the start of this function is unknown")?;
            let instructions = code.instructions(place.0, place.1)?;
            Ok(code_lines(data, &stacks, place, instructions))
        };
        match read() {
            Ok(lines) => (self.code, self.no_code) = (lines, None),
            Err(why) => self.no_code = Some(safe(String::as_bytes(&why))),
        }
        Ok(())
    }

    /// Returns the number of rows of source or instructions, and their cursor.
    pub(crate) fn shown(&mut self) -> (usize, &mut List) {
        let [source, code] = &mut self.lists;
        if self.shows_code { (self.code.len(), code) } else { (self.source.len(), source) }
    }

    pub(crate) fn go(&mut self, to: Move, page: usize) {
        let (rows, list) = self.shown();
        list.go(to, rows, page);
    }

    /// Handles a key of this screen; returns false if it is none.
    pub(crate) fn key(&mut self, key: Key, page: usize) -> bool {
        match key {
            Key::Char('s') => self.shows_code = !self.shows_code,
            Key::Char('H') => self.jump(0, page),
            Key::Char('\t') => self.jump(1, page),
            Key::BackTab => self.jump(-1, page),
            Key::Char('\n') => {}
            _ => return false,
        }
        true
    }

    /// Selects the hottest row, or the next or previous one in the order of own cost.
    fn jump(&mut self, by: isize, page: usize) {
        let mut costs: Vec<(usize, Cost, Cost)> = if self.shows_code {
            self.code
                .iter()
                .map(|it| (it.own, it.inclusive))
                .enumerate()
                .map(|(at, (own, inclusive))| (at, own, inclusive))
                .collect()
        } else {
            let line = |(at, row): (usize, &SourceRow)| match row {
                SourceRow::Line { own, inclusive, .. } => Some((at, *own, *inclusive)),
                SourceRow::File(_) => None,
            };
            self.source.iter().enumerate().filter_map(line).collect()
        };
        costs.retain(|(_, own, inclusive)| own.weight > 0 || inclusive.weight > 0);
        costs.sort_by_key(|(_, own, inclusive)| Reverse((own.weight, inclusive.weight)));
        let (rows, list) = self.shown();
        let here = costs.iter().position(|(at, ..)| *at == list.at).filter(|_| by != 0);
        let next = match here {
            Some(here) => {
                (here + costs.len()).checked_add_signed(by).map_or(0, |at| at % costs.len())
            }
            None => 0,
        };
        if let Some((at, ..)) = costs.get(next) {
            list.center(*at, rows, page);
        }
    }
}

/// Returns the rows of all files with lines of a function: the file of its declaration first, then by cost.
fn source_rows(
    data: &Snapshot,
    function: FunctionId,
    lines: &[SourceLine],
    code: Option<&dyn Code>,
) -> Vec<SourceRow> {
    let own = data.function(function).file;
    let file_of = |line: &SourceLine| line.file.filter(|_| line.line != 0).or(own);
    let mut files: Vec<Option<StringId>> = vec![own];
    // Lines are sorted by cost.
    for file in lines.iter().map(file_of) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let mut rows = Vec::new();
    for file in files {
        let mut of_file: Vec<&SourceLine> = lines.iter().filter(|it| file_of(it) == file).collect();
        of_file.sort_by_key(|line| line.line);
        let text = file.and_then(|file| code?.source(data.profile.strings.get(file)));
        rows.push(SourceRow::File(match (file, &text) {
            (None, _) => "[no source file]".to_owned(),
            (Some(file), Some(_)) => safe(data.profile.strings.get(file)),
            (Some(file), None) => {
                let name = safe(data.profile.strings.get(file));
                format!("{name} (not found; name its folder with --source-dir DIR)")
            }
        }));
        let text = text.map(|text| String::from_utf8_lossy(&text).into_owned());
        let texts = text.iter().flat_map(|text| text.lines()).zip(1..);
        let has_text = text.is_some();
        let mut push = |number, text: &str, cost: Option<&SourceLine>| {
            let (own, inclusive) =
                cost.map_or_else(Default::default, |cost| (cost.own, cost.inclusive));
            let text = safe(text.replace('\t', "    ").as_bytes());
            rows.push(SourceRow::Line { number, text, own, inclusive });
        };
        let mut of_file = of_file.into_iter().peekable();
        if let Some(unknown) = of_file.next_if(|line| line.line == 0) {
            push(0, "[no line]", Some(unknown));
        }
        for (text, number) in texts {
            let cost = of_file.next_if(|line| line.line == number);
            push(number, text, cost);
        }
        // Lines beyond the end of a file that changed, or of one without text.
        for line in of_file {
            push(line.line, if has_text { "[beyond the end of the file]" } else { "" }, Some(line));
        }
    }
    rows
}
