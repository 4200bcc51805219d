//! Puts the results of all units together: local names become numbers of one table, and each distinct mangled name is
//! demangled once, in parallel.

use std::hash::BuildHasher as _;

use address::Svma;
use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;

use crate::demangle::{Demangle, demangle};
use crate::names::{NameId, NameTable};
use crate::request::{Options, ResolvedAddress, ResolvedFrame, Symbols, WhyNoName};
use crate::run::job::{Answer, FinishedUnit, OpenedFiles};

const NONE: u32 = u32::MAX;

/// Makes the answers of all requests. Frames come in the order of the addresses, names in the order of the frames.
pub(crate) fn merge(
    opened: &[OpenedFiles<'_>],
    answers: &[Vec<Option<Answer>>],
    done: &[FinishedUnit<'_>],
    options: &Options<'_>,
) -> Symbols {
    let mut merger = Merger {
        done,
        functions: done.iter().map(|done| vec![NONE; done.result.functions.len()]).collect(),
        files: done.iter().map(|done| vec![NONE; done.result.files.len()]).collect(),
        mangled: HashTable::new(),
        hasher: DefaultHashBuilder::default(),
        order: Vec::new(),
        symbols: Symbols::default(),
    };
    for (file, answers) in opened.iter().zip(answers) {
        merger.request(file, answers);
    }
    merger.finish(options)
}

struct Merger<'m> {
    done: &'m [FinishedUnit<'m>],
    /// For each finished unit, the numbers of its names and files that were seen.
    functions: Vec<Vec<u32>>,
    files: Vec<Vec<u32>>,
    /// Hash and number of each mangled name, so that none is hashed again when the table grows.
    mangled: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
    order: Vec<&'m [u8]>,
    symbols: Symbols,
}

impl<'m> Merger<'m> {
    fn request(&mut self, file: &'m OpenedFiles<'_>, answers: &[Option<Answer>]) {
        let mut addresses = Vec::with_capacity(answers.len());
        // Neighbours mostly lie in the same function.
        let mut last: Option<(&[u8], NameId)> = None;
        for (symbol, answer) in file.symbols.iter().zip(answers) {
            let first = self.symbols.frames.len() as u32;
            let mut function_start = None;
            if let Some(answer) = answer {
                function_start = self.frames(*answer);
            }
            if let Some(symbol) = symbol {
                let name: &'m [u8] = &symbol.name;
                let id = match last {
                    Some((known, id)) if std::ptr::eq(known, name) => id,
                    _ => self.mangled(name),
                };
                last = Some((name, id));
                function_start = Some(symbol.start);
                match self.symbols.frames.get_mut(first as usize..).and_then(<[_]>::last_mut) {
                    Some(outermost) => outermost.function = Some(id),
                    None => self.symbols.frames.push(ResolvedFrame {
                        function: Some(id),
                        file: None,
                        line: 0,
                        column: 0,
                        inlined: false,
                    }),
                }
            }
            let end = self.symbols.frames.len() as u32;
            let outermost = self.symbols.frames.get(first as usize..).and_then(<[_]>::last);
            let reason = match outermost {
                Some(frame) if frame.function.is_some() => None,
                _ if file.has_symbols => Some(WhyNoName::NotCovered),
                _ => Some(WhyNoName::NoSymbols),
            };
            let function_start = function_start.map(Svma);
            addresses.push(ResolvedAddress { function_start, frames: first..end, reason });
        }
        self.symbols.addresses.push(addresses);
    }

    /// Copies the frames of an address; gives the start of its function.
    fn frames(&mut self, answer: Answer) -> Option<u64> {
        let result = &self.done.get(answer.job as usize)?.result;
        let address = result.addresses.get(answer.index as usize)?;
        let first = address.first_frame as usize;
        for frame in result.frames.get(first..first + address.n_frames as usize)? {
            let function = result.functions.get(frame.function as usize).map(|name| {
                let known = self.number(answer.job, frame.function);
                if known == NONE {
                    let id = self.mangled(name);
                    if let Some(slot) = self.slot(answer.job, frame.function) {
                        *slot = id.0;
                    }
                    return id;
                }
                NameId(known)
            });
            let file = result.files.get(frame.file as usize).and_then(|path| {
                let slot = self.files.get_mut(answer.job as usize)?.get_mut(frame.file as usize)?;
                if *slot == NONE {
                    *slot = self.symbols.names.intern(path).0;
                }
                Some(NameId(*slot))
            });
            let &dwarf_frame = frame;
            self.symbols.frames.push(ResolvedFrame {
                function,
                file,
                line: dwarf_frame.line,
                column: dwarf_frame.column,
                inlined: dwarf_frame.inlined,
            });
        }
        address.function_start
    }

    fn number(&self, job: u32, function: u32) -> u32 {
        self.functions
            .get(job as usize)
            .and_then(|names| names.get(function as usize))
            .copied()
            .unwrap_or(NONE)
    }

    fn slot(&mut self, job: u32, function: u32) -> Option<&mut u32> {
        self.functions.get_mut(job as usize)?.get_mut(function as usize)
    }

    /// The number of a mangled name, in the order of first use.
    fn mangled(&mut self, name: &'m [u8]) -> NameId {
        let Self { mangled, hasher, order, .. } = self;
        let hash = hasher.hash_one(name);
        let same = |&(known, id): &(u64, u32)| {
            known == hash && order.get(id as usize).is_some_and(|known| *known == name)
        };
        if let Some(&(_, known)) = mangled.find(hash, same) {
            return NameId(known);
        }
        let id = order.len() as u32;
        mangled.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        order.push(name);
        NameId(id)
    }

    fn finish(mut self, options: &Options<'_>) -> Symbols {
        let names = &mut self.symbols.names;
        let readable: Vec<Readable> = self
            .order
            .par_chunks(CHUNK)
            .map(|chunk| Readable::of(chunk, options.demangle, names))
            .collect();
        let mut ids: Vec<NameId> = Vec::with_capacity(self.order.len());
        for chunk in &readable {
            ids.extend(chunk.names().map(|(name, hash)| names.intern_hashed(name, hash)));
        }
        for frame in &mut self.symbols.frames {
            frame.function =
                frame.function.and_then(|mangled| ids.get(mangled.0 as usize).copied());
        }
        self.symbols
    }
}

/// Names that are demangled as one.
const CHUNK: usize = 128;

/// Readable names, side by side, so that the memory of each is free for the next.
#[derive(Default)]
struct Readable {
    bytes: Vec<u8>,
    /// For each name, where it ends and its hash.
    ends: Vec<(usize, u64)>,
}

impl Readable {
    fn of(mangled: &[&[u8]], how: Demangle, names: &NameTable) -> Self {
        let mut all = Self::default();
        for name in mangled {
            let name = demangle(name, how);
            all.bytes.extend_from_slice(&name);
            all.ends.push((all.bytes.len(), names.hash(&name)));
        }
        all
    }

    fn names(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, hash)| {
            (self.bytes.get(std::mem::replace(&mut start, end)..end).unwrap_or_default(), hash)
        })
    }
}
