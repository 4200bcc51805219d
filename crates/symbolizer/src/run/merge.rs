//! Merges the results of all units: local names become strings of the profile, and each distinct mangled name is
//! demangled once, in parallel.

use std::borrow::Cow;
use std::hash::BuildHasher as _;

use address::{ById as _, Svma};
use budget::{Allowance, Exhausted, HeldMemory, MemoryUse, Resource};
use demangle::{Languages, plain_name};
use hashbrown::{DefaultHashBuilder, HashTable};
use options::Demangle;
use profile::{InlineRow, StringId, Strings};

use crate::dwarf::{FilePath, FunctionName, ScopeName, UnitNameId, UnitPathId};
use crate::languages::Proof;
use crate::naming::readable;
use crate::request::{ResolvedAddress, SymbolizeOptions, Symbols, WhyNoName};
use crate::run::job::{AddressAnswer, FinishedUnit, OpenedFiles};
use crate::run::readable::readable_names;
use crate::run::splits::SplitImages;

profile::row_ids! {
    /// A distinct mangled name.
    MangledId(u32);
}

/// Returns the answers to all requests. Frames are in the order of the addresses, names in the order of the frames.
pub(crate) fn merge(
    opened: &[OpenedFiles<'_>],
    splits: &[SplitImages<'_>],
    answers: &[Vec<Option<AddressAnswer>>],
    done: &[FinishedUnit<'_>],
    options: &SymbolizeOptions<'_>,
    strings: &mut Strings,
) -> (Symbols, Vec<(u32, Exhausted)>) {
    let mut merger = Merger {
        done,
        functions: done.iter().map(|done| vec![None; done.result.functions.len()]).collect(),
        files: done.iter().map(|done| vec![None; done.result.files.len()]).collect(),
        mangled: HashTable::new(),
        hasher: DefaultHashBuilder::default(),
        order: Vec::new(),
        requests: Vec::new(),
        demangle: options.demangle,
        languages: None,
        functions_of_frames: Vec::new(),
        replaced: Vec::new(),
        strings,
        symbols: Symbols::default(),
        bytes: options.budget.allowance(Resource::NameBytes, 0),
        exhausted: None,
        held: options.held(MemoryUse::Names),
    };
    let mut exhausted = Vec::new();
    for (number, ((file, splits), answers)) in (0..).zip(opened.iter().zip(splits).zip(answers)) {
        merger.bytes = name_bytes(file, splits, options);
        merger.exhausted = None;
        merger.languages = Some(&file.languages);
        merger.request(file, answers);
        merger.requests.push(merger.order.len());
        merger.count();
        exhausted.extend(merger.exhausted.map(|error| (number, error)));
    }
    let symbols = merger.finish(options, &mut exhausted);
    (symbols, exhausted)
}

/// Returns the limit on the bytes of names and paths from a file's debug information.
fn name_bytes(
    file: &OpenedFiles<'_>,
    splits: &SplitImages<'_>,
    options: &SymbolizeOptions<'_>,
) -> Allowance {
    let further = file.alt.as_ref().map_or(0, |alt| alt.sections.str.len() as u64);
    let further = further + file.go.as_ref().map_or(0, |go| go.size() as u64);
    match &file.main {
        Some(main) => main
            .costs
            .whole_with(Resource::NameBytes, further.saturating_add(splits.strings_size())),
        None => options.budget.allowance(Resource::NameBytes, further),
    }
}

/// A cached name or path: `None` if it was not read yet, `Some(None)` if there is none.
type CachedId<T> = Option<Option<T>>;

struct Merger<'m> {
    done: &'m [FinishedUnit<'m>],
    /// For each finished unit, the ids of its names and files that were read.
    functions: Vec<Vec<CachedId<MangledId>>>,
    files: Vec<Vec<CachedId<StringId>>>,
    /// Hash and id of each mangled name, so that the growing table rehashes none.
    mangled: HashTable<(u64, MangledId)>,
    hasher: DefaultHashBuilder,
    /// Each mangled name, with the languages of its file.
    order: Vec<(Cow<'m, [u8]>, Languages)>,
    /// Number of mangled names after each request.
    requests: Vec<usize>,
    demangle: Demangle,
    /// The languages of the request's file.
    languages: Option<&'m Proof<'m>>,
    /// For each frame of the answers, its function: names are demangled at the end.
    functions_of_frames: Vec<Option<MangledId>>,
    /// Names from debug information that a symbol's name replaced: the request, the address, the name.
    replaced: Vec<(u32, u32, MangledId)>,
    strings: &'m mut Strings,
    symbols: Symbols,
    /// Remaining bytes for names and paths of the request.
    bytes: Allowance,
    exhausted: Option<Exhausted>,
    /// Memory accounting for names and frames.
    held: HeldMemory,
}

impl<'m> Merger<'m> {
    /// Updates the memory accounting.
    fn count(&mut self) {
        let bytes = self.strings.heap_bytes()
            + self.mangled.allocation_size()
            + self.order.capacity() * size_of::<(Cow<'_, [u8]>, Languages)>()
            + self.functions_of_frames.capacity() * size_of::<Option<MangledId>>()
            + self.symbols.frames.capacity() * size_of::<InlineRow>();
        self.held.set(bytes as u64);
    }

    fn request(&mut self, file: &'m OpenedFiles<'_>, answers: &[Option<AddressAnswer>]) {
        let mut addresses = Vec::with_capacity(answers.len());
        // Neighbours are mostly in the same function.
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
                    _ => self.mangled(Cow::Borrowed(name)),
                };
                last = Some((name, id));
                function_start = Some(symbol.start);
                if self.symbols.frames.len() == first as usize {
                    self.push(InlineRow::NAMELESS, None);
                }
                if let Some(outermost) = self.functions_of_frames.last_mut()
                    && let Some(other) = outermost.replace(id).filter(|other| *other != id)
                {
                    let request = self.symbols.addresses.len() as u32;
                    self.replaced.push((request, addresses.len() as u32, other));
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
            let frames = first..end;
            addresses.push(ResolvedAddress { function_start, frames, reason, replaced: None });
        }
        self.symbols.addresses.push(addresses);
    }

    /// Copies the frames of an address; returns the start of its function.
    fn frames(&mut self, answer: AddressAnswer) -> Option<u64> {
        let result = &self.done.get(answer.job as usize)?.result;
        let address = result.addresses.get(answer.index as usize)?;
        let first = address.first_frame as usize;
        for frame in result.frames.get(first..first + address.n_frames as usize)? {
            let function = frame.function.and_then(|id| {
                let name = result.functions.get(id)?;
                self.function(answer.job as usize, id, name)
            });
            let file = frame.file.and_then(|id| {
                let path = result.files.get(id)?;
                self.path(answer.job as usize, id, path)
            });
            let declared_file = frame.declared.file.and_then(|id| {
                let path = result.files.get(id)?;
                self.path(answer.job as usize, id, path)
            });
            let row = InlineRow {
                function: None,
                file,
                line: frame.line,
                column: frame.column,
                inlined: frame.inlined,
                declared_file,
                declared_line: frame.declared.line,
            };
            self.push(row, function);
        }
        address.function_start
    }

    fn push(&mut self, frame: InlineRow, function: Option<MangledId>) {
        self.symbols.frames.push(frame);
        self.functions_of_frames.push(function);
    }

    /// Returns the id of a name of a finished unit, which is number `id` in the unit of `job`.
    fn function(
        &mut self,
        job: usize,
        id: UnitNameId,
        name: &FunctionName<'m>,
    ) -> Option<MangledId> {
        let known = self.functions.get(job).and_then(|ids| ids.get(id.index()).copied());
        if let Some(Some(known)) = known {
            return known;
        }
        let name = self.scoped(name).unwrap_or_else(|error| {
            self.exhausted.get_or_insert(error);
            None
        });
        let mangled = name.map(|name| self.mangled(name));
        if let Some(slot) = self.functions.get_mut(job).and_then(|ids| ids.get_mut(id.index())) {
            *slot = Some(mangled);
        }
        mangled
    }

    /// Returns the name of a function with its scopes; `None` if a name has no end.
    fn scoped(&mut self, name: &FunctionName<'m>) -> Result<Option<Cow<'m, [u8]>>, Exhausted> {
        let Some(own) = name.own.take(&mut self.bytes)? else { return Ok(None) };
        if name.scopes.is_empty() {
            return Ok(Some(Cow::Borrowed(own)));
        }
        let mut all = Vec::new();
        for (at, scope) in name.scopes.iter().enumerate() {
            let is_call = at + 1 == name.scopes.len() && own.starts_with(b"operator()");
            let Some(part) = self.scope(*scope, is_call)? else { return Ok(None) };
            all.extend_from_slice(&part);
            all.extend_from_slice(b"::");
            if all.len() > MAX_SCOPES {
                return Ok(Some(Cow::Borrowed(own)));
            }
        }
        all.extend_from_slice(own);
        Ok(Some(Cow::Owned(all)))
    }

    /// Returns the name of a scope. With `is_call` the scope is a lambda's class, which has the call operator.
    fn scope(
        &mut self,
        scope: ScopeName<'m>,
        is_call: bool,
    ) -> Result<Option<Cow<'m, [u8]>>, Exhausted> {
        Ok(match scope {
            ScopeName::Plain(text) => text.take(&mut self.bytes)?.map(Cow::Borrowed),
            ScopeName::Function(text) => text
                .take(&mut self.bytes)?
                .map(|name| readable(name, self.demangle, self.languages_for(name))),
            ScopeName::AnonymousNamespace => Some(b"(anonymous namespace)"[..].into()),
            ScopeName::AnonymousClass(line) => {
                let what = if is_call { "lambda" } else { "anonymous class" };
                let place = line.map(|line| format!(" at line {line}")).unwrap_or_default();
                Some(format!("({what}{place})").into_bytes().into())
            }
        })
    }

    /// Returns the string id of a path of a finished unit, which is number `id` in the unit of `job`.
    fn path(&mut self, job: usize, id: UnitPathId, path: &FilePath<'_>) -> Option<StringId> {
        let slot = self.files.get_mut(job)?.get_mut(id.index())?;
        if let Some(known) = *slot {
            return known;
        }
        let path = path.join(&mut self.bytes).unwrap_or_else(|error| {
            self.exhausted.get_or_insert(error);
            None
        });
        *slot.insert(path.map(|path| self.strings.intern(&path)))
    }

    fn languages_for(&self, name: &[u8]) -> Languages {
        let plain = self.languages.zip(plain_name(name));
        plain.map(|(file, name)| file.languages_for(name)).unwrap_or_default()
    }

    /// Returns the id of a mangled name, in the order of first use.
    fn mangled(&mut self, name: Cow<'m, [u8]>) -> MangledId {
        let languages = self.languages_for(&name);
        let Self { mangled, hasher, order, .. } = self;
        let entry = (name, languages);
        let hash = hasher.hash_one(&entry);
        let same = |&(known, id): &(u64, MangledId)| {
            known == hash && order.by_id(id).is_some_and(|known| *known == entry)
        };
        if let Some(&(_, known)) = mangled.find(hash, same) {
            return known;
        }
        let id = MangledId::new(order.len() as u32);
        mangled.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        order.push(entry);
        id
    }

    /// Demangles, and assigns the names to the frames.
    fn finish(
        mut self,
        options: &SymbolizeOptions<'_>,
        exhausted: &mut Vec<(u32, Exhausted)>,
    ) -> Symbols {
        let readable = readable_names(&self.order, options, self.strings, &mut self.held);
        if let Some((first, error)) = readable.exhausted_at {
            let of_first = self.requests.partition_point(|&names| names <= first);
            exhausted.push((of_first as u32, error));
        }
        let ids = readable.ids;
        for (frame, function) in self.symbols.frames.iter_mut().zip(&self.functions_of_frames) {
            frame.function = function.and_then(|mangled| ids.by_id(mangled).copied());
        }
        for (request, address, mangled) in self.replaced {
            let answers = self.symbols.addresses.get_mut(request as usize);
            if let Some(answer) = answers.and_then(|answers| answers.get_mut(address as usize)) {
                answer.replaced = ids.by_id(mangled).copied();
            }
        }
        self.symbols
    }
}

/// Limit on the bytes of scopes before a function's own name; longer scopes are omitted.
const MAX_SCOPES: usize = 1 << 14;
