//! The call before a return address, on processors with a link register: the call instruction, and preceding ones that
//! compute its target.
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
use crate::code::called::{Called, FunctionAnalyses, ImageAddress, locate};
use crate::state::WalkContext;

/// Bytes before a return address that its call can occupy, from the call alone to the longest sequence.
const LENGTHS: [u64; 7] = [2, 4, 6, 8, 10, 12, 14];

impl FunctionAnalyses {
    /// Decides whether the call before a return address can have called the code at `at`.
    pub(in crate::code) fn called_by_link(
        &mut self,
        return_address: u64,
        at: ImageAddress<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        let Some(caller) = locate(Avma(return_address).sub(1), &context.memory) else {
            return Called::Perhaps;
        };
        let returns_to = caller.svma.add(1).0;
        // The code may be ARM or Thumb.
        let kinds: &[u64] = if context.arch.has_thumb() { &[0, 1] } else { &[0] };
        let calls =
            kinds.iter().filter_map(|kind| call_before(caller, returns_to | kind, context.arch));
        let calls: Vec<Flow> = calls.collect();
        let of = |call: Flow| match call {
            Flow::Call(target) => self.from(ImageAddress { svma: Svma(target), ..caller }, at),
            Flow::CallSlot(slot) => self.slot(caller.file, slot, at),
            _ => Called::Perhaps,
        };
        calls.into_iter().map(of).max().unwrap_or(Called::Never)
    }
}

impl FunctionAnalyses {
    /// Returns true if an address of a 32-bit Arm file is in Thumb code. The mapping symbol before it decides; without
    /// any, the entry point does, and addresses that ARM code cannot have.
    pub(crate) fn is_thumb(&mut self, file: &Arc<LoadedImage>, svma: Svma) -> bool {
        let kinds =
            self.kinds.entry(file.serial).or_insert_with(|| file.image().thumb_code().into());
        let before = kinds.partition_point(|&(start, _)| start <= svma.0).checked_sub(1);
        let is_thumb = before.and_then(|at| kinds.get(at)).map(|&(_, is_thumb)| is_thumb);
        is_thumb.unwrap_or(!svma.0.is_multiple_of(4) || file.image().entry().0 & 1 != 0)
    }
}

/// Returns the call that returns to an address of a file, which has its lowest bit set for Thumb code.
fn call_before(caller: ImageAddress<'_>, returns_to: u64, arch: Processor) -> Option<Flow> {
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

/// Returns the call at the end of code, if nothing before it in the code branches.
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
