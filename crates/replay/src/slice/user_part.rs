//! The user part of a sample: the walk of its stack, or the recorder's callchain.

use address::Avma;
use module_map::Space;
use perf_data::{CpuMode, Head, RegsAbi, Sample};
use profile::{EndReason, FoundBy};
use unwinder::{Arch, Frame, UserState, Walker, is_unwound, pc_bit, sp_bit};

use crate::plan::planned::PlannedSample;
use crate::slice::recorded::RecordedChains;
use crate::slice::related::{RelatedSpaceCache, SharedMemory, first_gained, n_in_code};

/// Properties of the recording and its machine that the walk needs.
#[derive(Clone, Copy)]
pub(crate) struct RecordingContext<'b> {
    /// Head with the events.
    head: &'b Head,
    /// The architecture, if unwinding supports it.
    arch: Option<Arch>,
    big_endian: bool,
}

impl<'b> RecordingContext<'b> {
    pub(crate) fn of(head: &'b Head) -> Self {
        let arch = head.machine().arch.filter(|&arch| is_unwound(arch));
        Self { head, arch, big_endian: head.endian() == perf_data::Endian::Big }
    }

    /// The bit of the stack pointer in the recorder's register mask, if stacks are walked.
    pub(crate) fn sp_bit(&self) -> Option<u32> {
        self.arch.and_then(sp_bit)
    }

    /// Returns the architecture of a sample's registers: 64-bit machines can run 32-bit processes.
    fn arch_of(&self, abi: RegsAbi) -> Option<Arch> {
        let arch = self.arch?;
        match abi {
            RegsAbi::Bits64 => Some(arch).filter(|arch| arch.bits() == Some(64)),
            RegsAbi::Bits32 => {
                let narrow = arch.compat().filter(|&narrow| is_unwound(narrow));
                // Code of big-endian Arm is not supported.
                narrow.filter(|&narrow| !(self.big_endian && narrow == Arch::Arm))
            }
            _ => None,
        }
    }
}

/// A sample with a user part to walk.
#[derive(Clone, Copy)]
pub(crate) struct UserPart<'s> {
    pub(crate) sample: &'s Sample<'s>,
    pub(crate) recording: RecordingContext<'s>,
    /// False if its stack is not walked.
    pub(crate) has_stack: bool,
}

/// The result of a walk that used code of a related process.
pub(crate) struct RelatedWalk {
    pub(crate) end: EndReason,
    pub(crate) shared_memory: SharedMemory,
}

impl UserPart<'_> {
    /// The state that its walk begins with; `None` without registers of a supported processor.
    pub(crate) fn state<'s>(&'s self, space: &'s Space) -> Option<UserState<'s>> {
        let Self { sample, recording, has_stack } = self;
        let stack = sample.user_stack.filter(|_| *has_stack);
        let registers = sample.user_regs?;
        Some(UserState {
            arch: recording.arch_of(registers.abi())?,
            stack: stack.map_or(&[], |stack| stack.bytes),
            big_endian: recording.big_endian,
            partial_registers: sample.cpu_mode == CpuMode::Kernel,
            executed: sample.exact_ip() && sample.cpu_mode == CpuMode::User,
            space,
            thread: sample.tid.map_or(0, |tid| tid.0 as u32),
        })
    }

    /// Returns the user frames: the walked stack, continued with a recorded chain if the dump ended.
    /// Without a walk, takes the recorded chain or, failing that, the sampled address.
    pub(crate) fn frames_in(
        self,
        space: &Space,
        walker: &mut Walker<'_>,
        frames: &mut Vec<Frame>,
    ) -> EndReason {
        let Self { sample, recording, .. } = self;
        let n_kernel = frames.len();
        let reason = match (sample.user_regs, self.state(space)) {
            (Some(registers), Some(state)) => {
                let end = walker.walk(&state, registers.iter(), frames);
                if state.stack.is_empty() && end == EndReason::StackExhausted {
                    EndReason::NoUserStack
                } else {
                    end
                }
            }
            (Some(registers), None) => {
                // The registers of a kernel sample show the user address of the process.
                let pc = recording.arch.and_then(pc_bit).and_then(|bit| registers.get(bit));
                if let Some(pc) = pc.filter(|_| n_kernel > 0) {
                    frames.push(walker.frame_at(Avma(pc), space, FoundBy::Sampled));
                }
                EndReason::UnsupportedAbi
            }
            (None, _) if n_kernel > 0 => EndReason::KernelOnly,
            (None, _) => EndReason::NoUserRegs,
        };
        let recorded = RecordedChains { sample, head: recording.head, space };
        // A chain that the recorder unwound is used if the walk failed or found less.
        if reason != EndReason::Root
            && frames.len() - n_kernel < 2
            && recorded.replace(walker, n_kernel, frames)
        {
            return EndReason::Recorded;
        }
        if matches!(
            reason,
            EndReason::StackExhausted | EndReason::NoUserStack | EndReason::ReturnProbe
        ) && let Some(end) = recorded.continue_walk(walker, n_kernel, frames)
        {
            return end;
        }
        if let (true, Some(ip)) = (frames.is_empty(), sample.ip) {
            frames.push(walker.frame_at(ip, space, FoundBy::Sampled));
        }
        reason
    }

    /// Walks the user part again in a slightly later space, and keeps the result if it has more frames with a module.
    pub(crate) fn again(
        self,
        space: &Space,
        walker: &mut Walker<'_>,
        frames: &mut Vec<Frame>,
    ) -> Option<EndReason> {
        let n_kernel = frames.iter().take_while(|frame| frame.kernel).count();
        let mut new = frames.get(..n_kernel)?.to_vec();
        let end = self.frames_in(space, walker, &mut new);
        let known = |frames: &[Frame]| frames.iter().filter(|frame| frame.module.is_some()).count();
        (known(&new) > known(frames)).then(|| {
            *frames = new;
            end
        })
    }

    /// Walks the user part again, with the code that a related process mapped,
    /// if the chain left the process's own code.
    /// Keeps the result if it has more frames in code.
    #[cold]
    pub(crate) fn with_related(
        self,
        planned: &PlannedSample,
        own: &Space,
        merged: &mut RelatedSpaceCache,
        walker: &mut Walker<'_>,
        end: EndReason,
        frames: &mut Vec<Frame>,
    ) -> Option<RelatedWalk> {
        let n_kernel = frames.iter().take_while(|frame| frame.kernel).count();
        let before = n_in_code(frames, own);
        if end != EndReason::NotMapped && before == frames.len() - n_kernel {
            return None;
        }
        planned.related.iter().find_map(|related| {
            let shared = merged.space(own, related)?;
            let mut new = frames.get(..n_kernel)?.to_vec();
            let end = self.frames_in(shared, walker, &mut new);
            let module = first_gained(&new, own, shared)?;
            (n_in_code(&new, shared) > before).then(|| {
                let first = Some((planned.entry.pid, related.pid, module));
                *frames = new;
                RelatedWalk { end, shared_memory: SharedMemory { samples: 1, first } }
            })
        })
    }
}
