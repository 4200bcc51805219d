//! A row group before it is encoded: samples, and their frames one behind the other.

use profile::query::{Biases, Walker, functions};
use profile::{FrameRow, InlineRow, LocationRow, Profile, SampleRow};

/// The functions of all frames: each frame of the profile is as many of the output as it has functions, or one.
#[derive(Debug)]
pub(super) struct Pieces {
    rows: Vec<Piece>,
    /// By frame: where its rows end; they begin where those of the frame before end.
    ends: Vec<u32>,
}

/// A frame of the output, before the process is known.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Index of `Profile::frames`.
    frame: u32,
    /// Index of `Profile::inlines`; [`NO_FUNCTION`] where nothing is known.
    function: u32,
}

const NO_FUNCTION: u32 = u32::MAX;

impl Pieces {
    pub(super) fn new(profile: &Profile, inlines: bool) -> Self {
        let mut rows = Vec::with_capacity(profile.frames.len());
        let mut ends = Vec::with_capacity(profile.frames.len());
        for (frame, row) in (0_u32..).zip(&profile.frames) {
            if let Some(location) = profile.locations.get(row.location as usize) {
                let n = functions(profile, location, inlines).len() as u32;
                // Those that are shown are the last ones.
                let end = location.first_inline.saturating_add(location.n_inlines);
                rows.extend((end.saturating_sub(n)..end).map(|function| Piece { frame, function }));
                if n == 0 {
                    rows.push(Piece { frame, function: NO_FUNCTION });
                }
            }
            ends.push(rows.len() as u32);
        }
        Self { rows, ends }
    }

    fn of_frame(&self, frame: u32) -> std::ops::Range<u32> {
        let end = |at: usize| self.ends.get(at).copied().unwrap_or(0);
        let start = (frame as usize).checked_sub(1).map_or(0, end);
        start..end(frame as usize)
    }
}

/// The samples of a row group.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) samples: &'a [SampleRow],
    pieces: &'a Pieces,
    /// The frames of all samples: a row of `Pieces`, and the address in the process.
    frames: Vec<(u32, u64)>,
    /// By sample: where its frames end.
    ends: Vec<usize>,
}

/// A frame of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<'a> {
    pub(super) addr: u64,
    pub(super) frame: &'a FrameRow,
    pub(super) location: &'a LocationRow,
    pub(super) function: Option<&'a InlineRow>,
}

impl<'a> Group<'a> {
    pub(super) fn new(samples: &'a [SampleRow], walker: &Walker<'a>, pieces: &'a Pieces) -> Self {
        let mut group =
            Self { samples, pieces, frames: Vec::new(), ends: Vec::with_capacity(samples.len()) };
        let mut biases = Biases::new();
        for sample in samples {
            walker.walk(sample, &mut biases, |frame, addr| {
                group.frames.extend(pieces.of_frame(frame).map(|piece| (piece, addr)));
            });
            group.ends.push(group.frames.len());
        }
        group
    }

    /// The frames of each sample, innermost first.
    pub(super) fn stacks(&self) -> impl Iterator<Item = &[(u32, u64)]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.frames.get(start..end).unwrap_or_default())
    }

    /// What a frame is made of; `None` for one that a broken profile does not have.
    #[inline]
    pub(super) fn cell(&self, profile: &'a Profile, frame: (u32, u64)) -> Option<Cell<'a>> {
        let piece = self.pieces.rows.get(frame.0 as usize)?;
        let row = profile.frames.get(piece.frame as usize)?;
        Some(Cell {
            addr: frame.1,
            frame: row,
            location: profile.locations.get(row.location as usize)?,
            function: profile.inlines.get(piece.function as usize),
        })
    }
}
