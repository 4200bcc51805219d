//! The depth of the stack at an instruction, by following the code from the start of its function to there. All ways have to
//! agree. No description of the function is needed, and none of its caller.
//!
//! ```text
//!   start:  push %rbp; mov %rsp,%rbp; sub $0xa0,%rsp; ... call exit     the function never returns
//!                                                         ^ 0xa8 below its return address, by all ways there
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use address::Svma;
use hashbrown::HashSet;
use iced_x86::{Instruction, InstructionInfoFactory};
use module_map::Image;

use crate::arch::Arch;
use crate::code::bytes::CodeBytes;
use crate::code::called::{Functions, InFile, MOST_KEPT};
use crate::code::effect::{Next, run};
use crate::code::value::{Base, State, Sum, Value, Words};

/// Where a function is known to begin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Start {
    /// Its first instruction, as the file states it.
    pub(crate) svma: Svma,
    /// Where its code ends, if that is stated.
    pub(crate) end: Option<Svma>,
}

/// What the code says of a frame at an instruction. "Entry" is the stack pointer that the function began with, which leads
/// to the return address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Depth {
    /// The stack pointer, in bytes from entry.
    pub(crate) sp: Option<i64>,
    /// The frame pointer, in bytes from entry.
    pub(crate) fp: Option<i64>,
    /// The registers that functions leave as they were, in the order of the processor.
    pub(crate) saved: [Kept; 6],
}

/// Where the caller's value of a register is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kept {
    /// In the register.
    Same,
    /// In memory, in bytes from entry.
    Slot(i64),
    /// It is not known.
    Unknown,
}

/// Instructions that are followed: the longest code without a branch, an encoder of 69 KB, has some 15,000.
const MOST: usize = 1 << 16;
/// Paths that wait at one time.
const MOST_OPEN: usize = 1 << 12;
/// Entries of a switch that are looked at, if it is stated where the function ends, and else.
const ENTRIES: u64 = 512;
const ENTRIES_WITHOUT_END: u64 = 4;

impl Start {
    const fn holds(self, svma: u64) -> bool {
        match self.end {
            Some(end) => svma >= self.svma.0 && svma < end.0,
            None => true,
        }
    }
}

impl Functions {
    /// The depth at an address that a frame is looked up at, if the function begins at `start` and all ways from there
    /// agree. In a frame that called somebody, the address is in the call.
    pub(crate) fn depth(&mut self, start: Start, at: InFile<'_>, is_leaf: bool) -> Option<Depth> {
        let key = (at.file.serial, start, at.svma.0, is_leaf);
        if let Some(&known) = self.depths.get(&key) {
            return known;
        }
        if self.depths.len() >= MOST_KEPT {
            self.depths.clear();
        }
        if !self.allowance.has_left(at.file) {
            return None;
        }
        let (depth, cost) = Depth::at(at.file.image(), start, (at.svma, is_leaf));
        self.allowance.used(at.file, cost.max(1));
        self.depths.insert(key, depth);
        depth
    }

    /// The function of a file's entry code that a process begins with: the address that it gives the C library.
    pub(crate) fn main_of(&mut self, at: InFile<'_>) -> Option<Svma> {
        let file = at.file;
        if let Some(&known) = self.mains.get(&file.serial) {
            return known;
        }
        let slots = self.slots(file);
        let linked = |slot: u64| {
            let known = slots.binary_search_by_key(&slot, |&(known, _)| known).ok()?;
            match slots.get(known)?.1 {
                module_map::SlotValue::Address(svma) => Some(svma),
                module_map::SlotValue::Symbol(_) => None,
            }
        };
        let found = main_given(file.image(), linked);
        self.mains.insert(file.serial, found);
        found
    }
}

/// The first argument of the first call that the entry code makes, if it is an address of code.
///
/// Source: psABI x86-64, section 3.4.1, "Initial Stack and Register State"; `sysdeps/x86_64/start.S` of glibc.
fn main_given(image: &Image, linked: impl Fn(u64) -> Option<Svma>) -> Option<Svma> {
    const INSTRUCTIONS: usize = 24;
    const ARGUMENT: u8 = 5;
    let code = CodeBytes::around(image, image.entry()).filter(|code| code.arch == Arch::X86_64)?;
    let mut decoder = code.decoder(image.entry().0)?;
    let (mut state, mut words) = (State::new(code.arch), Words::default());
    let mut factory = InstructionInfoFactory::new();
    let mut given = None;
    for instruction in decoder.iter().take(INSTRUCTIONS) {
        let before = state.get(ARGUMENT);
        let next = run(&instruction, &mut state, &mut words, &mut factory);
        match next {
            Next::On => {}
            Next::Call => {
                let stated = before.and_then(Sum::as_constant).map(Svma).or(given)?;
                return CodeBytes::around(image, stated).map(|_| stated);
            }
            _ => return None,
        }
        if state.get(ARGUMENT) != before {
            given = instruction
                .is_ip_rel_memory_operand()
                .then(|| linked(instruction.ip_rel_memory_address()))
                .flatten();
        }
    }
    None
}

/// What several ways to one place have in common.
#[derive(Default)]
enum Agreed<T> {
    #[default]
    Nothing,
    One(T),
    Several,
}

impl<T: PartialEq> Agreed<T> {
    fn add(&mut self, value: Option<T>) {
        *self = match (std::mem::take(self), value) {
            (Self::Nothing, Some(value)) => Self::One(value),
            (Self::One(known), Some(value)) if known == value => Self::One(known),
            _ => Self::Several,
        };
    }

    fn one(self) -> Option<T> {
        match self {
            Self::One(value) => Some(value),
            Self::Nothing | Self::Several => None,
        }
    }
}

impl Depth {
    /// The depth at the place of a frame, and what finding it cost, in instructions.
    fn at(image: &Image, start: Start, place: (Svma, bool)) -> (Option<Self>, usize) {
        let code = CodeBytes::around(image, start.svma)
            .filter(|code| code.arch == Arch::X86_64 && start.holds(place.0.0));
        let Some(code) = code else { return (None, 0) };
        let mut explorer = Forward::new(code, start, place);
        let found = explorer.explore();
        (found, MOST - explorer.left)
    }
}

/// Paths from a start that have still to be followed.
struct Forward<'a> {
    code: CodeBytes<'a>,
    start: Start,
    place: (Svma, bool),
    left: usize,
    open: VecDeque<(u64, State)>,
    /// Those behind a call that need not return.
    doubtful: VecDeque<(u64, State)>,
    seen: HashSet<(u64, Value, Value)>,
    words: Words,
    factory: InstructionInfoFactory,
    sp: Agreed<i64>,
    fp: Agreed<i64>,
    saved: [Agreed<Kept>; 6],
    /// Paths that could not be kept lead to nobody knows where.
    is_full: bool,
}

impl<'a> Forward<'a> {
    fn new(code: CodeBytes<'a>, start: Start, place: (Svma, bool)) -> Self {
        let mut new = Self {
            code,
            start,
            place,
            left: MOST,
            open: VecDeque::new(),
            doubtful: VecDeque::new(),
            seen: HashSet::new(),
            words: Words::default(),
            factory: InstructionInfoFactory::new(),
            sp: Agreed::Nothing,
            fp: Agreed::Nothing,
            saved: Default::default(),
            is_full: false,
        };
        new.open(start.svma.0, State::of_entry(code.arch), false);
        new
    }

    fn explore(&mut self) -> Option<Depth> {
        while self.left > 0 {
            let is_found = matches!(self.sp, Agreed::One(_)) || matches!(self.fp, Agreed::One(_));
            let next = self.open.pop_front().or_else(|| {
                // Only a function whose end is stated surely goes on there.
                let is_tried = !is_found && self.start.end.is_some();
                self.doubtful.pop_front().filter(|_| is_tried)
            });
            let Some((at, state)) = next else { break };
            self.run(at, state);
        }
        if self.left == 0 || self.is_full {
            return None;
        }
        let (sp, fp) = (std::mem::take(&mut self.sp).one(), std::mem::take(&mut self.fp).one());
        let saved = std::mem::take(&mut self.saved).map(|one| one.one().unwrap_or(Kept::Unknown));
        (sp.is_some() || fp.is_some()).then_some(Depth { sp, fp, saved })
    }

    fn open(&mut self, at: u64, state: State, doubtful: bool) {
        if !self.start.holds(at) {
            return;
        }
        if !self.seen.insert((at, state.sp(), state.get(state.arch.fp()))) {
            return;
        }
        let queue = if doubtful { &mut self.doubtful } else { &mut self.open };
        if queue.len() < MOST_OPEN {
            queue.push_back((at, state));
        } else {
            self.is_full = true;
        }
    }

    /// Runs instructions up to the next that does not only go on after itself, and opens what follows it.
    fn run(&mut self, at: u64, mut state: State) {
        let Some(mut decoder) = self.code.decoder(at) else { return };
        let mut instruction = Instruction::default();
        while self.left > 0 && decoder.can_decode() && self.start.holds(decoder.ip()) {
            self.left -= 1;
            decoder.decode_out(&mut instruction);
            if self.is_place(&instruction) {
                self.note(&state);
            }
            let after = instruction.next_ip();
            match run(&instruction, &mut state, &mut self.words, &mut self.factory) {
                Next::On => continue,
                // Code that runs into the function it calls does not go on after the call.
                Next::Call if instruction.near_branch_target() == after => {}
                Next::Call if !self.code.is_padding(after) => continue,
                Next::Call => self.open(after, state, true),
                Next::Branch(target) => {
                    self.open(after, state.clone(), false);
                    self.open(target, state, false);
                }
                Next::Jump(target) => self.open(target, state, false),
                Next::Switch(table) => {
                    let end = self.start.end;
                    let most = if end.is_some() { ENTRIES } else { ENTRIES_WITHOUT_END };
                    let code = self.code;
                    let targets = (0..most).map_while(|entry| code.entry(table, entry));
                    let start = self.start;
                    for target in targets.take_while(|&target| start.holds(target)) {
                        self.open(target, state.clone(), false);
                    }
                }
                _ => {}
            }
            return;
        }
    }

    /// Whether an instruction is the one that the frame is at: that runs next, or the call that it waits for.
    fn is_place(&self, instruction: &Instruction) -> bool {
        let (lookup, is_leaf) = self.place;
        let (at, next) = (instruction.ip(), instruction.next_ip());
        if is_leaf { at == lookup.0 } else { at <= lookup.0 && next == lookup.0.wrapping_add(1) }
    }

    fn note(&mut self, state: &State) {
        let arch = state.arch;
        let entry = |value: Value| match value {
            Some(Sum { base: Base::Register(register), offset }) if register == arch.sp() => {
                Some(offset)
            }
            _ => None,
        };
        self.sp.add(entry(state.sp()));
        self.fp.add(entry(state.get(arch.fp())));
        for (agreed, register) in self.saved.iter_mut().zip(arch.callee_saved()) {
            let itself = Sum { base: Base::Register(register), offset: 0 };
            let slot = state.slot_of(itself).and_then(|slot| entry(Some(slot)));
            agreed.add(Some(match slot {
                Some(slot) => Kept::Slot(slot),
                None if state.get(register) == Some(itself) => Kept::Same,
                None => Kept::Unknown,
            }));
        }
    }
}

/// Depths that are kept: by the file's serial, the start, the address, and whether it is that of the next instruction.
pub(super) type Depths = hashbrown::HashMap<(u32, Start, u64, bool), Option<Depth>>;

/// Functions that are looked for before an address whose start nobody states.
const MOST_BEFORE: usize = 3;
/// How far before it.
const LONGEST: u64 = 1 << 16;

impl Functions {
    /// The depth by the nearest function before an address that begins with a frame record (`push %rbp; mov %rsp,%rbp`),
    /// if all ways from there agree and the frame pointer still leads to the record.
    ///
    /// Source: Intel SDM, volume 2, PUSH and MOV: `89 /r` and `8b /r` are two encodings of the same move.
    pub(crate) fn depth_by_record(&mut self, at: InFile<'_>, is_leaf: bool) -> Option<Depth> {
        const RECORDS: [[u8; 4]; 2] = [[0x55, 0x48, 0x89, 0xe5], [0x55, 0x48, 0x8b, 0xec]];
        const RECORD: i64 = -8;
        let image = Arc::clone(at.file);
        let code = CodeBytes::around(image.image(), at.svma)?;
        let end = usize::try_from(at.svma.0.wrapping_sub(code.start())).ok()?;
        let begin = end.saturating_sub(LONGEST as usize);
        let before = code.bytes().get(begin..end)?;
        let records = before.windows(4).enumerate().rev();
        let records = records.filter(|(_, bytes)| RECORDS.iter().any(|record| bytes == record));
        for (offset, _) in records.take(MOST_BEFORE) {
            let svma = Svma(code.start().wrapping_add((begin + offset) as u64));
            let depth = self.depth(Start { svma, end: None }, at, is_leaf);
            if let Some(depth) = depth.filter(|depth| depth.fp == Some(RECORD)) {
                return Some(depth);
            }
        }
        None
    }
}
