//! The call before a return address, on processors with a link register: an instruction, and those before it that put its
//! target together.
//!
//! ```text
//!   bl f                                direct
//!   auipc ra, …; jalr ra, …(ra)         direct, of RISC-V
//!   larl %r1, …; lg %r1, …; basr        through a word that the loader fills
//! ```

use std::sync::Arc;

use address::{Avma, Svma};
use image_store::LoadedImage;

use crate::arch::{Flow, FlowDecoder, Processor};
use crate::code::called::{Called, Functions, InFile, locate};
use crate::state::WalkContext;

/// Bytes before a return address that can be of its call: the longest first instructions of a sequence, down to the call
/// alone.
const LENGTHS: [u64; 7] = [2, 4, 6, 8, 10, 12, 14];

impl Functions {
    /// Whether the call before a return address can have called the code at hand.
    pub(in crate::code) fn called_by_link(
        &mut self,
        return_address: u64,
        at: InFile<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        let Some(caller) = locate(Avma(return_address).sub(1), &context.memory) else {
            return Called::Perhaps;
        };
        let returns_to = caller.svma.add(1).0;
        // The code may be of either kind.
        let kinds: &[u64] = if context.arch.has_thumb() { &[0, 1] } else { &[0] };
        let calls =
            kinds.iter().filter_map(|kind| call_before(caller, returns_to | kind, context.arch));
        let calls: Vec<Flow> = calls.collect();
        let of = |call: Flow| match call {
            Flow::Call(target) => self.from(InFile { svma: Svma(target), ..caller }, at),
            Flow::CallSlot(slot) => self.slot(caller.file, slot, at),
            _ => Called::Perhaps,
        };
        calls.into_iter().map(of).max().unwrap_or(Called::Never)
    }
}

impl Functions {
    /// Whether an address of a 32-bit Arm file is in Thumb code: by the mapping symbol before it; without any, by the
    /// entry point, and by addresses that ARM code cannot have.
    pub(crate) fn is_thumb(&mut self, file: &Arc<LoadedImage>, svma: Svma) -> bool {
        let kinds =
            self.kinds.entry(file.serial).or_insert_with(|| file.image().thumb_code().into());
        let before = kinds.partition_point(|&(start, _)| start <= svma.0).checked_sub(1);
        let is_thumb = before.and_then(|at| kinds.get(at)).map(|&(_, is_thumb)| is_thumb);
        is_thumb.unwrap_or(!svma.0.is_multiple_of(4) || file.image().entry().0 & 1 != 0)
    }
}

/// The call that returns to an address of a file, of Thumb code with the lowest bit set.
fn call_before(caller: InFile<'_>, returns_to: u64, arch: Processor) -> Option<Flow> {
    let end = arch.code_address(returns_to);
    let mut found = None;
    for length in LENGTHS {
        let start = end.checked_sub(length)?;
        let Some(code) = caller.file.image().read_only_bytes(Svma(start), length as usize) else {
            break;
        };
        match call_at_end(code, returns_to.wrapping_sub(length), arch) {
            call @ Some(Flow::Call(_) | Flow::CallSlot(_)) => return call,
            call => found = found.or(call),
        }
    }
    found
}

/// The call that code ends with, if nothing before it in the code branches.
fn call_at_end(code: &[u8], at: u64, arch: Processor) -> Option<Flow> {
    let end = at.wrapping_add(code.len() as u64);
    for step in FlowDecoder::new(arch, code, at)? {
        match step.flow {
            Flow::Next => {}
            flow @ (Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect) => {
                return Some(flow).filter(|_| step.next == end);
            }
            _ => return None,
        }
    }
    None
}
