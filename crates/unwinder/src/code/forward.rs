//! The depth of the stack at an instruction, by following the code from its function's start. All paths must agree. No
//! CFI of the function or its caller is needed.
//!
//! ```text
//!   start:  push %rbp; mov %rsp,%rbp; sub $0xa0,%rsp; ... call exit     the function never returns
//!                                                         ^ 0xa8 below its return address, on all paths
//! ```

use std::collections::VecDeque;

use address::Svma;
use iced_x86::InstructionInfoFactory;
use image_store::Image;

use crate::arch::{Arch, Base, MemoryWords, N_SLOTS, PathState, Sum, SymbolicValue, UNUSED};
use crate::code::bytes::CodeBytes;
use crate::code::depth::{Depth, FunctionStart, RegisterLocation};
use crate::code::instructions::{PathInstructions, Successor};
use crate::code::visits::Visits;

/// Maximum number of instructions: the longest code without a branch, an encoder of 69 KB, has some 15,000.
const MOST: usize = 1 << 16;
/// Maximum number of pending paths.
const MOST_OPEN: usize = 1 << 12;
/// Entries of a switch that are followed: with and without a stated end of the function.
const ENTRIES: u64 = 512;
const ENTRIES_WITHOUT_END: u64 = 4;

/// The common value of several paths to one location.
#[derive(Default)]
enum Agreement<T> {
    #[default]
    Nothing,
    One(T),
    Several,
}

impl<T: PartialEq> Agreement<T> {
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

/// Returns the depth at a frame's address, and the cost of the search in instructions. For a Thumb function, the start
/// has its lowest bit set.
pub(super) fn depth_at(
    image: &Image,
    start: FunctionStart,
    lookup: Svma,
    is_leaf: bool,
) -> (Option<Depth>, usize) {
    let code = CodeBytes::of(image, start.svma)
        .filter(|code| !code.arch.is(Arch::X86) && start.holds(lookup.0));
    let Some(code) = code else { return (None, 0) };
    let mut explorer = Forward::new(code, start, lookup, is_leaf);
    let found = explorer.explore();
    (found, MOST - explorer.left)
}

/// The start of a run of instructions.
struct RunStart {
    at: u64,
    state: PathState,
    /// True if the link register has the value that a call left there.
    has_call: bool,
}

/// Pending paths from a start.
struct Forward<'a> {
    code: CodeBytes<'a>,
    start: FunctionStart,
    /// Looked-up address of the frame.
    lookup: Svma,
    is_leaf: bool,
    left: usize,
    open: VecDeque<RunStart>,
    /// Paths after a call that need not return.
    doubtful: VecDeque<RunStart>,
    /// By stack pointer and frame pointer.
    visits: Visits<2>,
    words: MemoryWords,
    factory: InstructionInfoFactory,
    sp: Agreement<i64>,
    fp: Agreement<i64>,
    return_address: Agreement<RegisterLocation>,
    saved: [Agreement<RegisterLocation>; N_SLOTS],
    /// True if dropped paths may lead to unknown locations.
    is_full: bool,
}

impl<'a> Forward<'a> {
    fn new(code: CodeBytes<'a>, start: FunctionStart, lookup: Svma, is_leaf: bool) -> Self {
        let mut new = Self {
            code,
            start,
            lookup,
            is_leaf,
            left: MOST,
            open: VecDeque::new(),
            doubtful: VecDeque::new(),
            visits: Visits::of([code.arch.sp, code.arch.fp]),
            words: MemoryWords::default(),
            factory: InstructionInfoFactory::new(),
            sp: Agreement::Nothing,
            fp: Agreement::Nothing,
            return_address: Agreement::Nothing,
            saved: Default::default(),
            is_full: false,
        };
        let state = PathState::of_entry(code.arch);
        new.open(RunStart { at: start.svma.0, state, has_call: false }, false);
        new
    }

    fn explore(&mut self) -> Option<Depth> {
        while self.left > 0 {
            let is_found =
                matches!(self.sp, Agreement::One(_)) || matches!(self.fp, Agreement::One(_));
            let next = self.open.pop_front().or_else(|| {
                // Only a function with a stated end certainly continues there.
                let is_tried = !is_found && self.start.end.is_some();
                self.doubtful.pop_front().filter(|_| is_tried)
            });
            let Some(open) = next else { break };
            self.run(open);
        }
        if self.left == 0 || self.is_full {
            return None;
        }
        let (sp, fp) = (std::mem::take(&mut self.sp).one(), std::mem::take(&mut self.fp).one());
        let saved = std::mem::take(&mut self.saved)
            .map(|one| one.one().unwrap_or(RegisterLocation::Unknown));
        let return_address = std::mem::take(&mut self.return_address).one();
        let return_address = return_address.unwrap_or(RegisterLocation::Unknown);
        let is_known = sp.is_some() || fp.is_some();
        is_known.then_some(Depth { sp, fp, return_address, saved })
    }

    fn open(&mut self, mut open: RunStart, doubtful: bool) {
        let RunStart { at, state, .. } = &mut open;
        if !self.start.holds(state.arch.code_address(*at)) || !self.visits.is_new(*at, state) {
            return;
        }
        let queue = if doubtful { &mut self.doubtful } else { &mut self.open };
        if queue.len() < MOST_OPEN {
            queue.push_back(open);
        } else {
            self.is_full = true;
        }
    }

    /// Runs instructions up to the first with another successor than the next instruction, and adds its successors.
    fn run(&mut self, from: RunStart) {
        let RunStart { at, mut state, has_call } = from;
        let arch = state.arch;
        let Some(mut instructions) = PathInstructions::new(self.code, at, has_call) else { return };
        let mut next = at;
        while self.left > 0 && self.start.holds(arch.code_address(next)) {
            let Some((at, after)) = instructions.decode() else { return };
            self.left -= 1;
            next = after;
            if self.is_place(arch.code_address(at), arch.code_address(after)) {
                self.note(&state);
            }
            let then = instructions.run(&mut state, &mut self.words, &mut self.factory);
            let has_call = instructions.has_call();
            match then {
                Successor::Next => continue,
                // Code that runs into the function it calls does not continue after the call.
                Successor::Call(Some(target)) if target == after => {}
                Successor::Call(_) if !self.code.is_padding(arch.code_address(after)) => continue,
                Successor::Call(_) => self.open(RunStart { at: after, state, has_call }, true),
                Successor::Branch(target) => {
                    self.open(RunStart { at: after, state: state.clone(), has_call }, false);
                    self.open(RunStart { at: target, state, has_call }, false);
                }
                Successor::Jump(target) => {
                    self.open(RunStart { at: target, state, has_call }, false)
                }
                Successor::Switch(table) => {
                    let end = self.start.end;
                    let most = if end.is_some() { ENTRIES } else { ENTRIES_WITHOUT_END };
                    let code = self.code;
                    let targets = (0..most).map_while(|entry| code.entry(table, entry));
                    let start = self.start;
                    for target in targets.take_while(|&target| start.holds(target)) {
                        self.open(RunStart { at: target, state: state.clone(), has_call }, false);
                    }
                }
                Successor::Away => {}
            }
            return;
        }
    }

    /// Returns true if the frame is at an instruction: the next one of a leaf, or the active call.
    const fn is_place(&self, at: u64, next: u64) -> bool {
        let Self { lookup, is_leaf, .. } = *self;
        if is_leaf { at == lookup.0 } else { at <= lookup.0 && next == lookup.0.wrapping_add(1) }
    }

    fn note(&mut self, state: &PathState) {
        let arch = state.arch;
        let entry = |value: SymbolicValue| match value {
            Some(Sum { base: Base::Register(register), offset }) if register == arch.sp => {
                Some(offset)
            }
            _ => None,
        };
        let sp = entry(state.sp());
        self.sp.add(sp);
        self.fp.add(entry(state.get(arch.fp)));
        let location = |register: u8| {
            let itself = Sum { base: Base::Register(register), offset: 0 };
            let slot = state.slot_of(itself).and_then(|slot| entry(Some(slot)));
            let is_same = state.get(register) == Some(itself);
            (slot.map(RegisterLocation::Slot), is_same.then_some(RegisterLocation::Same))
        };
        self.return_address.add(Some(if arch.is_x86() {
            RegisterLocation::Slot(0)
        } else {
            let (slot, same) = location(arch.return_address);
            // The active call has overwritten the register.
            let is_leaf = self.is_leaf;
            same.filter(|_| is_leaf).or(slot).unwrap_or(RegisterLocation::Unknown)
        }));
        for (agreed, register) in self.saved.iter_mut().zip(arch.conventions.preserved) {
            let is_preserved = register != UNUSED && register != arch.return_address;
            let (slot, same) = if is_preserved { location(register) } else { (None, None) };
            agreed.add(Some(slot.or(same).unwrap_or(RegisterLocation::Unknown)));
        }
    }
}
