//! The depth of the stack at an instruction, by following the code from its function's start. All paths must agree. No
//! CFI of the function or its caller is needed.
//!
//! ```text
//!   start:  push %rbp; mov %rsp,%rbp; sub $0xa0,%rsp; ... call exit     the function never returns
//!                                                         ^ 0xa8 below its return address, on all paths
//! ```

use std::collections::VecDeque;

use address::Svma;
use hashbrown::HashSet;
use iced_x86::InstructionInfoFactory;
use image_store::Image;

use crate::arch::{Arch, Base, N_SLOTS, State, Sum, UNUSED, Value, Words};
use crate::code::bytes::CodeBytes;
use crate::code::depth::{Depth, Kept, Start};
use crate::code::instructions::{Instructions, Then};

/// Maximum number of instructions: the longest code without a branch, an encoder of 69 KB, has some 15,000.
const MOST: usize = 1 << 16;
/// Maximum number of pending paths.
const MOST_OPEN: usize = 1 << 12;
/// Entries of a switch that are followed: with and without a stated end of the function.
const ENTRIES: u64 = 512;
const ENTRIES_WITHOUT_END: u64 = 4;

/// The common value of several paths to one location.
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

/// Returns the depth at a frame's address, and the cost of the search in instructions. For a Thumb function, the start
/// has its lowest bit set.
pub(super) fn depth_at(
    image: &Image,
    start: Start,
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
struct Open {
    at: u64,
    state: State,
    /// True if the link register has the value that a call left there.
    has_call: bool,
}

/// Pending paths from a start.
struct Forward<'a> {
    code: CodeBytes<'a>,
    start: Start,
    /// Looked-up address of the frame.
    lookup: Svma,
    is_leaf: bool,
    left: usize,
    open: VecDeque<Open>,
    /// Paths after a call that need not return.
    doubtful: VecDeque<Open>,
    seen: HashSet<(u64, Value, Value)>,
    words: Words,
    factory: InstructionInfoFactory,
    sp: Agreed<i64>,
    fp: Agreed<i64>,
    return_address: Agreed<Kept>,
    saved: [Agreed<Kept>; N_SLOTS],
    /// True if dropped paths may lead to unknown locations.
    is_full: bool,
}

impl<'a> Forward<'a> {
    fn new(code: CodeBytes<'a>, start: Start, lookup: Svma, is_leaf: bool) -> Self {
        let mut new = Self {
            code,
            start,
            lookup,
            is_leaf,
            left: MOST,
            open: VecDeque::new(),
            doubtful: VecDeque::new(),
            seen: HashSet::new(),
            words: Words::default(),
            factory: InstructionInfoFactory::new(),
            sp: Agreed::Nothing,
            fp: Agreed::Nothing,
            return_address: Agreed::Nothing,
            saved: Default::default(),
            is_full: false,
        };
        let state = State::of_entry(code.arch);
        new.open(Open { at: start.svma.0, state, has_call: false }, false);
        new
    }

    fn explore(&mut self) -> Option<Depth> {
        while self.left > 0 {
            let is_found = matches!(self.sp, Agreed::One(_)) || matches!(self.fp, Agreed::One(_));
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
        let saved = std::mem::take(&mut self.saved).map(|one| one.one().unwrap_or(Kept::Unknown));
        let return_address = std::mem::take(&mut self.return_address).one();
        let return_address = return_address.unwrap_or(Kept::Unknown);
        let is_known = sp.is_some() || fp.is_some();
        is_known.then_some(Depth { sp, fp, return_address, saved })
    }

    fn open(&mut self, open: Open, doubtful: bool) {
        let Open { at, state, .. } = &open;
        if !self.start.holds(state.arch.code_address(*at)) {
            return;
        }
        if !self.seen.insert((*at, state.sp(), state.get(state.arch.fp))) {
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
    fn run(&mut self, from: Open) {
        let Open { at, mut state, has_call } = from;
        let arch = state.arch;
        let Some(mut instructions) = Instructions::new(self.code, at, has_call) else { return };
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
                Then::On => continue,
                // Code that runs into the function it calls does not continue after the call.
                Then::Call(Some(target)) if target == after => {}
                Then::Call(_) if !self.code.is_padding(arch.code_address(after)) => continue,
                Then::Call(_) => self.open(Open { at: after, state, has_call }, true),
                Then::Branch(target) => {
                    self.open(Open { at: after, state: state.clone(), has_call }, false);
                    self.open(Open { at: target, state, has_call }, false);
                }
                Then::Jump(target) => self.open(Open { at: target, state, has_call }, false),
                Then::Switch(table) => {
                    let end = self.start.end;
                    let most = if end.is_some() { ENTRIES } else { ENTRIES_WITHOUT_END };
                    let code = self.code;
                    let targets = (0..most).map_while(|entry| code.entry(table, entry));
                    let start = self.start;
                    for target in targets.take_while(|&target| start.holds(target)) {
                        self.open(Open { at: target, state: state.clone(), has_call }, false);
                    }
                }
                Then::Away => {}
            }
            return;
        }
    }

    /// Returns true if the frame is at an instruction: the next one of a leaf, or the active call.
    const fn is_place(&self, at: u64, next: u64) -> bool {
        let Self { lookup, is_leaf, .. } = *self;
        if is_leaf { at == lookup.0 } else { at <= lookup.0 && next == lookup.0.wrapping_add(1) }
    }

    fn note(&mut self, state: &State) {
        let arch = state.arch;
        let entry = |value: Value| match value {
            Some(Sum { base: Base::Register(register), offset }) if register == arch.sp => {
                Some(offset)
            }
            _ => None,
        };
        let sp = entry(state.sp());
        self.sp.add(sp);
        self.fp.add(entry(state.get(arch.fp)));
        let kept = |register: u8| {
            let itself = Sum { base: Base::Register(register), offset: 0 };
            let slot = state.slot_of(itself).and_then(|slot| entry(Some(slot)));
            let is_same = state.get(register) == Some(itself);
            (slot.map(Kept::Slot), is_same.then_some(Kept::Same))
        };
        self.return_address.add(Some(if arch.is_x86() {
            Kept::Slot(0)
        } else {
            let (slot, same) = kept(arch.return_address);
            // The active call has overwritten the register.
            let is_leaf = self.is_leaf;
            same.filter(|_| is_leaf).or(slot).unwrap_or(Kept::Unknown)
        }));
        for (agreed, register) in self.saved.iter_mut().zip(arch.conventions.preserved) {
            let is_kept = register != UNUSED && register != arch.return_address;
            let (slot, same) = if is_kept { kept(register) } else { (None, None) };
            agreed.add(Some(slot.or(same).unwrap_or(Kept::Unknown)));
        }
    }
}
