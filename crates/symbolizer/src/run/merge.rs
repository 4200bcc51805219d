//! Puts the results of all units together: local names become strings of the profile, and each distinct mangled name is
//! demangled once, in parallel.

use std::hash::BuildHasher as _;

use address::Svma;
use hashbrown::{DefaultHashBuilder, HashTable};
use profile::{InlineRow, StringHasher, StringId, Strings};
use rayon::prelude::*;

use crate::demangle::{Demangle, demangle};
use crate::request::{Options, ResolvedAddress, Symbols, WhyNoName};
use crate::run::job::{Answer, FinishedUnit, OpenedFiles};

profile::row_ids! {
    /// A distinct mangled name.
    MangledId(u32);
}

/// Makes the answers of all requests. Frames come in the order of the addresses, names in the order of the frames.
pub(crate) fn merge(
    opened: &[OpenedFiles<'_>],
    answers: &[Vec<Option<Answer>>],
    done: &[FinishedUnit<'_>],
    options: &Options<'_>,
    strings: &mut Strings,
) -> Symbols {
    let mut merger = Merger {
        done,
        functions: done.iter().map(|done| vec![None; done.result.functions.len()]).collect(),
        files: done.iter().map(|done| vec![None; done.result.files.len()]).collect(),
        mangled: HashTable::new(),
        hasher: DefaultHashBuilder::default(),
        order: Vec::new(),
        functions_of_frames: Vec::new(),
        strings,
        symbols: Symbols::default(),
    };
    for (file, answers) in opened.iter().zip(answers) {
        merger.request(file, answers);
    }
    merger.finish(options)
}

struct Merger<'m> {
    done: &'m [FinishedUnit<'m>],
    /// For each finished unit, the ids of its names and files that were seen.
    functions: Vec<Vec<Option<MangledId>>>,
    files: Vec<Vec<Option<StringId>>>,
    /// Hash and id of each mangled name, so that none is hashed again when the table grows.
    mangled: HashTable<(u64, MangledId)>,
    hasher: DefaultHashBuilder,
    order: Vec<&'m [u8]>,
    /// For each frame of the answers, its function: names are demangled at the end.
    functions_of_frames: Vec<Option<MangledId>>,
    strings: &'m mut Strings,
    symbols: Symbols,
}

impl<'m> Merger<'m> {
    fn request(&mut self, file: &'m OpenedFiles<'_>, answers: &[Option<Answer>]) {
        let mut addresses = Vec::with_capacity(answers.len());
        // Neighbours mostly lie in the same function.
        let mut last: Option<(&[u8], MangledId)> = None;
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
                if self.symbols.frames.len() == first as usize {
                    self.push(NAMELESS, None);
                }
                if let Some(outermost) = self.functions_of_frames.last_mut() {
                    *outermost = Some(id);
                }
            }
            let end = self.symbols.frames.len() as u32;
            let outermost = self.functions_of_frames.get(first as usize..).and_then(<[_]>::last);
            let reason = match outermost {
                Some(Some(_)) => None,
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
            let function = frame.function.and_then(|id| {
                let name = result.functions.get(id)?;
                Some(self.function((answer.job as usize, id.index()), name))
            });
            let file = frame.file.and_then(|id| {
                let path = result.files.get(id)?;
                let slot = self.files.get_mut(answer.job as usize)?.get_mut(id.index())?;
                Some(*slot.get_or_insert_with(|| self.strings.intern(path)))
            });
            let (line, column, inlined) = (frame.line, frame.column, frame.inlined);
            self.push(InlineRow { function: None, file, line, column, inlined }, function);
        }
        address.function_start
    }

    fn push(&mut self, frame: InlineRow, function: Option<MangledId>) {
        self.symbols.frames.push(frame);
        self.functions_of_frames.push(function);
    }

    /// The id of a name of a finished unit: the unit, and the name in it.
    fn function(&mut self, place: (usize, usize), name: &'m [u8]) -> MangledId {
        let known = self.functions.get(place.0).and_then(|ids| ids.get(place.1).copied());
        if let Some(Some(id)) = known {
            return id;
        }
        let id = self.mangled(name);
        if let Some(slot) = self.functions.get_mut(place.0).and_then(|ids| ids.get_mut(place.1)) {
            *slot = Some(id);
        }
        id
    }

    /// The id of a mangled name, in the order of first use.
    fn mangled(&mut self, name: &'m [u8]) -> MangledId {
        let Self { mangled, hasher, order, .. } = self;
        let hash = hasher.hash_one(name);
        let same = |&(known, id): &(u64, MangledId)| {
            known == hash && order.get(id.index()).is_some_and(|known| *known == name)
        };
        if let Some(&(_, known)) = mangled.find(hash, same) {
            return known;
        }
        let id = MangledId::new(order.len() as u32);
        mangled.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        order.push(name);
        id
    }

    /// Demangles, and gives the frames their names.
    fn finish(mut self, options: &Options<'_>) -> Symbols {
        let hasher = self.strings.hasher();
        let readable: Vec<Readable> = self
            .order
            .par_chunks(CHUNK)
            .map(|chunk| Readable::of(chunk, options.demangle, &hasher))
            .collect();
        let mut ids: Vec<StringId> = Vec::with_capacity(self.order.len());
        for chunk in &readable {
            ids.extend(chunk.names().map(|(name, hash)| self.strings.intern_hashed(name, hash)));
        }
        for (frame, function) in self.symbols.frames.iter_mut().zip(&self.functions_of_frames) {
            frame.function = function.and_then(|mangled| ids.get(mangled.index()).copied());
        }
        self.symbols
    }
}

/// A function of which nothing but its name will be known.
const NAMELESS: InlineRow =
    InlineRow { function: None, file: None, line: 0, column: 0, inlined: false };

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
    fn of(mangled: &[&[u8]], how: Demangle, hasher: &StringHasher) -> Self {
        let mut all = Self::default();
        for name in mangled {
            let name = demangle(name, how);
            all.bytes.extend_from_slice(&name);
            all.ends.push((all.bytes.len(), hasher.hash(&name)));
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
