//! The root side of a chain that is lost in code without CFI. The start of the thread is known, and the frames from
//! there inwards are on the stack in the order of their calls.
//!
//! ```text
//!   dump:  [ lost frame | code of a just-in-time compiler ... ][ W3 | W2 | W1 | W0 ]
//!            a gap                                               |    |    |    ^ returns into the first code of
//!                                                                |    |    |      the thread: the anchor
//!                                                                |    |    ^ each ends at the next one, by CFI or
//!                                                                |    |      the code
//!                                                                ^ the innermost can be a remnant of an earlier call
//! ```

use std::collections::BTreeMap;

use address::Avma;
use profile::{EndReason, FoundBy};

use crate::arch::{Arch, X86_64};
use crate::cache::StackCache;
use crate::code::{Called, ImageAddress, locate};
use crate::frame::Frame;
use crate::rule::{Rule, SimpleRule};
use crate::state::{Registers, SampleMemory, WalkContext};
use crate::walk::Walker;
use crate::walk::after_return::follows_call;
use crate::walk::lost::is_in_file;
use crate::walk::outcome::WalkOutcome;
use crate::walk::start::WalkStart;

/// Bytes of a word.
const WORD: u64 = 8;
/// Return addresses on a stack that are examined.
const MOST_WORDS: usize = 4096;

/// A return address on the stack that leads to the start of the thread.
#[derive(Clone, Copy, Debug)]
struct AnchorLink {
    word: u64,
    /// Address of the slot that holds its function's return address; `None` for the outermost.
    outer: Option<u64>,
    /// Frame pointer of its function, if its frame is counted from that.
    fp: Option<u64>,
    /// Number of return addresses that lead directly to this one.
    inner: u32,
    /// Slot of the last of them.
    inner_at: u64,
    /// True if the call before the outer return address is proven to be a call of its function.
    is_called: bool,
}

impl Walker<'_> {
    /// Continues a lost chain, which begins at `own_first`, from the start of the thread inwards; the part between is a
    /// gap. Otherwise it leaves the chain unchanged and returns `lost`.
    #[cold]
    pub(in crate::walk) fn walk_from_anchor(
        &mut self,
        lost: WalkOutcome,
        own_first: usize,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let arch = context.arch;
        let own = frames.len();
        let most = own_first.saturating_add(self.max_frames);
        let sp = frames.get(own_first..).and_then(<[Frame]>::last).map_or(0, |frame| frame.sp);
        if !arch.is(Arch::X86_64) || own + 2 > most || sp == 0 {
            return lost;
        }
        let Some((slot, link)) = self.innermost_sure(sp, context) else { return lost };
        let mut registers = Registers::new();
        registers.set(arch.sp, slot.wrapping_add(WORD));
        registers.set(arch.return_address, link.word);
        if let Some(fp) = link.fp {
            registers.set(arch.fp, fp);
        }
        frames.push(Frame::GAP);
        let start = WalkStart::caller(Avma(link.word));
        let mut previous = StackCache::default();
        let context = lost.context_beyond(context);
        let outcome = self.walk_from(start, &mut previous, registers, &context, frames);
        if let Some(frame) = frames.get_mut(own + 1) {
            frame.found_by = FoundBy::Scan;
        }
        if outcome.end.reason == EndReason::Root && frames.len() <= most {
            return outcome.with_reason(EndReason::RootAcrossGap);
        }
        frames.truncate(own);
        lost
    }

    /// Returns the innermost return address that certainly belongs to the chain. There must be one thread start on the
    /// stack above `sp`, and one path inwards from it. The path ends at the first call that is not proven to call the
    /// next inner function. The C library's call that begins a thread needs no proof: the library calls nothing else
    /// there. The last word of the path can be a remnant of an earlier call.
    fn innermost_sure(&mut self, sp: u64, context: &WalkContext<'_>) -> Option<(u64, AnchorLink)> {
        let links = self.links(sp, context);
        let mut outermost = links.iter().filter(|(_, link)| link.outer.is_none());
        let (&root, &first) = outermost.next().filter(|_| outermost.next().is_none())?;
        let mut path = vec![(root, first)];
        while let Some((last, _)) = path.last().filter(|(_, last)| last.inner == 1) {
            let inner = path.last().map(|(_, last)| last.inner_at)?;
            debug_assert!(inner < *last, "inner frames are further down");
            path.push((inner, *links.get(&inner)?));
        }
        let of_library = self.of_library(&path, &context.memory);
        let is_unproven = |(_, link): &(u64, AnchorLink)| !link.is_called;
        let sure = of_library + 1;
        if let Some(first) = path.iter().skip(sure).position(is_unproven) {
            path.truncate(sure + first);
        } else if path.len() > of_library && path.last().is_some_and(|(_, last)| last.inner == 0) {
            path.pop();
        }
        path.pop()
    }

    /// Returns the number of outermost return addresses in the C library code that begins a process or a thread.
    fn of_library(&mut self, path: &[(u64, AnchorLink)], memory: &SampleMemory<'_>) -> usize {
        /// `_start`, and two frames of the library.
        const MOST: usize = 3;
        let functions = self.cache.fallback.functions();
        let mut is_of_library = |link: &AnchorLink| {
            let at = locate(Avma(link.word).sub(1), memory);
            at.is_some_and(|at| functions.begins_threads(at.file))
        };
        let last = path.iter().take(MOST).rposition(|(_, link)| is_of_library(link));
        last.map_or(0, |last| last + 1)
    }

    /// Returns the return addresses on the stack that lead to the start of a thread, by slot.
    fn links(&mut self, sp: u64, context: &WalkContext<'_>) -> BTreeMap<u64, AnchorLink> {
        let memory = &context.memory;
        let end = memory.stack_start.wrapping_add(memory.stack.len() as u64);
        // A frame can be anywhere, but only the recorded stack is searched.
        let mut links = BTreeMap::<u64, AnchorLink>::new();
        let first = sp.max(memory.stack_start).checked_next_multiple_of(WORD);
        // Registers are untrusted: a stack at the end of the address space has no word.
        let Some(first) = first else { return links };
        let slots = (0..end.saturating_sub(first) / WORD).rev().map(|index| first + WORD * index);
        let words = slots.filter_map(|slot| Some((slot, memory.recorded(slot)?)));
        let in_files = words.filter(|&(_, word)| is_in_file(Avma(word).sub(1), memory));
        let calls = in_files.filter(|&(_, word)| follows_call(word, context));
        for (slot, word) in calls.take(MOST_WORDS) {
            let lookup = Avma(word).sub(1);
            let Some(at) = locate(lookup, memory) else { continue };
            let rule = self.rule_of(at.file.serial, at.svma, lookup, context);
            let mut link =
                AnchorLink { word, outer: None, fp: None, inner: 0, inner_at: 0, is_called: false };
            if rule != Rule::Outermost {
                let Some((outer, fp)) = self.outer_slot(at, lookup, slot, rule, context) else {
                    continue;
                };
                let Some(outer_link) = links.get_mut(&outer) else { continue };
                let called = self.cache.fallback.called(outer_link.word, at, context);
                if called == Called::Never {
                    continue;
                }
                outer_link.inner += 1;
                outer_link.inner_at = slot;
                link = AnchorLink {
                    outer: Some(outer),
                    fp,
                    is_called: called == Called::Proven,
                    ..link
                };
            }
            links.insert(slot, link);
        }
        links
    }

    /// Returns the slot of a function's return address, if the function waits for a call with its return address at
    /// `slot`. Also returns its frame pointer if the rule counts from that; the code from the function's start then
    /// gives the depth of the call.
    fn outer_slot(
        &mut self,
        at: ImageAddress<'_>,
        lookup: Avma,
        slot: u64,
        rule: Rule,
        context: &WalkContext<'_>,
    ) -> Option<(u64, Option<u64>)> {
        let arch = X86_64;
        let Rule::Simple(rule) = rule else { return None };
        let SimpleRule { cfa_register, cfa_offset, signal, .. } = rule;
        if signal || rule.return_address() != -1 {
            return None;
        }
        let sp = slot.wrapping_add(WORD);
        if cfa_register == arch.sp {
            let outer = sp.wrapping_add_signed(cfa_offset.into()).wrapping_sub(WORD);
            return (outer > slot).then_some((outer, None));
        }
        if cfa_register != arch.fp {
            return None;
        }
        let start = self.described_start(at, lookup, context)?;
        let depth = self.cache.fallback.functions().depth(start, at, false)?;
        let outer = sp.wrapping_add_signed(depth.sp?.wrapping_neg());
        let fp = outer.wrapping_add(WORD).wrapping_add_signed(-i64::from(cfa_offset));
        (outer > slot).then_some((outer, Some(fp)))
    }
}
