//! Text of each distinct frame after its address. It is the same in every sample and is rendered once.
//!
//! A frame has a text for each function at its location. A budget bounds the memory for profiles with very many frames
//! or very long names; frames beyond it are rendered again at each use.

use profile::query::{FrameFunction, frame_functions};
use profile::{FrameId, Profile, RowId as _};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

/// Frames per chunk; chunks are rendered in parallel.
const CHUNK: usize = 1024;

/// Average budget per frame, in bytes of text. C++ names alone can have thousands.
const BYTES_PER_FRAME: usize = 512;

/// Budget for all frames, in bytes of text.
const BYTES: usize = 128 << 20;

/// Texts by frame.
#[derive(Debug)]
pub(crate) struct FrameTexts<'a, R> {
    profile: &'a Profile,
    inlines: bool,
    render: R,
    chunks: Vec<TextChunk>,
}

/// Texts of consecutive frames, concatenated.
#[derive(Debug, Default)]
struct TextChunk {
    text: Vec<u8>,
    /// End offset of each text in `text`.
    ends: Vec<u32>,
    /// By frame: index of its first text. One entry more than frames; fewer if the budget was exhausted.
    first: Vec<u32>,
}

impl<'a, R: Fn(&FrameFunction<'a>, &mut Vec<u8>) + Sync> FrameTexts<'a, R> {
    /// Renders all frames of `profile`. With `inlines`, inlined functions have separate texts; `render` appends the
    /// text of one function.
    pub(crate) fn new(profile: &'a Profile, inlines: bool, render: R) -> Self {
        let frames = profile.frames.len();
        let n_chunks = frames.div_ceil(CHUNK);
        let budget = (BYTES / n_chunks.max(1)).min(CHUNK * BYTES_PER_FRAME);
        let chunks = (0..n_chunks).into_par_iter().map(|index| {
            let mut chunk = TextChunk { first: vec![0], ..TextChunk::default() };
            for frame in index * CHUNK..frames.min((index + 1) * CHUNK) {
                if chunk.text.len() >= budget {
                    break;
                }
                for function in frame_functions(profile, FrameId::from_index(frame), inlines) {
                    render(&function, &mut chunk.text);
                    chunk.ends.push(chunk.text.len() as u32);
                }
                chunk.first.push(chunk.ends.len() as u32);
            }
            chunk
        });
        let chunks = chunks.collect();
        Self { profile, inlines, render, chunks }
    }

    /// Returns an instance without stored texts, for a few frames that are rendered at each use.
    pub(crate) const fn of_few(profile: &'a Profile, inlines: bool, render: R) -> Self {
        Self { profile, inlines, render, chunks: Vec::new() }
    }

    /// Appends the texts of a frame, innermost function first. `begin` appends the prefix of each.
    #[inline]
    pub(crate) fn push(&self, frame: FrameId, out: &mut Vec<u8>, begin: impl Fn(&mut Vec<u8>)) {
        if let Some(texts) = self.stored(frame) {
            for text in texts {
                begin(out);
                out.extend_from_slice(text);
            }
            return;
        }
        for function in frame_functions(self.profile, frame, self.inlines) {
            begin(out);
            (self.render)(&function, out);
        }
    }
}

impl<R> FrameTexts<'_, R> {
    /// Returns the stored texts of a frame; `None` if it is beyond the budget.
    #[inline]
    fn stored(&self, frame: FrameId) -> Option<impl Iterator<Item = &[u8]>> {
        let chunk = self.chunks.get(frame.index() / CHUNK)?;
        let index = frame.index() % CHUNK;
        let (first, end) =
            (*chunk.first.get(index)? as usize, *chunk.first.get(index + 1)? as usize);
        let mut start = first
            .checked_sub(1)
            .and_then(|before| chunk.ends.get(before))
            .map_or(0, |&end| end as usize);
        Some(chunk.ends.get(first..end)?.iter().map(move |&end| {
            let text = chunk.text.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            text
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::{FoundBy, FrameRow, InlineRow, LocationRow};

    /// Frame `n` has `n % 3` functions on line `n`.
    fn profile(frames: u32) -> Profile {
        let mut profile = Profile::default();
        for line in 0..frames {
            let row = InlineRow { line, ..InlineRow::NAMELESS };
            let first_inline = profile.inlines.next_id();
            profile.inlines.extend((0..line % 3).map(|column| InlineRow { column, ..row }));
            let unnamed = LocationRow::unnamed(None, 0);
            let location = profile.locations.push(LocationRow {
                first_inline,
                n_inlines: line % 3,
                ..unnamed
            });
            profile.frames.push(FrameRow {
                location,
                found_by: FoundBy::Cfi,
                kernel: false,
                instance: 0,
            });
        }
        profile
    }

    #[test]
    fn texts_come_back() {
        let profile = profile(3000);
        let texts = FrameTexts::new(&profile, true, |function, text| match function.function {
            Some(row) => text.extend_from_slice(format!("{}.{} ", row.line, row.column).as_bytes()),
            None => text.extend_from_slice(b"? "),
        });
        let text = |frame| {
            let mut out = Vec::new();
            texts.push(FrameId::new(frame), &mut out, |out| out.push(b'@'));
            String::from_utf8(out).expect("ASCII")
        };
        assert_eq!(text(0), "@? ");
        assert_eq!(text(1), "@1.0 ");
        assert_eq!(text(1025), "@1025.0 @1025.1 ");
        assert_eq!(text(2999), "@2999.0 @2999.1 ");
    }

    #[test]
    fn the_budget_holds() {
        let profile = profile(CHUNK as u32 + 1);
        let long = FrameTexts::new(&profile, true, |_, text| {
            text.resize(text.len() + CHUNK * BYTES_PER_FRAME / 2, b'x');
        });
        let kept: Vec<FrameId> =
            profile.frames.ids().filter(|&frame| long.stored(frame).is_some()).collect();
        // Frames 0 and 1 have one text each, and so does frame 1024, which begins the next chunk.
        assert_eq!(kept, [0, 1, CHUNK as u32].map(FrameId::new));
        let mut out = Vec::new();
        long.push(FrameId::new(5), &mut out, |out| out.push(b'@'));
        assert_eq!(out.len(), 2 + CHUNK * BYTES_PER_FRAME, "two texts, rendered again");
    }
}
