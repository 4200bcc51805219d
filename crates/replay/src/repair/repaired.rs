//! A completed slice: only the frames and nodes that its samples use,
//! in sample order, with the frames that tail calls removed.
//! Slices are brought into this form in parallel, so that the sequential merge visits each row once.

use address::ById as _;
use budget::HeldMemory;
use profile::{EndReason, FoundBy, FrameId, SampleRow, StackId, StackRow};
use unwinder::CodeLocation;

use crate::branches::SliceBranches;
use crate::join::CodeContext;
use crate::slice::counts::SliceCounts;
use crate::slice::frame_key::{FrameKey, PlacedFrame};
use crate::slice::layout::SampleLayouts;
use crate::slice::walk::WalkedSlice;
use crate::tails::{Finder, ResolvedCall, TailFrame};
use crate::values::SliceValue;

/// The input of the merge. Ids are local to the slice.
#[derive(Debug)]
pub(crate) struct RepairedSlice {
    /// Frames, with some duplicates, in the order of the nodes that first have them.
    pub(crate) frames: Vec<FrameKey>,
    /// Nodes, with some duplicates, in sample order and outermost first: parents precede children.
    pub(crate) stacks: Vec<StackRow>,
    pub(crate) layouts: SampleLayouts,
    pub(crate) samples: Vec<SampleRow>,
    pub(crate) counts: SliceCounts,
    /// Values of the requested fields, in sample order.
    pub(crate) values: Vec<SliceValue>,
    /// Branches of the samples, if they are requested.
    pub(crate) branches: SliceBranches,
    /// Memory accounted until the merge.
    held: HeldMemory,
}

impl RepairedSlice {
    /// Takes the rows that samples of a slice use, without the chains that repair replaced.
    #[inline(never)] // A stage of its own in profiles.
    pub(crate) fn of(
        slice: WalkedSlice,
        tail_calls: Option<(&mut Finder, CodeContext<'_>)>,
    ) -> Self {
        let mut rows = UsedRows::of(&slice, tail_calls);
        let stack = |row: &SampleRow| row.stack.and_then(|stack| rows.stack(stack));
        let stacks_of_samples: Vec<_> = slice.samples.iter().map(stack).collect();
        let UsedRows { frames, stacks, added, .. } = rows;
        let WalkedSlice { layouts, mut samples, mut counts, values, branches, held, .. } = slice;
        for (row, stack) in samples.iter_mut().zip(stacks_of_samples) {
            row.stack = stack;
            // `added` may be shorter than the stacks: it ends at the last changed one.
            let added = stack.and_then(|stack| added.get(stack.index())).copied();
            let added = added.unwrap_or_default();
            counts.n_frames += u64::from(added.frames);
            if added.has_unknown && row.end == EndReason::Root {
                row.end = EndReason::RootAcrossGap;
            }
        }
        let mut repaired =
            Self { frames, stacks, layouts, samples, counts, values, branches, held };
        let bytes = repaired.heap_bytes() as u64;
        repaired.held.set(bytes);
        repaired
    }

    /// Copies the rows of a slice that may still change. The counts stay with it.
    pub(crate) fn copy_of(slice: &WalkedSlice) -> Self {
        let mut rows = UsedRows::of(slice, None);
        let mut samples = slice.samples.clone();
        for row in &mut samples {
            row.stack = row.stack.and_then(|stack| rows.stack(stack));
        }
        let UsedRows { frames, stacks, .. } = rows;
        let (layouts, counts) = (slice.layouts.clone(), SliceCounts::default());
        let (values, branches) = (Vec::new(), SliceBranches::default());
        let held = HeldMemory::default();
        Self { frames, stacks, layouts, samples, counts, values, branches, held }
    }

    /// Size of the tables, in bytes.
    fn heap_bytes(&self) -> usize {
        self.frames.capacity() * size_of::<FrameKey>()
            + self.stacks.capacity() * size_of::<StackRow>()
            + self.samples.capacity() * size_of::<SampleRow>()
            + self.values.iter().map(SliceValue::bytes).sum::<usize>()
            + self.branches.heap_bytes()
    }
}

/// Rows of a slice that its samples use, as they are found.
struct UsedRows<'s> {
    slice: &'s WalkedSlice,
    frames: Vec<FrameKey>,
    stacks: Vec<StackRow>,
    /// New ids of the slice's frames and nodes, once a sample uses them.
    frame_ids: Vec<Option<FrameId>>,
    stack_ids: Vec<Option<StackId>>,
    /// Nodes of a chain without a new id, innermost first.
    chain: Vec<(StackId, StackRow)>,
    /// Finder of the frames that tail calls removed.
    tail_calls: Option<(&'s mut Finder, CodeContext<'s>)>,
    /// For each frame of the slice: the function that it calls.
    calls: Vec<SliceCall>,
    /// For each stack: frames that tail calls add. Empty if there are none at all.
    added: Vec<AddedFrames>,
}

/// One additional frame and node is reserved for each `ADDED` ones.
const ADDED: usize = 8;

/// The function that a frame of the slice calls.
#[derive(Clone, Copy, Debug)]
enum SliceCall {
    /// Not determined yet.
    Undetermined,
    /// Unknown.
    Nothing,
    /// A function of the caller's file.
    Function { start: u64, end: u64 },
    /// A function that the loader resolves.
    Symbol,
}

/// Frames that tail calls add to a chain.
#[derive(Clone, Copy, Default, Debug)]
struct AddedFrames {
    frames: u32,
    /// True if some are unknown.
    has_unknown: bool,
}

impl<'s> UsedRows<'s> {
    fn of(slice: &'s WalkedSlice, tail_calls: Option<(&'s mut Finder, CodeContext<'s>)>) -> Self {
        let (n_frames, n_stacks) = (slice.frames.values().len(), slice.stacks.values().len());
        let with_capacity = |len: usize| if tail_calls.is_some() { len + len / ADDED } else { len };
        Self {
            slice,
            frames: Vec::with_capacity(with_capacity(n_frames)),
            stacks: Vec::with_capacity(with_capacity(n_stacks)),
            frame_ids: vec![None; n_frames],
            stack_ids: vec![None; n_stacks],
            chain: Vec::new(),
            calls: vec![SliceCall::Undetermined; if tail_calls.is_some() { n_frames } else { 0 }],
            tail_calls,
            added: Vec::new(),
        }
    }

    /// Returns the new id of a node. Walks outwards to a node with a new id, then inwards again.
    fn stack(&mut self, innermost: StackId) -> Option<StackId> {
        let slice = self.slice;
        let mut at = Some(innermost);
        let mut parent = None;
        while let Some(node) = at {
            if let Some(known) = self.stack_ids.by_id(node).copied().flatten() {
                parent = Some(known);
                break;
            }
            let row = *slice.stacks.values().by_id(node)?;
            self.chain.push((node, row));
            at = row.parent;
        }
        while let Some((node, row)) = self.chain.pop() {
            let frame = self.frame_id(row.frame)?;
            if let Some(outside) = parent.filter(|_| self.tail_calls.is_some()) {
                parent = Some(self.add_tail_calls(outside, row)?);
            }
            parent = Some(self.push(parent, frame));
            *self.stack_ids.by_id_mut(node)? = parent;
        }
        parent
    }

    /// Returns the new id of a frame of the slice.
    fn frame_id(&mut self, frame: FrameId) -> Option<FrameId> {
        let slot = self.frame_ids.by_id_mut(frame)?;
        if let Some(frame) = *slot {
            return Some(frame);
        }
        let key = *self.slice.frames.values().by_id(frame)?;
        self.frames.push(key);
        Some(*slot.insert(FrameId::new(self.frames.len() as u32 - 1)))
    }

    /// Adds a node.
    fn push(&mut self, parent: Option<StackId>, frame: FrameId) -> StackId {
        let Self { stacks, added, .. } = self;
        if !added.is_empty() {
            let outside = parent.and_then(|id| added.by_id(id)).copied();
            added.push(outside.unwrap_or_default());
        }
        stacks.push(StackRow { parent, frame });
        StackId::new(stacks.len() as u32 - 1)
    }

    /// Adds the frames that tail calls removed between a node and its parent; `outside` is the parent's new id.
    /// Returns the parent for the next frame.
    #[inline]
    fn add_tail_calls(&mut self, outside: StackId, row: StackRow) -> Option<StackId> {
        let slice = self.slice;
        let from = slice.stacks.values().get(row.parent?.index())?.frame;
        let keys = slice.frames.values();
        match *self.calls.by_id(from)? {
            SliceCall::Nothing => Some(outside),
            SliceCall::Function { start, end } => {
                let (caller, callee) = (*keys.by_id(from)?, *keys.by_id(row.frame)?);
                if caller.is_in_module_of(callee) && callee.is_between(start, end) {
                    return Some(outside);
                }
                self.add_missing(outside, from, caller, callee)
            }
            SliceCall::Undetermined | SliceCall::Symbol => {
                let (caller, callee) = (*keys.by_id(from)?, *keys.by_id(row.frame)?);
                self.add_missing(outside, from, caller, callee)
            }
        }
    }

    /// The same, if the call does not lead directly to the callee as known so far.
    #[cold]
    fn add_missing(
        &mut self,
        outside: StackId,
        from: FrameId,
        caller: FrameKey,
        callee: FrameKey,
    ) -> Option<StackId> {
        let (finder, code) = self.tail_calls.as_mut()?;
        let caller_place = caller.code_frame();
        let call = finder.call(&caller_place, *code);
        *self.calls.by_id_mut(from)? = SliceCall::of(call);
        let frames = finder.between(call, &caller_place, &callee.code_frame(), *code);
        let Some(frames) = frames else { return Some(outside) };
        self.added.reserve(self.stacks.capacity() - self.added.len());
        self.added.resize(self.stacks.len(), AddedFrames::default());
        let mut parent = outside;
        for frame in &*frames {
            let key = tail_key(*frame, caller, callee);
            self.frames.push(key);
            let frame = FrameId::new(self.frames.len() as u32 - 1);
            parent = self.push(Some(parent), frame);
            let added = self.added.by_id_mut(parent)?;
            added.frames += 1;
            added.has_unknown |= key.placed(0).found_by == FoundBy::TailCalls;
        }
        Some(parent)
    }
}

impl SliceCall {
    const fn of(call: ResolvedCall) -> Self {
        match call {
            ResolvedCall::Function(called) => {
                Self::Function { start: called.start, end: called.end }
            }
            ResolvedCall::Symbol(_) => Self::Symbol,
            ResolvedCall::Unknown => Self::Nothing,
        }
    }
}

/// Returns the key of a tail call's frame between a caller and a callee,
/// with the module and instance of one of the two.
fn tail_key(frame: TailFrame, caller: FrameKey, callee: FrameKey) -> FrameKey {
    let (module, relative, whole) = match frame {
        TailFrame::Unknown => return FrameKey::new(&PlacedFrame::nowhere(FoundBy::TailCalls), 0),
        TailFrame::Jump(module, svma) => (module, svma, false),
        TailFrame::Function(module, svma) => (module, svma, true),
    };
    let of = if callee.module() == Some(module) { callee } else { caller };
    let location = CodeLocation { module: Some(module), relative, bias: 0 };
    let found_by = FoundBy::TailCall;
    FrameKey::new(&PlacedFrame { location, found_by, kernel: false, whole }, of.instance())
}
