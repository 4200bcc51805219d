//! The step from a function that continues on another stack to its caller on the stack that was left. It follows the
//! frame pointer, which such functions preserve, if the recorded bytes include that stack.
//!
//! ```text
//!   dump:  [ stack of a scheduler: ... function | ... ][ stack of a goroutine: return address | caller's frame | ... ]
//!                                                                              ^ after a call of the function,
//!                                                                                one caller's frame below the
//!                                                                                saved frame pointer
//! ```

use address::Avma;
use profile::FoundBy;

use crate::code::{ImageAddress, locate};
use crate::frame::Caller;
use crate::rule::{Rule, SimpleRule};
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;

/// Words below the frame pointer that are examined: those of a large frame.
const WORDS: u64 = 512;
/// Bytes of a word.
const WORD: u64 = 8;

impl Walker<'_> {
    /// Returns the caller of a function that left the caller's stack; sets the registers to the caller's. `None` unless
    /// exactly one word can be the return address.
    pub(in crate::walk) fn step_to_left_stack(
        &mut self,
        at: ImageAddress<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Caller> {
        let (memory, arch) = (&context.memory, context.arch);
        let fp = registers.get(arch.fp, memory).ok()?;
        if !fp.is_multiple_of(WORD) || fp <= registers.sp(arch) || memory.recorded(fp).is_none() {
            return None;
        }
        let slots = (1..=WORDS).map_while(|words| fp.checked_sub(WORD * words));
        let mut found = None;
        for slot in slots.take_while(|&slot| slot > registers.sp(arch)) {
            let Some(return_address) = memory.recorded(slot) else { break };
            if self.cache.fallback.is_call_of(return_address, at, context)
                && self.has_frame(return_address, slot, fp, context)
                && found.replace((slot, return_address)).is_some()
            {
                return None;
            }
        }
        let (slot, return_address) = found?;
        registers.set(arch.sp, slot.wrapping_add(WORD));
        registers.set(arch.return_address, return_address);
        let found_by = FoundBy::FramePointer;
        Some(Caller { pc: Avma(return_address), exact: false, found_by })
    }

    /// Returns true if the function at a return address, stored in `slot`, saved the frame pointer at the address in
    /// `fp`.
    fn has_frame(
        &mut self,
        return_address: u64,
        slot: u64,
        fp: u64,
        context: &WalkContext<'_>,
    ) -> bool {
        let (memory, arch) = (&context.memory, context.arch);
        let lookup = Avma(return_address).sub(1);
        let Some(caller) = locate(lookup, memory) else { return false };
        let rule = self.rule_of(caller.file.serial, caller.svma, lookup, context);
        let Rule::Simple(SimpleRule { cfa_register, cfa_offset, saved, .. }) = rule else {
            return false;
        };
        let index = arch.slots.iter().position(|&register| register == arch.fp);
        let saved = index.and_then(|index| saved.get(index)).copied().unwrap_or(0);
        let cfa = slot.wrapping_add(WORD).wrapping_add_signed(cfa_offset.into());
        let saved_at = cfa.wrapping_add_signed(WORD.cast_signed() * i64::from(saved));
        cfa_register == arch.sp && saved != 0 && saved_at == fp
    }
}
