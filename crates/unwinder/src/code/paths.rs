//! All paths of instructions from an address to a return: the distance that the stack pointer has moved, and the
//! locations of the caller's registers.
//!
//! Code after a call that is followed only by padding is examined last: most such calls do not return.

use std::collections::VecDeque;

use address::Svma;
use hashbrown::HashSet;
use iced_x86::{Instruction, InstructionInfoFactory, OpKind};
use image_store::Image;

use crate::arch::{MemoryWords, PathState, Sum, SymbolicValue, processor};
use crate::code::bytes::CodeBytes;
use crate::code::effect::{X86Successor, run};
use crate::code::link;
use crate::code::visits::{MOST_EXITS, Visits};

/// A return of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exit {
    /// Location of the return address.
    pub(crate) sp: Sum,
    /// Values of the registers that functions preserve, in the order of the processor.
    pub(crate) saved: [SymbolicValue; 6],
}

/// The exits that paths from an address reach.
#[derive(Default, Debug)]
pub(crate) struct Paths {
    /// All exits, without duplicates.
    pub(crate) exits: Vec<Exit>,
    pub(crate) words: MemoryWords,
    /// Cost of the search, in instructions.
    pub(crate) cost: usize,
    /// True if some path ends the thread or the process.
    ends: bool,
    /// True if the code does nothing except end them.
    pub(crate) only_ends: bool,
    /// True if paths continue through switches or registers, or are too many.
    is_partial: bool,
    /// True if all exits come after calls that need not return.
    pub(crate) is_doubtful: bool,
    /// True if some path restores the caller's frame pointer from the address in the frame pointer, so that it refers
    /// to a frame record.
    pub(crate) maintains_frame_pointer: bool,
}

/// The code that paths from a function's start pass through.
#[derive(Default, Debug)]
pub(crate) struct Extent {
    /// Start and end of each run of instructions. Sorted by start; runs do not overlap.
    runs: Vec<(u64, u64)>,
    /// Runs after a call that need not return.
    doubtful: Vec<(u64, u64)>,
    /// The words through which paths continue into other functions.
    pub(crate) tails: Vec<u64>,
    /// Cost of the search, in instructions.
    pub(crate) cost: usize,
    /// True if all paths are known.
    pub(crate) complete: bool,
}

/// The evidence that paths pass through an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reach {
    No,
    /// If a call returns although it appears not to, or by an unknown path.
    Perhaps,
    Yes,
}

/// Maximum number of instructions, from an address of a frame and from a call's target.
const MOST_TO_EXITS: usize = 6_000;
const MOST_OF_EXTENT: usize = 16_000;
/// Cost of a run besides its instructions, in instructions: its state is copied.
const COST_OF_RUN: usize = 16;
/// Entries of a switch that are followed. Their number is not determined, and no compiler makes smaller tables.
const ENTRIES: u64 = 4;
/// Alignment of functions, in bytes.
const ALIGNMENT: u64 = 16;
/// Maximum number of other functions that one continues in.
const MOST_TAILS: usize = 64;

impl Paths {
    /// Finds the exits from an instruction of a file.
    pub(crate) fn from(image: &Image, start: Svma) -> Option<Self> {
        let mut explorer = PathExplorer::new(image, start, MOST_TO_EXITS)?;
        let mut found = Self::default();
        let mut visits = Visits::of([explorer.code.arch.sp]);
        while let Some((at, mut state, doubtful)) = explorer.next() {
            if doubtful && (!found.exits.is_empty() || found.ends) {
                break;
            }
            let sp = state.sp();
            if visits.is_new(at, &mut state) {
                found.is_partial |= state.sp() != sp;
                found.follow(&mut explorer, at, state, doubtful);
            }
        }
        found.is_partial |= explorer.left == 0;
        found.cost = explorer.cost;
        Some(found)
    }

    /// Returns true if no visible path returns, as in the function at which a thread or a process begins.
    pub(crate) fn never_returns(&self) -> bool {
        !self.is_partial && (self.exits.is_empty() || self.is_doubtful)
    }

    fn follow(
        &mut self,
        explorer: &mut PathExplorer<'_>,
        at: u64,
        mut state: PathState,
        doubtful: bool,
    ) {
        let is_first = std::mem::take(&mut explorer.is_first);
        let end = explorer.run(at, &mut state, &mut self.words, doubtful);
        self.maintains_frame_pointer |= end.restores_frame_pointer;
        match end.next {
            X86Successor::Return | X86Successor::TailCall(_) => {
                self.is_doubtful |= doubtful;
                self.add(&state);
            }
            X86Successor::End => {
                self.only_ends = is_first && end.n_calls == 0;
                self.ends = true;
            }
            // A function that only jumps to another one.
            X86Successor::Register
                if is_first && end.n_run == 1 && at.is_multiple_of(ALIGNMENT) =>
            {
                self.add(&state)
            }
            X86Successor::Lost | X86Successor::Register | X86Successor::Switch(_) => {
                self.is_partial |= !doubtful
            }
            _ => {}
        }
    }

    fn add(&mut self, state: &PathState) {
        let Some(sp) = state.sp() else { return };
        let saved = state.arch.conventions.callee_saved.map(|register| state.get(register));
        if let Some(known) = self.exits.iter_mut().find(|known| known.sp == sp) {
            for (one, other) in known.saved.iter_mut().zip(saved) {
                *one = one.filter(|_| *one == other);
            }
        } else if self.exits.len() < MOST_EXITS {
            self.exits.push(Exit { sp, saved });
        }
    }
}

impl Extent {
    /// Returns the extent of a function that begins at `start`; for Thumb, the lowest bit of the address is set.
    pub(crate) fn of(image: &Image, start: Svma) -> Option<Self> {
        let is_x86 = image.arch().and_then(processor).is_some_and(|arch| arch.is_x86());
        if is_x86 { Self::of_x86(image, start) } else { link::extent(image, start) }
    }

    fn of_x86(image: &Image, start: Svma) -> Option<Self> {
        let mut explorer = PathExplorer::new(image, start, MOST_OF_EXTENT)?;
        let mut found = Self { complete: true, ..Self::default() };
        let mut words = MemoryWords::default();
        let mut seen = HashSet::new();
        while let Some((at, mut state, doubtful)) = explorer.next() {
            if !seen.insert(at) {
                continue;
            }
            let end = explorer.run(at, &mut state, &mut words, doubtful);
            found.add(at, end.at, doubtful);
            match end.next {
                X86Successor::TailCall(Some(slot)) => found.tails.push(slot),
                X86Successor::TailCall(None)
                | X86Successor::Lost
                | X86Successor::Register
                | X86Successor::Switch(_) => found.complete = false,
                _ => {}
            }
        }
        Some(found.finish(explorer.left > 0, explorer.cost))
    }

    /// Adds a run of instructions from `start` to `end`.
    pub(in crate::code) fn add(&mut self, start: u64, end: u64, is_doubtful: bool) {
        if is_doubtful { &mut self.doubtful } else { &mut self.runs }.push((start, end));
    }

    /// Completes the extent after all its runs were added.
    pub(in crate::code) fn finish(mut self, is_whole: bool, cost: usize) -> Self {
        self.cost = cost;
        merge(&mut self.runs);
        merge(&mut self.doubtful);
        self.tails.sort_unstable();
        self.tails.dedup();
        self.complete &= is_whole && self.tails.len() <= MOST_TAILS;
        self.tails.truncate(MOST_TAILS);
        self
    }

    /// The runs of instructions that its paths pass through.
    pub(crate) fn runs(&self) -> &[(u64, u64)] {
        &self.runs
    }

    /// Size of the code, in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.runs.iter().map(|&(start, end)| end.wrapping_sub(start)).sum()
    }

    /// Decides whether its paths pass through the instruction at an address.
    pub(crate) fn reaches(&self, svma: Svma) -> Reach {
        let through = |runs: &[(u64, u64)]| {
            let after = runs.partition_point(|&(start, _)| start <= svma.0);
            after.checked_sub(1).and_then(|at| runs.get(at)).is_some_and(|&(_, end)| svma.0 < end)
        };
        match (through(&self.runs), through(&self.doubtful), self.complete) {
            (true, ..) => Reach::Yes,
            (false, true, _) => Reach::Perhaps,
            (false, false, false) => Reach::Perhaps,
            (false, false, true) => Reach::No,
        }
    }
}

/// Sorts runs, and joins runs that overlap or touch.
fn merge(runs: &mut Vec<(u64, u64)>) {
    runs.sort_unstable();
    runs.dedup_by(|next, before| {
        let overlap = next.0 <= before.1;
        if overlap {
            before.1 = before.1.max(next.1);
        }
        overlap
    });
}

/// The end of a run of instructions.
#[derive(Default)]
struct PathRunEnd {
    /// Address after the last instruction.
    at: u64,
    next: X86Successor,
    /// Number of instructions, and of calls among them.
    n_run: u32,
    n_calls: u32,
    restores_frame_pointer: bool,
}

/// Pending paths.
struct PathExplorer<'a> {
    code: CodeBytes<'a>,
    left: usize,
    /// Number of examined instructions, plus the cost of each run.
    cost: usize,
    is_first: bool,
    open: VecDeque<(u64, PathState, bool)>,
    /// Paths after a call that need not return.
    doubtful: VecDeque<(u64, PathState)>,
    factory: InstructionInfoFactory,
}

impl<'a> PathExplorer<'a> {
    fn new(image: &'a Image, start: Svma, most: usize) -> Option<Self> {
        let code = CodeBytes::around(image, start)?;
        let state = PathState::new(code.arch);
        Some(Self {
            code,
            left: most,
            cost: 0,
            is_first: true,
            open: VecDeque::from([(start.0, state, false)]),
            doubtful: VecDeque::new(),
            factory: InstructionInfoFactory::new(),
        })
    }

    fn next(&mut self) -> Option<(u64, PathState, bool)> {
        if self.left == 0 {
            return None;
        }
        self.open
            .pop_front()
            .or_else(|| self.doubtful.pop_front().map(|(at, state)| (at, state, true)))
    }

    /// Runs instructions up to the first with another successor than the next instruction, and adds its successors.
    fn run(
        &mut self,
        at: u64,
        state: &mut PathState,
        words: &mut MemoryWords,
        doubtful: bool,
    ) -> PathRunEnd {
        let mut end = PathRunEnd { at, ..PathRunEnd::default() };
        self.cost += COST_OF_RUN;
        let Some(mut decoder) = self.code.decoder(at) else { return end };
        let mut instruction = Instruction::default();
        while self.left > 0 && decoder.can_decode() {
            self.left -= 1;
            decoder.decode_out(&mut instruction);
            end.at = instruction.next_ip();
            end.n_run += 1;
            self.cost += 1;
            let next = match run(&instruction, state, words, &mut self.factory) {
                X86Successor::LinkageSlot(offset) => {
                    X86Successor::TailCall(self.code.linkage_slot(instruction.ip(), offset))
                }
                next => next,
            };
            end.restores_frame_pointer |= state.has_callers_frame_pointer(words);
            match next {
                X86Successor::Next => continue,
                X86Successor::Call if self.learns_address(&instruction, state) => continue,
                X86Successor::Call if !self.code.is_padding(end.at) => {
                    end.n_calls += 1;
                    continue;
                }
                X86Successor::Call => self.doubtful.push_back((end.at, state.clone())),
                X86Successor::Branch(target) => {
                    self.open.push_back((end.at, state.clone(), doubtful));
                    self.open.push_back((target, state.clone(), doubtful));
                }
                X86Successor::Jump(target) => {
                    self.open.push_back((target, state.clone(), doubtful))
                }
                X86Successor::Switch(table) => {
                    let targets = (0..ENTRIES).map_while(|entry| self.code.entry(table, entry));
                    self.open.extend(targets.map(|target| (target, state.clone(), doubtful)));
                }
                _ => {}
            }
            end.next = next;
            break;
        }
        end
    }

    /// Returns true if a call only sets a register to its return address.
    fn learns_address(&self, call: &Instruction, state: &mut PathState) -> bool {
        if call.op0_kind() != OpKind::NearBranch32 {
            return false;
        }
        let target = call.near_branch_target();
        // The next instruction pops the pushed address.
        if target == call.next_ip() {
            let sp = state.sp().map(|sp| sp.plus(-state.word()));
            state.set(state.arch.sp, sp);
            return state.store(sp, state.word(), Some(Sum::constant(target)));
        }
        let register = self.code.address_thunk(target);
        if let Some(register) = register {
            state.set(register, Some(Sum::constant(call.next_ip())));
        }
        register.is_some()
    }
}
