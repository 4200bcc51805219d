//! A slice whose samples are done: of its frames and nodes only those that samples have, in the order in which the samples
//! show them. All threads put slices into this form, so that the merge, which is one thread's, goes through each row once.

use budget::Held;
use profile::{FrameId, SampleRow, StackId, StackNeeds, StackRow};

use crate::replay::frame_key::FrameKey;
use crate::replay::intern::{Hashed, Hashes};
use crate::replay::layout::SampleLayouts;
use crate::replay::related::SharedMemory;
use crate::replay::slice::WalkedSlice;

/// What the merge takes of a slice. Its ids are of this slice.
#[derive(Debug)]
pub(crate) struct RepairedSlice {
    /// The frames, some twice, in the order of the nodes that have them first.
    pub(crate) frames: Vec<Hashed<FrameKey>>,
    /// The nodes, some twice, in the order of the samples and outermost first: a parent is before its children. The hash
    /// is that of the chain.
    pub(crate) stacks: Vec<Hashed<StackRow>>,
    pub(crate) layouts: SampleLayouts,
    pub(crate) samples: Vec<SampleRow>,
    pub(crate) counts: SliceCounts,
    /// What it takes, as long as it waits.
    held: Held,
}

/// What is counted in a slice.
#[derive(Debug, Default)]
pub(crate) struct SliceCounts {
    /// How many bytes of stack the chains need.
    pub(crate) needs: StackNeeds,
    /// Frames of all samples.
    pub(crate) n_frames: u64,
    pub(crate) undecoded: u64,
    pub(crate) late_maps: u64,
    pub(crate) shared_memory: SharedMemory,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
    /// Frames without a module, since theirs lies at too many places.
    pub(crate) unplaced: u64,
}

impl RepairedSlice {
    /// Takes of a slice what its samples have: not the chains that repair replaced.
    #[inline(never)] // A stage of its own in profiles.
    pub(crate) fn of(slice: WalkedSlice, hashes: &Hashes) -> Self {
        let mut rows = UsedRows::of(&slice, hashes);
        let stack = |row: &SampleRow| row.stack.and_then(|stack| rows.stack(stack));
        let stacks_of_samples: Vec<_> = slice.samples.iter().map(stack).collect();
        let UsedRows { frames, stacks, .. } = rows;
        let WalkedSlice { layouts, mut samples, counts, held, .. } = slice;
        for (row, stack) in samples.iter_mut().zip(stacks_of_samples) {
            row.stack = stack;
        }
        let mut repaired = Self { frames, stacks, layouts, samples, counts, held };
        let bytes = repaired.heap_bytes() as u64;
        repaired.held.set(bytes);
        repaired
    }

    /// What its tables take, in bytes.
    const fn heap_bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Hashed<FrameKey>>()
            + self.stacks.capacity() * size_of::<Hashed<StackRow>>()
            + self.samples.capacity() * size_of::<SampleRow>()
    }
}

/// The rows of a slice that its samples have, as they are found.
struct UsedRows<'s> {
    slice: &'s WalkedSlice,
    hashes: &'s Hashes,
    frames: Vec<Hashed<FrameKey>>,
    stacks: Vec<Hashed<StackRow>>,
    /// For each frame and node of the slice its id here, once a sample has it.
    known_frames: Vec<Option<FrameId>>,
    known_stacks: Vec<Option<StackId>>,
    /// The part of a chain that is not known yet, innermost first.
    chain: Vec<(StackId, StackRow)>,
}

impl<'s> UsedRows<'s> {
    fn of(slice: &'s WalkedSlice, hashes: &'s Hashes) -> Self {
        let (n_frames, n_stacks) = (slice.frames.values().len(), slice.stacks.values().len());
        Self {
            slice,
            hashes,
            frames: Vec::with_capacity(n_frames),
            stacks: Vec::with_capacity(n_stacks),
            known_frames: vec![None; n_frames],
            known_stacks: vec![None; n_stacks],
            chain: Vec::new(),
        }
    }

    /// The id here of a node of the slice. Outwards to a node that is known, then inwards again.
    fn stack(&mut self, innermost: StackId) -> Option<StackId> {
        let Self { slice, hashes, frames, stacks, known_frames, known_stacks, chain } = self;
        let mut at = Some(innermost);
        let mut parent = None;
        while let Some(node) = at {
            if let Some(known) = known_stacks.get(node.index()).copied().flatten() {
                parent = Some(known);
                break;
            }
            let row = *slice.stacks.values().get(node.index())?;
            chain.push((node, row));
            at = row.parent;
        }
        let known = |id: StackId| stacks.get(id.index()).map_or(0, |row| row.hash);
        let mut hash = parent.map_or(0, known);
        for (node, row) in chain.drain(..).rev() {
            let slot = known_frames.get_mut(row.frame.index())?;
            let frame = match *slot {
                Some(frame) => frame,
                None => {
                    frames.push(hashes.hashed(*slice.frames.values().get(row.frame.index())?));
                    *slot.insert(FrameId::new(frames.len() as u32 - 1))
                }
            };
            hash = hashes.of_chain(hash, frames.get(frame.index())?.hash);
            stacks.push(Hashed { value: StackRow { parent, frame }, hash });
            parent = Some(StackId::new(stacks.len() as u32 - 1));
            *known_stacks.get_mut(node.index())? = parent;
        }
        parent
    }
}
