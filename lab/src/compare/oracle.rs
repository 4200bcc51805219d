//! The oracle: uses the code of the recorded binaries to decide which of two differing chains cannot be true.
//!
//! The instruction before a caller's return address must be a call. If that call is direct, it must lead to the
//! callee's function: to it, to a PLT stub of its name, or to a function that jumps to it. A call through a register or
//! memory proves nothing either way. Frames at a signal trampoline are not judged: an interrupted function has not
//! called anything. Frames next to a gap are not judged either.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::binary::{Answer, Binary, Call};
use super::chain::{Frame, UNSTATED};
use crate::strings::{StringId, StringTable};

/// Functions of Go's runtime that are on stacks without having been called. Goroutines are made to return to the first.
/// If C calls back, the second replaces the call that left the goroutine's stack.
///
/// Source: `newproc1` in `src/runtime/proc.go`, `gosave_systemstack_switch` in `src/runtime/asm_amd64.s` of Go.
const PUT_THERE: [&str; 2] = ["runtime.goexit", "runtime.systemstack_switch"];

/// Marks unknown frames in a chain.
const GAP: &str = "[gap]";

/// Ruling on a differing sample.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Ruling {
    /// The peer's chain has a frame that cannot have called its callee; ours has none.
    PeerWrong,
    /// Ours has one, the peer's has none; or ours lacks a caller of the peer's with a proven call.
    OursWrong,
    /// Both have one.
    BothWrong,
    /// Nothing was proven.
    Undecided,
}

impl Ruling {
    /// In table order.
    pub(super) const ALL: [Self; 4] =
        [Self::PeerWrong, Self::OursWrong, Self::BothWrong, Self::Undecided];

    /// Returns the text for the table.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::PeerWrong => "peer proven wrong",
            Self::OursWrong => "ours proven wrong",
            Self::BothWrong => "both proven wrong",
            Self::Undecided => "undecided",
        }
    }
}

/// Evidence for the oracle.
pub(super) struct Evidence<'a> {
    pub(super) words: &'a StringTable,
    /// Root of the recorded files; `None` means their recorded paths.
    pub(super) sysroot: Option<&'a Path>,
    /// Recorded build-ids of modules. A file with another build-id proves nothing.
    pub(super) build_ids: &'a BTreeMap<StringId, StringId>,
    /// Ranges that were ever mapped executable without a file, if known.
    pub(super) anonymous_code: Option<&'a [Range<u64>]>,
}

/// Opens binaries and caches answers.
pub(super) struct Oracle<'a> {
    evidence: Evidence<'a>,
    binaries: BTreeMap<StringId, Option<Binary>>,
    answers: BTreeMap<[FileLocation; 2], Answer>,
}

/// A location in a file: the module, and the address that its file states.
type FileLocation = (StringId, u64);

/// Kind of a frame's location.
enum LocationKind {
    Code(FileLocation),
    /// Not in code, so it cannot be the place of a call.
    NotCode,
    Unknown,
}

impl<'a> Oracle<'a> {
    /// Creates an oracle for that evidence.
    pub(super) const fn new(evidence: Evidence<'a>) -> Self {
        Self { evidence, binaries: BTreeMap::new(), answers: BTreeMap::new() }
    }

    /// Rules on two chains with `common` equal inner frames.
    pub(super) fn rule(&mut self, ours: &[Frame], theirs: &[Frame], common: usize) -> Ruling {
        let from = common.saturating_sub(1);
        let (ours_tail, theirs_tail) = (tail(ours, from), tail(theirs, from));
        let our_answers = self.chain(ours_tail, ours);
        let their_answers = self.chain(theirs_tail, ours);
        let wrong = |answers: &[Answer]| answers.contains(&Answer::No);
        match (wrong(&our_answers), wrong(&their_answers)) {
            (true, true) => Ruling::BothWrong,
            (true, false) => Ruling::OursWrong,
            (false, true) => Ruling::PeerWrong,
            (false, false) if ours.len() == common && common > 0 => match their_answers.first() {
                Some(Answer::Yes) => Ruling::OursWrong,
                _ => Ruling::Undecided,
            },
            (false, false) => Ruling::Undecided,
        }
    }

    /// Returns for each pair of neighbours whether the outer one can have called the inner one. `known` are frames of
    /// the same process with both an address and an offset.
    fn chain(&mut self, frames: &[Frame], known: &[Frame]) -> Vec<Answer> {
        let pair = |pair: &[Frame]| match pair {
            [callee, caller] => self.pair(callee, caller, known),
            _ => Answer::Open,
        };
        frames.windows(2).map(pair).collect()
    }

    fn pair(&mut self, callee: &Frame, caller: &Frame, known: &[Frame]) -> Answer {
        let name = |frame: &Frame| self.evidence.words.text(frame.symbol);
        let is_put = |frame: &Frame| PUT_THERE.iter().any(|put| name(frame).starts_with(put));
        if is_put(callee) || is_put(caller) || [callee, caller].map(name).contains(&GAP) {
            return Answer::Open;
        }
        let (callee, caller) = match (self.place(callee, known), self.place(caller, known)) {
            (_, LocationKind::NotCode) => return Answer::No,
            (LocationKind::Code(callee), LocationKind::Code(caller)) => (callee, caller),
            _ => return Answer::Open,
        };
        if let Some(&answer) = self.answers.get(&[callee, caller]) {
            return answer;
        }
        let answer = self.judge(callee, caller);
        self.answers.insert([callee, caller], answer);
        answer
    }

    /// Returns the location of a frame in its file. If a tool states only the address in the process, frames of the
    /// same chain that state both are used to convert it.
    fn place(&mut self, frame: &Frame, known: &[Frame]) -> LocationKind {
        let words = self.evidence.words;
        let [address, offset, ..] = frame.stated;
        let name = |word: StringId| words.text(word).rsplit('/').next().unwrap_or_default();
        match words.text(frame.module) {
            "" => return LocationKind::NotCode,
            "//anon" | "[stack]" | "[heap]" => {
                let number = if address == UNSTATED { offset } else { address };
                let holds = |all: &[Range<u64>]| all.iter().any(|range| range.contains(&number));
                let code = self.evidence.anonymous_code.is_none_or(holds);
                return if code { LocationKind::Unknown } else { LocationKind::NotCode };
            }
            _ => {}
        }
        let reported = |frame: &&Frame| frame.stated[0] != UNSTATED && frame.stated[1] != UNSTATED;
        let same = |other: &&Frame| name(other.module) == name(frame.module);
        let other = known.iter().filter(reported).find(same);
        let offset = match other {
            Some(other) if offset == UNSTATED => {
                address.wrapping_sub(other.stated[0]).wrapping_add(other.stated[1])
            }
            _ => offset,
        };
        match self.binary(frame.module) {
            Some(binary) if offset != UNSTATED => {
                binary.address(offset).map_or(LocationKind::NotCode, |address| {
                    LocationKind::Code((frame.module, address))
                })
            }
            _ => LocationKind::Unknown,
        }
    }

    fn binary(&mut self, module: StringId) -> Option<&Binary> {
        let Self { evidence, binaries, .. } = self;
        binaries.entry(module).or_insert_with(|| evidence.open(module)).as_ref()
    }

    /// Judges a call. `callee` and `caller` are looked-up addresses; the caller's is one before its return address.
    fn judge(&mut self, callee: FileLocation, caller: FileLocation) -> Answer {
        let near = |binary: &Binary, address: u64| {
            (0..2).any(|further| binary.is_signal_trampoline(address.wrapping_add(further)))
        };
        for place in [callee, caller] {
            if self.binary(place.0).is_some_and(|binary| near(binary, place.1)) {
                return Answer::Open;
            }
        }
        let Some(binary) = self.binary(caller.0) else { return Answer::Open };
        let target = match binary.call_before(caller.1.wrapping_add(1)) {
            Call::No => return Answer::No,
            Call::Indirect | Call::Unknown => return Answer::Open,
            Call::Slot(slot) => return self.imported((caller.0, slot), callee),
            Call::Direct(target) => target,
        };
        self.leads((caller.0, target), callee)
    }

    /// Returns whether a call of the function or stub at `target` leads to the callee's function.
    fn leads(&mut self, target: FileLocation, callee: FileLocation) -> Answer {
        let Some(binary) = self.binary(target.0) else { return Answer::Open };
        let bounds = if target.0 == callee.0 { binary.bounds(callee.1) } else { Vec::new() };
        let mut stubs = Vec::new();
        let answer = if binary.in_plt(target.1) {
            stubs.push(target.1);
            let inside = target.0 == callee.0 && binary.in_plt(callee.1);
            if inside { Answer::Yes } else { Answer::No }
        } else if target.0 == callee.0 && bounds.is_empty() {
            Answer::Open
        } else {
            binary.hands_over(target.1, &bounds, &mut stubs)
        };
        let through = stubs.into_iter().map(|stub| self.imported((target.0, stub), callee));
        through.fold(answer, Answer::max)
    }

    /// Returns whether a PLT stub or a slot of the global offset table leads to the callee. It leads to the function of
    /// its name, to the targets of that function's jumps, or first to the loader, which looks up the name.
    fn imported(&mut self, stub: FileLocation, callee: FileLocation) -> Answer {
        let module = self.evidence.words.text(callee.0);
        let loader = module.rsplit('/').next().is_some_and(|name| name.starts_with("ld-"));
        let Some(binary) = self.binary(stub.0) else { return Answer::Open };
        let Some(name) = binary.imported(stub.1).map(str::to_owned) else { return Answer::Open };
        let Some(binary) = self.binary(callee.0) else { return Answer::Open };
        if binary.names_at(callee.1).any(|other| other == name) {
            return Answer::Yes;
        }
        let bounds = binary.bounds(callee.1);
        let Some(start) = binary.defined(&name).filter(|_| !bounds.is_empty() && !loader) else {
            return Answer::Open;
        };
        let mut stubs = Vec::new();
        let answer = binary.hands_over(start, &bounds, &mut stubs);
        if stubs.is_empty() { answer } else { answer.max(Answer::Open) }
    }
}

impl Evidence<'_> {
    /// Opens the file of a module if it is the recorded one: at its path, or in perf's build-id cache.
    fn open(&self, module: StringId) -> Option<Binary> {
        let path = Path::new(self.words.text(module));
        let inside = path.strip_prefix("/").ok()?;
        let first = self.sysroot.map_or_else(|| path.to_owned(), |root| root.join(inside));
        let Some(&id) = self.build_ids.get(&module) else { return Binary::open(&first).ok() };
        let id = self.words.text(id);
        let cache = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let entry = cache.join(".debug/.build-id").join(id.get(..2)?).join(id.get(2..)?);
        [first, entry.join("elf")]
            .into_iter()
            .filter_map(|path| Binary::open(&path).ok())
            .find(|binary| binary.is_recorded(id))
    }
}

fn tail(frames: &[Frame], from: usize) -> &[Frame] {
    frames.get(from..).unwrap_or_default()
}
