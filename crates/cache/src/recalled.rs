//! Addresses of a run's files with the answers of earlier runs, and the missing addresses.
//!
//! ```text
//!   keys, addresses --> Recalled --missing--> symbolize --> the missing answers
//!                          |                                   |
//!                          '---------- complete ---------------+--> all answers, as of a run without a cache
//!                                                              '--> files of the cache
//! ```

use std::sync::Arc;

use address::Svma;
use profile::{InlineRow, StringId, Strings};
use rayon::prelude::*;
use symbolizer::{ResolvedAddress, Symbols};

use crate::answers::{AnswerRow, Answers, FrameRow, Writer, number_of_reason};
use crate::key::CacheKey;
use crate::store::Cache;

/// Stored answers for the addresses of several files.
#[derive(Debug)]
pub struct Recalled(Vec<RecalledFile>);

/// Stored answers for one file.
#[derive(Debug)]
struct RecalledFile {
    key: Option<CacheKey>,
    answers: Option<Arc<Answers>>,
    /// Row of the answer of each address.
    rows: Vec<Option<u32>>,
    /// Addresses without an answer.
    missing: Vec<Svma>,
}

/// New answers with their strings.
#[derive(Clone, Copy, Debug)]
pub struct Fresh<'f> {
    /// Answers for the missing addresses, request by request.
    pub symbols: &'f Symbols,
    /// Their strings.
    pub strings: &'f Strings,
}

impl Cache {
    /// Looks up ascending addresses of files under the files' keys. A file without a key has no answers.
    #[must_use]
    pub fn recall(&self, files: &[(Option<CacheKey>, &[Svma])]) -> Recalled {
        let recall = |&(key, addresses): &(Option<CacheKey>, &[Svma])| {
            let answers = key.and_then(|key| self.answers(&key));
            let rows = match &answers {
                Some(answers) => answers.find(addresses),
                None => vec![None; addresses.len()],
            };
            let pairs = rows.iter().zip(addresses).filter(|(row, _)| row.is_none());
            let missing = pairs.map(|(_, address)| *address).collect();
            RecalledFile { key, answers, rows, missing }
        };
        Recalled(files.par_iter().map(recall).collect())
    }

    /// Stores the new answers in addition to earlier ones, for files with `may_store` set and without findings.
    pub fn store(&self, recalled: &Recalled, fresh: Fresh<'_>, may_store: &[bool]) {
        if fresh.strings.omitted() > 0 {
            return;
        }
        let has_finding = |number: usize| {
            fresh.symbols.findings.iter().any(|finding| finding.request as usize == number)
        };
        let files = recalled.0.par_iter().zip(may_store).enumerate();
        files.for_each(|(number, (file, may_store))| {
            let Some(key) = file.key.filter(|_| *may_store && !file.missing.is_empty()) else {
                return;
            };
            let Some(answers) = fresh.symbols.addresses.get(number) else { return };
            let is_storable = |answer: &ResolvedAddress| number_of_reason(answer.reason).is_some();
            if has_finding(number) || !answers.iter().all(is_storable) {
                return;
            }
            let most = self.most_of_file();
            let new = |old| file.write(old, answers, fresh).finish(&key, most);
            // If the old and new answers exceed the limit together, only the new ones are stored.
            if let Some(bytes) = new(file.answers.as_deref()).or_else(|| new(None)) {
                self.write(&key, &bytes);
            }
        });
    }
}

impl RecalledFile {
    /// Merges old and new answers by ascending addresses.
    fn write(
        &self,
        old: Option<&Answers>,
        answers: &[ResolvedAddress],
        fresh: Fresh<'_>,
    ) -> Writer {
        let mut writer = Writer::default();
        let (mut old_numbers, mut new_numbers) = (Default::default(), Default::default());
        let mut row = 0;
        let mut add_old = |writer: &mut Writer, before: Option<Svma>| {
            let Some(old) = old else { return };
            while row < old.len() && before.is_none_or(|before| old.address(row) < before.0) {
                writer.add_old(old, row, &mut old_numbers);
                row += 1;
            }
        };
        let text = |number| fresh.strings.get(StringId::new(number));
        for (&address, answer) in self.missing.iter().zip(answers) {
            add_old(&mut writer, Some(address));
            let frames = frames_of(fresh.symbols, answer).iter().map(FrameRow::of);
            writer.add(address.0, &row_of(answer), frames, &mut new_numbers, text);
        }
        add_old(&mut writer, None);
        writer
    }
}

fn frames_of<'s>(symbols: &'s Symbols, answer: &ResolvedAddress) -> &'s [InlineRow] {
    let range = answer.frames.start as usize..answer.frames.end as usize;
    symbols.frames.get(range).unwrap_or_default()
}

impl Recalled {
    /// Addresses of a file without a stored answer.
    #[must_use]
    pub fn missing(&self, file: usize) -> &[Svma] {
        self.0.get(file).map_or(&[], |file| &file.missing)
    }

    /// Returns all answers, in the order of the addresses.
    /// Strings are added to `strings` in the order of a [`symbolize`](symbolizer::symbolize) call for all addresses.
    /// That order is: paths of all frames first, then names of all functions.
    #[must_use]
    pub fn complete(self, fresh: Fresh<'_>, strings: &mut Strings) -> Symbols {
        let mut all = Completed {
            symbols: Symbols { findings: fresh.symbols.findings.clone(), ..Symbols::default() },
            functions: Vec::new(),
            replaced: Vec::new(),
        };
        let mut of_fresh = InternedStrings::of(fresh.strings.len());
        let mut of_files: Vec<InternedStrings> = Vec::with_capacity(self.0.len());
        let fresh_text = |number| fresh.strings.get(StringId::new(number));
        for (number, file) in (0_u32..).zip(&self.0) {
            let mut interned =
                InternedStrings::of(file.answers.as_ref().map_or(0, |it| it.strings()));
            let fresh_answers = fresh.symbols.addresses.get(number as usize);
            let mut fresh_answers = fresh_answers.into_iter().flatten();
            let mut addresses = Vec::with_capacity(file.rows.len());
            for row in &file.rows {
                let answer = match (row, &file.answers) {
                    (Some(row), Some(answers)) => {
                        let row = answers.row(*row as usize);
                        let text = |number| answers.string(number);
                        let path = |path| interned.id(path, text, strings);
                        let frames = row.frames.clone().map(|frame| answers.frame(frame));
                        all.push(StringSource::File(number), &row, frames, path)
                    }
                    _ => {
                        let Some(answer) = fresh_answers.next() else { break };
                        let path = |path| of_fresh.id(path, fresh_text, strings);
                        let frames = frames_of(fresh.symbols, answer).iter().map(FrameRow::of);
                        all.push(StringSource::Fresh, &row_of(answer), frames, path)
                    }
                };
                addresses.push(answer);
            }
            all.symbols.addresses.push(addresses);
            of_files.push(interned);
        }
        all.name(|(source, number)| match source {
            StringSource::Fresh => of_fresh.id(number, fresh_text, strings),
            StringSource::File(file) => {
                let answers = self.0.get(file as usize)?.answers.as_ref()?;
                let text = |number| answers.string(number);
                of_files.get_mut(file as usize)?.id(number, text, strings)
            }
        })
    }
}

fn row_of(answer: &ResolvedAddress) -> AnswerRow {
    let ResolvedAddress { function_start, reason, replaced, .. } = *answer;
    AnswerRow {
        start: function_start,
        frames: 0..0,
        replaced: replaced.map(StringId::as_u32),
        reason,
    }
}

/// Source of a string number.
#[derive(Clone, Copy)]
enum StringSource {
    /// The new answers.
    Fresh,
    /// The stored answers of a file.
    File(u32),
}

/// A string without an id so far.
type SourceText = (StringSource, u32);

/// Assigned ids of the strings of one source.
struct InternedStrings(Vec<Option<StringId>>);

impl InternedStrings {
    fn of(strings: usize) -> Self {
        Self(vec![None; strings])
    }

    fn id<'s>(
        &mut self,
        number: u32,
        text: impl Fn(u32) -> &'s [u8],
        strings: &mut Strings,
    ) -> Option<StringId> {
        let slot = self.0.get_mut(number as usize)?;
        Some(*slot.get_or_insert_with(|| strings.intern(text(number))))
    }
}

/// Answers with functions that have no ids yet.
struct Completed {
    symbols: Symbols,
    /// Function of each frame.
    functions: Vec<Option<SourceText>>,
    /// Replaced names, each with the frame that has the new name.
    replaced: Vec<(usize, SourceText)>,
}

impl Completed {
    /// Adds an answer; `path` returns the id of a path.
    fn push(
        &mut self,
        source: StringSource,
        row: &AnswerRow,
        frames: impl Iterator<Item = FrameRow>,
        mut path: impl FnMut(u32) -> Option<StringId>,
    ) -> ResolvedAddress {
        let first = self.symbols.frames.len() as u32;
        for frame in frames {
            let FrameRow { line, column, inlined, declared_line, .. } = frame;
            let (file, declared_file) =
                (frame.file.and_then(&mut path), frame.declared_file.and_then(&mut path));
            let function = None;
            self.symbols.frames.push(InlineRow {
                function,
                file,
                line,
                column,
                inlined,
                declared_file,
                declared_line,
            });
            self.functions.push(frame.function.map(|function| (source, function)));
        }
        let end = self.symbols.frames.len() as u32;
        if let Some(replaced) = row.replaced {
            self.replaced.push(((end as usize).saturating_sub(1), (source, replaced)));
        }
        ResolvedAddress {
            function_start: row.start,
            frames: first..end,
            reason: row.reason,
            replaced: None,
        }
    }

    /// Assigns ids to all functions, in frame order; a replaced name comes before its replacement.
    fn name(mut self, mut id: impl FnMut(SourceText) -> Option<StringId>) -> Symbols {
        let mut replaced = self.replaced.into_iter().peekable();
        let mut named = Vec::new();
        let frames = self.symbols.frames.iter_mut().zip(&self.functions);
        for (at, (frame, function)) in frames.enumerate() {
            if let Some((_, text)) = replaced.next_if(|(before, _)| *before == at) {
                named.push((at, id(text)));
            }
            frame.function = function.and_then(&mut id);
        }
        let mut named = named.into_iter().peekable();
        for answer in self.symbols.addresses.iter_mut().flatten() {
            let end = answer.frames.end as usize;
            let own =
                named.next_if(|(at, _)| answer.frames.contains(&(*at as u32)) && at + 1 == end);
            answer.replaced = own.and_then(|(_, id)| id);
        }
        self.symbols
    }
}
