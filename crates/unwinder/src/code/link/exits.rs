//! All paths from a frame's address to the returns of its function.

use address::Svma;
use image_store::Image;

use crate::arch::{Flow, MemoryWords, N_SLOTS, PathState, Sum, SymbolicValue};
use crate::code::link::explorer::{LinkExplorer, LinkRun};
use crate::code::visits::{MOST_EXITS, Visits};

/// A return, expressed in register values at the frame's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LinkExit {
    /// The caller's stack pointer.
    pub(crate) sp: Sum,
    pub(crate) return_address: Sum,
    /// The registers that functions preserve, in the order of the processor's slots.
    pub(crate) saved: [SymbolicValue; N_SLOTS],
}

/// The returns that paths from an address reach.
#[derive(Default, Debug)]
pub(crate) struct LinkPaths {
    /// Without duplicates.
    pub(crate) exits: Vec<LinkExit>,
    pub(crate) words: MemoryWords,
    pub(crate) cost: usize,
    /// True if all exits come after calls that need not return.
    pub(crate) is_doubtful: bool,
}

/// Maximum number of instructions to follow.
const MOST: usize = 6_000;

impl LinkPaths {
    /// Finds the returns from an instruction of a file, which has its lowest bit set for Thumb. A frame that is not a
    /// leaf has lost its link register, and other registers that calls may change.
    pub(crate) fn from(image: &Image, start: Svma, is_leaf: bool) -> Option<Self> {
        let mut explorer = LinkExplorer::new(image, start, MOST)?;
        let mut state = PathState::new(explorer.arch());
        if !is_leaf {
            state.forget_changed();
        }
        explorer.push(LinkRun { at: start.0, state, call: None, is_doubtful: false });
        let mut found = Self::default();
        let arch = explorer.arch();
        let mut visits = Visits::of([arch.sp, arch.return_address]);
        while let Some(mut open) = explorer.next() {
            if open.is_doubtful && !found.exits.is_empty() {
                break;
            }
            if !visits.is_new(open.at, &mut open.state) {
                continue;
            }
            let end = explorer.run(&mut open, &mut found.words);
            let target = match end.next {
                Flow::Return => end.returns_to,
                Flow::JumpSlot(_) => arch.return_address,
                _ => continue,
            };
            found.is_doubtful |= open.is_doubtful;
            found.add(&open.state, target);
        }
        found.cost = explorer.cost;
        Some(found)
    }

    fn add(&mut self, state: &PathState, target: u8) {
        let (Some(sp), Some(return_address)) = (state.sp(), state.get(target)) else { return };
        let saved = state.arch.conventions.preserved.map(|register| state.get(register));
        let is_same =
            |known: &&mut LinkExit| known.sp == sp && known.return_address == return_address;
        if let Some(known) = self.exits.iter_mut().find(is_same) {
            for (one, other) in known.saved.iter_mut().zip(saved) {
                *one = one.filter(|_| *one == other);
            }
        } else if self.exits.len() < MOST_EXITS {
            self.exits.push(LinkExit { sp, return_address, saved });
        }
    }
}
