//! Precise samples of x86: the address is that of an executed instruction, but registers and stack show the state after
//! it. The instruction's effect is undone, or its frame is walked from its after-state.
//!
//! Source: `setup_pebs_fixed_sample_data` and `setup_pebs_adaptive_sample_data` in `arch/x86/events/intel/ds.c`,
//! `perf_ibs_handle_irq` in `arch/x86/events/amd/ibs.c`: only the address is set to the instruction's.

use address::Avma;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};
use profile::{EndReason, FoundBy};

use crate::cache::StackCache;
use crate::frame::Frame;
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::outcome::WalkOutcome;
use crate::walk::start::WalkStart;

/// The frame that the registers after an instruction belong to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Executed {
    /// The registers are those of the instruction's frame at that address.
    At(Avma),
    /// The registers are the caller's. The return address was below its stack pointer, so it is not in the dump.
    Returned,
    /// The registers are from an unknown instruction of the callee.
    Beyond,
}

/// The longest instruction, and shorter lengths to try near the end of a file.
const LENGTHS: [usize; 5] = [15, 7, 5, 2, 1];

impl Executed {
    /// Returns the state after the instruction at `pc`. The effect of a call on the registers is undone.
    pub(super) fn of(pc: Avma, registers: &mut Registers, context: &WalkContext<'_>) -> Self {
        let (memory, arch) = (&context.memory, context.arch);
        let code = LENGTHS.into_iter().find_map(|len| memory.code(pc, len));
        let Some(code) = code.filter(|_| arch.is_x86()) else { return Self::At(pc) };
        let instruction =
            Decoder::with_ip(arch.bitness(), code, pc.0, DecoderOptions::NONE).decode();
        let next = instruction.next_ip();
        // The decoder classifies `int $0x80` as an interrupt.
        if matches!(instruction.mnemonic(), Mnemonic::Syscall | Mnemonic::Sysenter) {
            return Self::At(Avma(next));
        }
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::XbeginXabortXend | FlowControl::Interrupt => {
                Self::At(Avma(next))
            }
            // These change no register except the program counter.
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
    /// Walks from an executed instruction, with the registers after it.
    pub(super) fn walk_after_executed(
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
