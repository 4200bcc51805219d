//! The walk of a slice: each sample's kernel chain and user stack, interned among the samples of the slice.

use address::{Bias, ModuleId};
use budget::Held;
use module_map::{ProcessImage, Space};
use perf_data::Batch;
use profile::{EndReason, EventId, FrameId, LayoutId, SampleRow, StackId, StackRow, ThreadId};
use unwinder::{Frame, Place, Walker};

use crate::plan::kernel_frames::kernel_frames;
use crate::plan::planner::Planned;
use crate::plan::spaces::{LaterSpace, Spaces};
use crate::slice::chain::{Chain, LastChain, SliceScratch};
use crate::slice::counts::SliceCounts;
use crate::slice::found_modules::modules_of;
use crate::slice::frame_key::{FrameKey, PlacedFrame};
use crate::slice::layout::SampleLayouts;
use crate::slice::observed::SeenSamples;
use crate::slice::prefetch::Ahead;
use crate::slice::recent_values::Recent;
use crate::slice::related::Merged;
use crate::slice::stack_needs::note_walked;
use crate::slice::user_part::{Machine, UserPart};

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
    let mut ahead = Ahead::new(batch, planned, machine.sp_bit());
    for planned in planned {
        let sample = ahead.next(walker);
        let (Some(sample), Some(space), Some(kernel)) =
            (sample, spaces.process(planned.space), spaces.kernel(planned.kernel))
        else {
            result.counts.undecoded += 1;
            continue;
        };
        let user = UserPart { sample, machine };
        frames.clear();
        let in_guest = kernel_frames(sample, kernel, &mut frames);
        let n_kernel = frames.len();
        let mut end = match in_guest {
            true => EndReason::Guest,
            false => user.frames_in(space, walker, &mut frames),
        };
        let mut process_image = planned.process_image;
        if let (EndReason::NotMapped, Some(later)) = (end, &planned.later) {
            let space = filled.space(planned, space, later);
            if let Some(new) = user.again(space, walker, &mut frames) {
                (end, process_image) = (new, later.process_image);
                result.counts.late_maps += 1;
            }
        }
        let mut cut_at = walker.cut_at();
        if !in_guest && !planned.related.is_empty() {
            let gained = user.with_related(planned, space, &mut merged, walker, end, &mut frames);
            if let Some(gained) = gained {
                result.counts.shared_memory.add(gained.shared_memory);
                (end, cut_at) = (gained.end, walker.cut_at());
            }
        }
        let placed = frames.iter().map(PlacedFrame::from);
        let (stack, layout) = result.intern(process_image, planned.thread, placed, &mut scratch);
        if repair {
            result.seen.push(planned.owner, n_kernel, &frames, end, cut_at);
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
            // As many as there are in slices of real programs. One of each takes 0.9 % more instructions of a run.
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
        process_image: ProcessImage,
        thread: u32,
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

/// The last space that was filled with what was mapped shortly afterwards, and by the versions of which two.
#[derive(Default)]
struct Filled(Option<((u64, u64), Space)>);

impl Filled {
    /// The space of a sample with what was mapped shortly afterwards where nothing was by then. Another process image
    /// has nothing of the one before.
    fn space<'s>(&'s mut self, planned: &Planned, own: &Space, later: &'s LaterSpace) -> &'s Space {
        let space = later.space.space();
        if later.process_image != planned.process_image {
            return space;
        }
        let versions = (own.version(), space.version());
        if self.0.as_ref().is_none_or(|filled| filled.0 != versions) {
            self.0 = None;
        }
        &self.0.get_or_insert_with(|| (versions, own.before(space))).1
    }
}

/// The stack pointers of the innermost and of the outermost user frame, 0 for one that is not known.
fn leaf_and_root(user: Option<&[Frame]>) -> Option<[u64; 2]> {
    let (leaf, root) = (user?.first()?, user?.last()?);
    Some([leaf, root].map(|frame| frame.sp().unwrap_or(0)))
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
        slice.intern(ProcessImage(1), 0, frames, &mut SliceScratch::default());
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
