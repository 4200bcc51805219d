//! The walk of a slice: each sample's kernel chain and user stack, interned within the slice.

use address::{Bias, ModuleId};
use budget::HeldMemory;
use module_map::{ProcessImage, Space};
use perf_data::{Batch, Sample, SelectedFields};
use profile::{EndReason, EventId, FrameId, LayoutId, SampleRow, StackId, StackRow, ThreadId};
use unwinder::{CodeLocation, Frame, Walker};

use crate::branches::SliceBranches;
use crate::plan::kernel_frames::kernel_frames;
use crate::plan::planned::PlannedSample;
use crate::plan::spaces::{LaterSpace, Spaces};
use crate::slice::chain::{Chain, LastChain, SliceScratch};
use crate::slice::counts::SliceCounts;
use crate::slice::evidence::UnwoundChains;
use crate::slice::frame_key::{FrameKey, PlacedFrame};
use crate::slice::layout::SampleLayouts;
use crate::slice::observed::ObservedSamples;
use crate::slice::observed_modules::modules_of;
use crate::slice::prefetch::PrefetchedSamples;
use crate::slice::recent_values::RecentValues;
use crate::slice::related::RelatedSpaceCache;
use crate::slice::stack_needs::note_walked;
use crate::slice::user_part::{RecordingContext, UserPart};
use crate::values::{OwnedValue, SliceValue};
use crate::variables::{RequestedVariables, VariableReader};

/// The walked samples of a slice. Ids are local to the slice.
#[derive(Debug, Default)]
pub(crate) struct WalkedSlice {
    pub(crate) frames: RecentValues<FrameKey, FrameId>,
    pub(crate) stacks: RecentValues<StackRow, StackId>,
    pub(crate) layouts: SampleLayouts,
    pub(crate) samples: Vec<SampleRow>,
    /// For each sample the observed stack.
    pub(crate) observed: ObservedSamples,
    pub(crate) counts: SliceCounts,
    /// Values of the requested fields, in sample order.
    pub(crate) values: Vec<SliceValue>,
    /// Branches of the samples, if they are requested.
    pub(crate) branches: SliceBranches,
    /// Number of the columns of variables.
    n_variables: usize,
    /// Modules with frames.
    pub(crate) modules: Vec<ModuleId>,
    /// True if the samples were shown while they wait for their repair.
    pub(crate) is_shown: bool,
    /// Memory accounted for the slice.
    pub(crate) held: HeldMemory,
}

/// Processor and weight of a sample, if they were recorded.
#[derive(Clone, Copy)]
struct Measured {
    cpu: Option<u32>,
    period: Option<u64>,
}

/// Inputs of a slice besides its samples.
#[derive(Clone, Copy)]
pub(crate) struct SliceInputs<'i> {
    pub(crate) batch: &'i Batch,
    pub(crate) spaces: &'i Spaces,
    /// Evidence for callchains that were unwound before.
    pub(crate) unwound: Option<&'i UnwoundChains>,
    /// Requested fields of samples.
    pub(crate) fields: Option<&'i SelectedFields>,
    /// Requested variables of functions.
    pub(crate) variables: Option<&'i RequestedVariables>,
    /// True if samples get their recent branches.
    pub(crate) branches: bool,
    /// True if stacks are not walked.
    pub(crate) drops_stacks: bool,
}

/// Walks a slice of planned samples.
pub(crate) fn walk_slice(
    inputs: SliceInputs<'_>,
    planned: &[PlannedSample],
    walker: &mut Walker<'_>,
    repair: bool,
) -> WalkedSlice {
    let SliceInputs { batch, spaces, unwound, fields, variables, branches, drops_stacks } = inputs;
    let mut variables = variables.map(VariableReader::new);
    let mut result = WalkedSlice::of_samples(planned.len(), repair);
    result.branches = SliceBranches::new(branches);
    result.n_variables = variables.as_ref().map_or(0, VariableReader::len);
    let recording = RecordingContext::of(batch.head());
    let (mut scratch, mut filled) = (SliceScratch::default(), FilledSpaceCache::default());
    let (mut frames, mut merged) = (Vec::new(), RelatedSpaceCache::default());
    let before = (walker.cache_hits(), walker.cache_misses());
    let mut prefetched = PrefetchedSamples::new(batch, planned, recording.sp_bit());
    for planned in planned {
        let sample = prefetched.next(walker);
        let (Some(sample), Some(space), Some(kernel)) =
            (sample, spaces.process(planned.space), spaces.kernel(planned.kernel))
        else {
            result.counts.undecoded += 1;
            continue;
        };
        let Some(measured) = result.take_fields(planned, fields, sample) else { continue };
        result.branches.push(result.samples.len() as u32, sample, space, kernel.host);
        let has_stack = !drops_stacks;
        result.counts.dropped_stacks += u64::from(drops_stacks && sample.user_stack.is_some());
        let user = UserPart { sample, recording, has_stack };
        frames.clear();
        let in_guest = kernel_frames(sample, kernel, &mut frames);
        let n_kernel = frames.len();
        if let Some(unwound) = unwound.filter(|_| !in_guest) {
            let mut placed: Vec<_> = frames.iter().map(PlacedFrame::from).collect();
            let spaces = filled.all(planned, space);
            if let Some(end) = unwound.user_frames(planned, sample, &spaces, walker, &mut placed) {
                let image = planned.process_image;
                result.add(planned, measured, end, (image, placed.into_iter()), &mut scratch);
                continue;
            }
        }
        let mut walk = UserWalk {
            end: EndReason::Guest,
            image: planned.process_image,
            truncated_at: walker.truncated_at(),
        };
        if !in_guest {
            let spaces = (&**space, &mut filled, &mut merged);
            walk = walk_user(planned, user, spaces, walker, &mut frames, &mut result.counts);
        }
        let UserWalk { end, image, truncated_at } = walk;
        let placed = (image, frames.iter().map(PlacedFrame::from));
        result.add(planned, measured, end, placed, &mut scratch);
        if let Some(variables) = &mut variables {
            let of_user = frames.get(n_kernel..).unwrap_or_default();
            result.take_variables(planned, variables, (&user, space), walker, of_user);
        }
        if repair {
            result.observed.push(planned.owner, n_kernel, &frames, end, truncated_at);
        }
        note_walked(&mut result.counts.needs, leaf_and_root(frames.get(n_kernel..)), end);
    }
    result.counts.cache_hits = walker.cache_hits() - before.0;
    result.counts.cache_misses = walker.cache_misses() - before.1;
    result.modules = modules_of(result.frames.values());
    result
}

/// The end of the walk of a user part.
struct UserWalk {
    end: EndReason,
    /// The process image that the frames belong to.
    image: ProcessImage,
    truncated_at: Option<u64>,
}

/// Walks the user part of a sample in its space, and in those of later mappings and related processes if it needs them.
#[inline]
fn walk_user(
    planned: &PlannedSample,
    user: UserPart<'_>,
    (space, filled, merged): (&Space, &mut FilledSpaceCache, &mut RelatedSpaceCache),
    walker: &mut Walker<'_>,
    frames: &mut Vec<Frame>,
    counts: &mut SliceCounts,
) -> UserWalk {
    let mut end = user.frames_in(space, walker, frames);
    let mut image = planned.process_image;
    if let (EndReason::NotMapped, Some(later)) = (end, &planned.later) {
        let space = filled.space(planned, space, later);
        if let Some(new) = user.again(space, walker, frames) {
            (end, image) = (new, later.process_image);
            counts.late_maps += 1;
        }
    }
    let mut truncated_at = walker.truncated_at();
    if !planned.related.is_empty() {
        let gained = user.with_related(planned, space, merged, walker, end, frames);
        if let Some(gained) = gained {
            counts.shared_memory.add(gained.shared_memory);
            (end, truncated_at) = (gained.end, walker.truncated_at());
        }
    }
    UserWalk { end, image, truncated_at }
}

impl WalkedSlice {
    /// Creates an empty slice with capacity for that many samples.
    fn of_samples(n_samples: usize, repair: bool) -> Self {
        Self {
            // Usual numbers of rows per sample in real programs.
            // Starting with one of each takes 0.9 % more instructions per run.
            frames: RecentValues::with_capacity(3 * n_samples),
            stacks: RecentValues::with_capacity(7 * n_samples),
            samples: Vec::with_capacity(n_samples),
            observed: ObservedSamples::with_capacity(if repair { n_samples } else { 0 }),
            ..Self::default()
        }
    }

    /// Size of the tables, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.frames.heap_bytes()
            + self.stacks.heap_bytes()
            + self.observed.heap_bytes()
            + self.samples.capacity() * size_of::<SampleRow>()
            + self.values.iter().map(SliceValue::bytes).sum::<usize>()
            + self.branches.heap_bytes()
    }

    /// Adds the labels and the requested fields of the next sample. Returns its processor and weight; `None` if the sample is omitted,
    /// since it does not have the field that is the weight.
    #[inline]
    fn take_fields(
        &mut self,
        planned: &PlannedSample,
        fields: Option<&SelectedFields>,
        sample: &Sample<'_>,
    ) -> Option<Measured> {
        let Sample { cpu, period, .. } = *sample;
        let weight = fields.and_then(|fields| fields.weight(sample));
        if weight == Some(None) {
            self.counts.missing_fields += 1;
            return None;
        }
        let row = self.samples.len() as u32;
        let labels = planned.labels.as_deref().unwrap_or_default();
        let of_labels = labels.iter().cloned().zip(0..);
        self.values.extend(of_labels.map(|(value, column)| SliceValue::new(row, column, value)));
        let values = fields.into_iter().flat_map(|fields| fields.values(sample));
        for (column, value) in values {
            let Some(value) = value else {
                self.counts.missing_fields += 1;
                continue;
            };
            let column = self.n_variables + labels.len() + column;
            self.values.push(SliceValue::new(row, column, OwnedValue::of(value)));
        }
        match fields.and_then(|fields| fields.texts().text(sample)) {
            None => {}
            Some(Some(text)) => self.values.push(SliceValue::printed(row, sample.event, text)),
            Some(None) => self.counts.missing_fields += 1,
        }
        Some(Measured { cpu, period: weight.flatten().or(period) })
    }

    /// Adds the requested variables of the last sample.
    #[cold]
    fn take_variables(
        &mut self,
        planned: &PlannedSample,
        variables: &mut VariableReader<'_>,
        (user, space): (&UserPart<'_>, &Space),
        walker: &mut Walker<'_>,
        frames: &[Frame],
    ) {
        let (Some(state), Some(registers)) = (user.state(space), user.sample.user_regs) else {
            return;
        };
        let Some(row) = self.samples.len().checked_sub(1) else { return };
        let n_labels = planned.labels.as_ref().map_or(0, |labels| labels.len());
        // No thread has the id 0.
        let tid = user.sample.tid.unwrap_or_default();
        variables.read(walker, (&state, tid), registers.iter(), frames, |request, value| {
            self.values.push(SliceValue::new(row as u32, n_labels + request, value));
        });
    }

    /// Adds a sample with its frames, innermost first, which belong to a process image.
    fn add(
        &mut self,
        planned: &PlannedSample,
        measured: Measured,
        end: EndReason,
        (image, frames): (
            ProcessImage,
            impl ExactSizeIterator<Item = PlacedFrame> + DoubleEndedIterator,
        ),
        scratch: &mut SliceScratch,
    ) {
        self.counts.n_frames += frames.len() as u64;
        let (stack, layout) = self.intern(image, planned.thread, frames, scratch);
        let entry = &planned.entry;
        let (thread, event) = (ThreadId::new(planned.thread), EventId::new(entry.event));
        self.samples.push(
            SampleRow::new(thread, event, end, stack, LayoutId::new(layout))
                .with_time((entry.time.0 != 0).then_some(entry.time))
                .with_cpu(measured.cpu)
                .with_period(measured.period),
        );
    }

    /// Interns the frames of a sample, and returns the ids of the stack and the layout.
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
            let CodeLocation { module, bias, relative } = frame.location;
            let instance = match (module, last) {
                (None, _) => 0,
                (Some(module), Some((known, at, instance))) if known == module && at == bias => {
                    instance
                }
                (Some(module), _) => {
                    let instance = layout.instance(module, Bias(bias)).unwrap_or_else(|| {
                        // The module's instances are exhausted, so the frame has only an address.
                        unplaced += 1;
                        let relative = relative.wrapping_add(bias);
                        frame.location = CodeLocation { module: None, relative, bias: 0 };
                        0
                    });
                    last = frame.location.module.map(|module| (module, bias, instance));
                    instance
                }
            };
            chain.push(FrameKey::new(&frame, instance));
        }
        let end = chain.end();
        self.counts.unplaced += unplaced;
        (end, self.layouts.intern(process_image, layout))
    }

    /// Begins a chain that is interned in the slice.
    pub(crate) fn chain<'s>(&'s mut self, last: &'s mut LastChain) -> Chain<'s> {
        Chain::new(&mut self.frames, &mut self.stacks, last)
    }
}

/// Cached result of filling a space with later mappings, by the versions of both.
#[derive(Default)]
struct FilledSpaceCache(Option<((u64, u64), Space)>);

impl FilledSpaceCache {
    /// Returns the spaces in which frames of a sample can be mapped, its own first.
    fn all<'s>(&'s mut self, planned: &'s PlannedSample, own: &'s Space) -> Vec<&'s Space> {
        let related = planned.related.iter().map(|related| &**related.space.space());
        let later = planned.later.as_ref().map(|later| self.space(planned, own, later));
        std::iter::once(own).chain(later).chain(related).collect()
    }

    /// Returns the space of a sample, with later mappings at addresses that were unmapped at its time.
    /// A later process image does not inherit the earlier mappings.
    fn space<'s>(
        &'s mut self,
        planned: &PlannedSample,
        own: &Space,
        later: &'s LaterSpace,
    ) -> &'s Space {
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

/// Returns the stack pointers of the innermost and the outermost user frame, 0 if unknown.
fn leaf_and_root(user: Option<&[Frame]>) -> Option<[u64; 2]> {
    let (leaf, root) = (user?.first()?, user?.last()?);
    Some([leaf, root].map(|frame| frame.sp().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use profile::FoundBy;

    use super::*;

    /// A chain with 300 load addresses of one module: frames without an instance keep their addresses.
    #[test]
    fn modules_at_too_many_places() {
        let mut slice = WalkedSlice::default();
        let frame = |at: u64| PlacedFrame {
            location: CodeLocation { module: Some(ModuleId(4)), relative: 0x10, bias: 0x1000 * at },
            found_by: FoundBy::Cfi,
            kernel: false,
            whole: false,
        };
        let frames = (0..300).rev().map(frame);
        slice.intern(ProcessImage(1), 0, frames, &mut SliceScratch::default());
        let keys = slice.frames.values();
        let locations = [0, 255, 256, 299].map(|at: usize| {
            let location = keys[at].placed(0).location;
            (location.module.is_some(), location.relative, keys[at].instance())
        });
        let expected =
            [(true, 0x10, 0), (true, 0x10, 255), (false, 0x10_0010, 0), (false, 0x12_b010, 0)];
        assert_eq!((locations, slice.counts.unplaced), (expected, 44));
    }
}
