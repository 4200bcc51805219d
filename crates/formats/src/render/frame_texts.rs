//! The text of each distinct frame, rendered once: what a frame prints behind its address is the same in every sample.
//!
//! A frame has a piece of text for each function at its location. The texts of very many, or very long-winded, frames
//! would fill the memory, so there is a budget; frames beyond it are rendered again at each use.

use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

/// Frames of a chunk: chunks are rendered in parallel.
const CHUNK: usize = 1024;

/// Bytes of text for each frame on average. C++ names alone can have thousands.
const BYTES_PER_FRAME: usize = 512;

/// Bytes of text for all frames.
const BYTES: usize = 128 << 20;

/// Texts by frame.
#[derive(Debug)]
pub(crate) struct FrameTexts {
    chunks: Vec<Chunk>,
}

/// The texts of some frames, one behind the other.
#[derive(Debug, Default)]
struct Chunk {
    text: Vec<u8>,
    /// Where each piece ends in `text`.
    ends: Vec<u32>,
    /// By frame: its first piece. One more than frames, and fewer where the budget was used up.
    first: Vec<u32>,
}

impl FrameTexts {
    /// Renders frames 0 to `frames`. `render` appends the pieces of a frame to its second argument, and where each of
    /// them ends to its third.
    pub(crate) fn new(
        frames: usize,
        render: impl Fn(usize, &mut Vec<u8>, &mut Vec<u32>) + Sync,
    ) -> Self {
        let n_chunks = frames.div_ceil(CHUNK);
        let budget = (BYTES / n_chunks.max(1)).min(CHUNK * BYTES_PER_FRAME);
        let chunks = (0..n_chunks).into_par_iter().map(|index| {
            let mut chunk = Chunk { first: vec![0], ..Chunk::default() };
            for frame in index * CHUNK..frames.min((index + 1) * CHUNK) {
                if chunk.text.len() >= budget {
                    break;
                }
                render(frame, &mut chunk.text, &mut chunk.ends);
                chunk.first.push(chunk.ends.len() as u32);
            }
            chunk
        });
        Self { chunks: chunks.collect() }
    }

    /// The pieces of a frame; `None` where it is beyond the budget.
    #[inline]
    pub(crate) fn pieces(&self, frame: u32) -> Option<impl Iterator<Item = &[u8]>> {
        let chunk = self.chunks.get(frame as usize / CHUNK)?;
        let index = frame as usize % CHUNK;
        let (first, end) =
            (*chunk.first.get(index)? as usize, *chunk.first.get(index + 1)? as usize);
        let mut start = first
            .checked_sub(1)
            .and_then(|before| chunk.ends.get(before))
            .map_or(0, |&end| end as usize);
        Some(chunk.ends.get(first..end)?.iter().map(move |&end| {
            let piece = chunk.text.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            piece
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_and_the_budget_holds() {
        let texts = FrameTexts::new(3000, |frame, text, ends| {
            for piece in 0..frame % 3 {
                text.extend_from_slice(format!("{frame}.{piece}").as_bytes());
                ends.push(text.len() as u32);
            }
        });
        for frame in 0..3000_u32 {
            let pieces: Vec<&[u8]> = texts.pieces(frame).expect("short texts").collect();
            let expected: Vec<String> =
                (0..frame % 3).map(|piece| format!("{frame}.{piece}")).collect();
            assert_eq!(pieces, expected.iter().map(String::as_bytes).collect::<Vec<_>>());
        }
        assert!(texts.pieces(3000).is_none());

        let long = FrameTexts::new(CHUNK + 1, |_, text, ends| {
            text.resize(text.len() + CHUNK * BYTES_PER_FRAME / 2, b'x');
            ends.push(text.len() as u32);
        });
        let kept = (0..=CHUNK as u32).filter(|&frame| long.pieces(frame).is_some());
        assert_eq!(kept.collect::<Vec<_>>(), [0, 1, CHUNK as u32]);
    }
}
