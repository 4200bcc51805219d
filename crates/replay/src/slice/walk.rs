//! The walk of a slice: each sample's kernel chain and user stack, interned among the samples of the slice.

use std::sync::Arc;

use address::{Avma, Bias, ModuleId};
use budget::Held;
use module_map::{LazySpace, ProcessImage, Space};
use perf_data::{Batch, CpuMode, Head, RegsAbi, Sample};
use profile::{
    EndReason, EventId, FoundBy, FrameId, LayoutId, SampleRow, StackId, StackRow, ThreadId,
};
use unwinder::{Arch, Frame, Place, UserState, Walker, is_unwound, pc_bit, sp_bit};

use crate::plan::kernel_frames::kernel_frames;
use crate::plan::planner::Planned;
use crate::plan::spaces::Spaces;
use crate::slice::chain::{Chain, LastChain, SliceScratch};
use crate::slice::counts::SliceCounts;
use crate::slice::found_modules::modules_of;
use crate::slice::frame_key::{FrameKey, PlacedFrame};
use crate::slice::layout::SampleLayouts;
use crate::slice::observed::SeenSamples;
use crate::slice::prefetch::Ahead;
use crate::slice::recent_values::Recent;
use crate::slice::recorded::RecordedChains;
use crate::slice::related::{Merged, SharedMemory, first_gained, n_in_code};
use crate::slice::stack_needs::note_walked;

/// What came of a slice of samples. Its ids are of this slice.
#[derive(Debug, Default)]
pub(crate) struct WalkedSlice {
    pub(crate) frames: Recent<FrameKey, FrameId>,
    pub(crate) stacks: Recent<StackRow, StackId>,
    pub(crate) layouts: SampleLayouts,
    pub(crate) samples: Vec<SampleRow>,
    /// For each sample what its walk saw of the stack.
    pub(crate) seen: SeenSamples,
    pub(crate) counts: SliceCounts,
    /// The modules of its frames.
    pub(crate) modules: Vec<ModuleId>,
    /// What it takes.
    pub(crate) held: Held,
}

/// Walks a slice of planned samples.
pub(crate) fn walk_slice(
    batch: &Batch,
    planned: &[Planned],
    spaces: &Spaces,
    walker: &mut Walker<'_>,
    repair: bool,
) -> WalkedSlice {
    let mut result = WalkedSlice::of_samples(planned.len(), repair);
    let machine = Machine::of(batch.head());
    let mut frames = Vec::new();
    let (mut scratch, mut filled) = (SliceScratch::default(), Filled::default());
    let mut merged = Merged::default();
    let before = (walker.cache_hits(), walker.cache_misses());
    let mut ahead = Ahead::new(batch, planned, machine.arch.and_then(sp_bit));
    for planned in planned {
        let sample = ahead.next(walker);
        let (Some(sample), Some(space), Some(kernel)) =
            (sample, spaces.process(planned.space), spaces.kernel(planned.kernel))
        else {
            result.counts.undecoded += 1;
            continue;
        };
        frames.clear();
        let in_guest = kernel_frames(sample, kernel, &mut frames);
        let n_kernel = frames.len();
        let mut end = match in_guest {
            true => EndReason::Guest,
            false => user_frames(sample, machine, space, walker, &mut frames),
        };
        let mut process_image = planned.process_image;
        if let (EndReason::NotMapped, Some(later)) = (end, &planned.later) {
            let space = filled.space(planned, space, later);
            if let Some(new) = again(sample, machine, space, walker, &mut frames) {
                (end, process_image) = (new, later.1);
                result.counts.late_maps += 1;
            }
        }
        let mut cut_at = walker.cut_at();
        if !in_guest && !planned.related.is_empty() {
            let walked = (end, &mut frames, &mut result.counts.shared_memory);
            if let Some(new) =
                with_related(sample, planned, machine, (space, &mut merged), walker, walked)
            {
                (end, cut_at) = (new, walker.cut_at());
            }
        }
        let placed = frames.iter().map(PlacedFrame::from);
        let (stack, layout) = result.intern((process_image, planned.thread), placed, &mut scratch);
        if repair {
            result.seen.push(planned.owner, (n_kernel, &frames), (end, cut_at));
        }
        note_walked(&mut result.counts.needs, leaf_and_root(frames.get(n_kernel..)), end);
        let entry = &planned.entry;
        result.counts.n_frames += frames.len() as u64;
        let (thread, event) = (ThreadId::new(planned.thread), EventId::new(entry.event));
        result.samples.push(
            SampleRow::new(thread, event, end, stack, LayoutId::new(layout))
                .with_time((entry.time.0 != 0).then_some(entry.time))
                .with_cpu(sample.cpu)
                .with_period(sample.period),
        );
    }
    result.counts.cache_hits = walker.cache_hits() - before.0;
    result.counts.cache_misses = walker.cache_misses() - before.1;
    result.modules = modules_of(result.frames.values());
    result
}

impl WalkedSlice {
    /// An empty slice with capacity for that many samples.
    fn of_samples(n_samples: usize, repair: bool) -> Self {
        Self {
            // As many as there are in slices of real programs.
            frames: Recent::with_capacity(3 * n_samples),
            stacks: Recent::with_capacity(7 * n_samples),
            samples: Vec::with_capacity(n_samples),
            seen: SeenSamples::with_capacity(if repair { n_samples } else { 0 }),
            ..Self::default()
        }
    }

    /// What its tables take, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.frames.heap_bytes()
            + self.stacks.heap_bytes()
            + self.seen.heap_bytes()
            + self.samples.capacity() * size_of::<SampleRow>()
    }

    /// The ids of the stack and of the layout of a sample's frames.
    pub(crate) fn intern(
        &mut self,
        (process_image, thread): (ProcessImage, u32),
        frames: impl DoubleEndedIterator<Item = PlacedFrame>,
        scratch: &mut SliceScratch,
    ) -> (Option<StackId>, u32) {
        let (layout, last_chain) = scratch.of_thread(thread);
        layout.clear();
        let mut last = None;
        let mut unplaced = 0;
        let mut chain = self.chain(last_chain);
        for mut frame in frames.rev() {
            let Place { module, bias, relative } = frame.place;
            let instance = match (module, last) {
                (None, _) => 0,
                (Some(module), Some((known, at, instance))) if known == module && at == bias => {
                    instance
                }
                (Some(module), _) => {
                    let instance = layout.instance(module, Bias(bias)).unwrap_or_else(|| {
                        // Its address is known, but not as one of the module.
                        unplaced += 1;
                        let relative = relative.wrapping_add(bias);
                        frame.place = Place { module: None, relative, bias: 0 };
                        0
                    });
                    last = frame.place.module.map(|module| (module, bias, instance));
                    instance
                }
            };
            chain.push(FrameKey::new(&frame, instance));
        }
        let end = chain.end();
        self.counts.unplaced += unplaced;
        (end, self.layouts.intern(process_image, layout))
    }

    /// A chain that is interned among those of the slice.
    pub(crate) fn chain<'s>(&'s mut self, last: &'s mut LastChain) -> Chain<'s> {
        Chain::new(&mut self.frames, &mut self.stacks, last)
    }
}

/// What the walk needs to know of the recording and its machine.
#[derive(Clone, Copy)]
struct Machine<'b> {
    /// Has the events.
    head: &'b Head,
    /// The processor, if it is one that is unwound.
    arch: Option<Arch>,
    big_endian: bool,
}

impl<'b> Machine<'b> {
    fn of(head: &'b Head) -> Self {
        let arch = head.machine().arch.filter(|&arch| is_unwound(arch));
        Self { head, arch, big_endian: head.endian() == perf_data::Endian::Big }
    }

    /// The processor that a sample's registers are those of: on a machine of 64 bits some processes have 32.
    fn arch_of(&self, abi: RegsAbi) -> Option<Arch> {
        let arch = self.arch?;
        match abi {
            RegsAbi::Bits64 => Some(arch).filter(|arch| arch.bits() == Some(64)),
            RegsAbi::Bits32 => {
                let narrow = arch.compat().filter(|&narrow| is_unwound(narrow));
                // Code of big-endian Arm is not read.
                narrow.filter(|&narrow| !(self.big_endian && narrow == Arch::Arm))
            }
            _ => None,
        }
    }
}

/// The last space that was filled with what was mapped shortly afterwards, and by the versions of which two.
#[derive(Default)]
struct Filled(Option<((u64, u64), Space)>);

impl Filled {
    /// The space of a sample with what was mapped shortly afterwards where nothing was by then. Another process image
    /// has nothing of the one before.
    fn space<'s>(
        &'s mut self,
        planned: &Planned,
        own: &Space,
        later: &'s (Arc<LazySpace>, ProcessImage),
    ) -> &'s Space {
        let (space, process_image) = (later.0.space(), &later.1);
        if *process_image != planned.process_image {
            return space;
        }
        let versions = (own.version(), space.version());
        if self.0.as_ref().is_none_or(|filled| filled.0 != versions) {
            self.0 = None;
        }
        &self.0.get_or_insert_with(|| (versions, own.before(space))).1
    }
}

/// The user part: the replayed stack, continued with a recorded chain where its bytes ended; else the recorded chain,
/// else the sampled address.
fn user_frames(
    sample: &Sample<'_>,
    machine: Machine<'_>,
    space: &Space,
    walker: &mut Walker<'_>,
    frames: &mut Vec<Frame>,
) -> EndReason {
    let n_kernel = frames.len();
    let arch = sample.user_regs.and_then(|registers| machine.arch_of(registers.abi()));
    let reason = match (sample.user_regs, arch) {
        (Some(registers), Some(arch)) => {
            let state = UserState {
                arch,
                stack: sample.user_stack.map_or(&[], |stack| stack.bytes),
                big_endian: machine.big_endian,
                partial_registers: sample.cpu_mode == CpuMode::Kernel,
                executed: sample.exact_ip() && sample.cpu_mode == CpuMode::User,
                space,
                thread: sample.tid.map_or(0, |tid| tid.0 as u32),
            };
            let end = walker.walk(&state, registers.iter(), frames);
            if state.stack.is_empty() && end == EndReason::StackExhausted {
                EndReason::NoUserStack
            } else {
                end
            }
        }
        (Some(registers), None) => {
            // A sample of the kernel says with its registers where the process was.
            let pc = machine.arch.and_then(pc_bit).and_then(|bit| registers.get(bit));
            if let Some(pc) = pc.filter(|_| n_kernel > 0) {
                frames.push(walker.frame_at(Avma(pc), space, FoundBy::Sampled));
            }
            EndReason::UnsupportedAbi
        }
        (None, _) if n_kernel > 0 => EndReason::KernelOnly,
        (None, _) => EndReason::NoUserRegs,
    };
    let recorded = RecordedChains { sample, head: machine.head, space };
    // A chain that the recorder unwound is taken where the replay could do nothing, or less.
    if reason != EndReason::Root
        && frames.len() - n_kernel < 2
        && recorded.replace(walker, n_kernel, frames)
    {
        return EndReason::Recorded;
    }
    if matches!(reason, EndReason::StackExhausted | EndReason::NoUserStack | EndReason::ReturnProbe)
        && let Some(end) = recorded.continue_walk(walker, n_kernel, frames)
    {
        return end;
    }
    if let (true, Some(ip)) = (frames.is_empty(), sample.ip) {
        frames.push(walker.frame_at(ip, space, FoundBy::Sampled));
    }
    reason
}

/// The stack pointers of the innermost and of the outermost user frame, 0 for one that is not known.
fn leaf_and_root(user: Option<&[Frame]>) -> Option<[u64; 2]> {
    let (leaf, root) = (user?.first()?, user?.last()?);
    Some([leaf, root].map(|frame| frame.sp().unwrap_or(0)))
}

/// The user part again, in the space of shortly afterwards: taken where the chain gets further in it.
fn again(
    sample: &Sample<'_>,
    machine: Machine<'_>,
    space: &Space,
    walker: &mut Walker<'_>,
    frames: &mut Vec<Frame>,
) -> Option<EndReason> {
    let n_kernel = frames.iter().take_while(|frame| frame.kernel).count();
    let mut new = frames.get(..n_kernel)?.to_vec();
    let end = user_frames(sample, machine, space, walker, &mut new);
    let known = |frames: &[Frame]| frames.iter().filter(|frame| frame.module.is_some()).count();
    (known(&new) > known(frames)).then(|| {
        *frames = new;
        end
    })
}

/// The user part again, in the space with the code that a relative mapped, if the chain led to where the process has no
/// code: taken if more frames are in code then.
#[cold]
fn with_related(
    sample: &Sample<'_>,
    planned: &Planned,
    machine: Machine<'_>,
    (own, merged): (&Space, &mut Merged),
    walker: &mut Walker<'_>,
    (end, frames, counted): (EndReason, &mut Vec<Frame>, &mut SharedMemory),
) -> Option<EndReason> {
    let n_kernel = frames.iter().take_while(|frame| frame.kernel).count();
    let before = n_in_code(frames, own);
    if end != EndReason::NotMapped && before == frames.len() - n_kernel {
        return None;
    }
    planned.related.iter().find_map(|related| {
        let shared = merged.space(own, related)?;
        let mut new = frames.get(..n_kernel)?.to_vec();
        let end = user_frames(sample, machine, shared, walker, &mut new);
        let module = first_gained(&new, own, shared)?;
        (n_in_code(&new, shared) > before).then(|| {
            let first = Some((planned.entry.pid, related.pid, module));
            counted.add(SharedMemory { samples: 1, first });
            *frames = new;
            end
        })
    })
}

#[cfg(test)]
mod tests {
    use profile::FoundBy;

    use super::*;

    /// A chain through 300 places of one module: frames at those that have no number keep their addresses.
    #[test]
    fn modules_at_too_many_places() {
        let mut slice = WalkedSlice::default();
        let frame = |at: u64| PlacedFrame {
            place: Place { module: Some(ModuleId(4)), relative: 0x10, bias: 0x1000 * at },
            found_by: FoundBy::Cfi,
            kernel: false,
            whole: false,
        };
        let frames = (0..300).rev().map(frame);
        slice.intern((ProcessImage(1), 0), frames, &mut SliceScratch::default());
        let keys = slice.frames.values();
        let places = [0, 255, 256, 299].map(|at: usize| {
            let place = keys[at].placed(0).place;
            (place.module.is_some(), place.relative, keys[at].instance())
        });
        let expected =
            [(true, 0x10, 0), (true, 0x10, 255), (false, 0x10_0010, 0), (false, 0x12_b010, 0)];
        assert_eq!((places, slice.counts.unplaced), (expected, 44));
    }
}
