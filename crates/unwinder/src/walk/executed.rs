//! Samples of precise events of x86: their address is that of an instruction that has run, and their registers and stack
//! are those behind it. What the instruction did is undone, or its frame is looked at from behind it.
//!
//! Source: `setup_pebs_fixed_sample_data` and `setup_pebs_adaptive_sample_data` in `arch/x86/events/intel/ds.c`,
//! `perf_ibs_handle_irq` in `arch/x86/events/amd/ibs.c`: the address is set to the instruction's, all else is of after it.

use address::Avma;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};
use profile::{EndReason, FoundBy};

use crate::cache::StackCache;
use crate::frame::Frame;
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::outcome::WalkOutcome;
use crate::walk::start::WalkStart;

/// What is known of the frame that an instruction ran in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Executed {
    /// The registers are those that the frame has at that address.
    At(Avma),
    /// They are those of the caller. The return address was below its stack pointer, of which nothing is recorded.
    Returned,
    /// They are of somewhere in what the instruction called.
    Beyond,
}

/// The longest instruction, and how much is looked at where a file ends earlier.
const LENGTHS: [usize; 5] = [15, 7, 5, 2, 1];

impl Executed {
    /// Of the instruction at an address. What a call did to the registers is undone.
    pub(super) fn of(pc: Avma, registers: &mut Registers, context: &WalkContext<'_>) -> Self {
        let (memory, arch) = (&context.memory, context.arch);
        let code = LENGTHS.into_iter().find_map(|len| memory.code(pc, len));
        let Some(code) = code.filter(|_| arch.is_x86()) else { return Self::At(pc) };
        let instruction =
            Decoder::with_ip(arch.bitness(), code, pc.0, DecoderOptions::NONE).decode();
        let next = instruction.next_ip();
        // `int $0x80` is an interrupt to the decoder.
        if matches!(instruction.mnemonic(), Mnemonic::Syscall | Mnemonic::Sysenter) {
            return Self::At(Avma(next));
        }
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::XbeginXabortXend | FlowControl::Interrupt => {
                Self::At(Avma(next))
            }
            // These change no register but the program counter.
            FlowControl::UnconditionalBranch
            | FlowControl::ConditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Exception => Self::At(pc),
            FlowControl::Return => Self::Returned,
            FlowControl::Call | FlowControl::IndirectCall => {
                let sp = registers.sp(arch);
                if memory.recorded(sp) != Some(next) {
                    return Self::Beyond;
                }
                registers.set(arch.sp, memory.wrap(sp.wrapping_add(arch.word)));
                Self::At(pc)
            }
        }
    }
}

impl Walker<'_> {
    /// Walks from an instruction that has run, with the registers behind it.
    pub(super) fn walk_behind(
        &mut self,
        pc: Avma,
        previous: &mut StackCache,
        mut registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let first = frames.len();
        let executed = Executed::of(pc, &mut registers, context);
        let Executed::At(at) = executed else {
            let frame = self.frame_at(pc, context.memory.space, FoundBy::Sampled);
            frames.push(Frame { sp: registers.sp(context.arch), ..frame });
            if executed == Executed::Beyond {
                return EndReason::RegisterUnknown.into();
            }
            let found = self.walk_after_return(pc, previous, registers, context, frames);
            if frames.len() - first > self.max_frames {
                frames.truncate(first + self.max_frames);
                return EndReason::MaxFrames.into();
            }
            return found.unwrap_or_else(|| EndReason::MemoryNotRecorded.into());
        };
        let outcome = self.walk_from(WalkStart::sampled(at), previous, registers, context, frames);
        if let Some(frame) = frames.get_mut(first).filter(|_| at != pc) {
            let shown = self.frame_at(pc, context.memory.space, FoundBy::Sampled);
            *frame = Frame { sp: frame.sp, saved: frame.saved, ..shown };
        }
        outcome
    }
}
