//! Parallel rendering of rows to text, written in order with a bounded amount of text in memory.
//!
//! ```text
//!   rows      |--- chunk ---|--- chunk ---|--- chunk ---|- ...
//!   threads     render         render        render             (batch k + 1)
//!   caller    writes batch k meanwhile
//! ```
//!
//! The output is the concatenation of the rows' texts. It depends neither on the number of threads nor on chunk
//! borders. If the text of a chunk exceeds its memory limit, the chunk is discarded and rendered again when it is due
//! to be written. The text is then written piece by piece.

use std::io;
use std::ops::{Deref, DerefMut, Range};

use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};

/// Approximate number of frames per chunk: some hundred kilobytes to a megabyte of text.
const CHUNK_COST: u64 = 4096;

/// Chunks per thread in a batch: enough to balance unequal chunks, few enough to hold their texts in memory.
const CHUNKS_PER_THREAD: usize = 2;

/// Bytes for all texts in memory; then the minimum and maximum for the text of one chunk.
const ALL_BYTES: usize = 256 << 20;
const CHUNK_BYTES: (usize, usize) = (2 << 20, 8 << 20);

/// Returns the text limit of a chunk, in bytes, for `batch` chunks: one batch is rendered while another is written.
fn bytes_of_chunk(batch: usize) -> usize {
    (ALL_BYTES / (2 * batch.max(1))).clamp(CHUNK_BYTES.0, CHUNK_BYTES.1)
}

/// Text of a chunk that is being rendered.
pub(crate) struct ChunkText<'o> {
    text: Vec<u8>,
    /// Limit of the text in memory, in bytes.
    most: usize,
    /// Output for text beyond the limit; `None` while other chunks are written.
    out: Option<&'o mut dyn io::Write>,
    error: io::Result<()>,
    is_aborted: bool,
}

impl ChunkText<'_> {
    /// Writes the text so far if it is long; called before each part of a row.
    /// Returns false if the rest of the chunk need not be rendered.
    #[inline]
    pub(crate) fn wants_more(&mut self) -> bool {
        if self.text.len() < self.most && !self.is_aborted {
            return true;
        }
        self.flush_or_abort()
    }

    #[cold]
    fn flush_or_abort(&mut self) -> bool {
        if let Some(out) = self.out.as_mut().filter(|_| !self.is_aborted) {
            self.error = out.write_all(&self.text);
            self.is_aborted = self.error.is_err();
        } else {
            self.is_aborted = true;
        }
        self.text.clear();
        !self.is_aborted
    }
}

impl Deref for ChunkText<'_> {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.text
    }
}

impl DerefMut for ChunkText<'_> {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }
}

/// Writes the texts of `rows` rows to `out`. `cost` returns the approximate number of frames of a row; `render` appends
/// the text of a range of rows to a buffer.
///
/// # Errors
/// Returns the error of writing to `out`, unchanged.
pub(crate) fn write_rows(
    out: &mut dyn io::Write,
    rows: usize,
    cost: impl Fn(usize) -> u64,
    render: impl Fn(Range<usize>, &mut ChunkText<'_>) + Sync,
) -> io::Result<()> {
    let ranges = Ranges { next: 0, rows, cost };
    write_chunks(out, ranges, CHUNKS_PER_THREAD, |rows, text| render(rows.clone(), text))
}

/// Writes the texts of `chunks` to `out`; `render` appends the text of a chunk to a buffer.
/// A batch has `per_thread` chunks for each thread.
///
/// # Errors
/// Returns the error of writing to `out`, unchanged.
pub(crate) fn write_chunks<C: Send + Sync>(
    out: &mut dyn io::Write,
    mut chunks: impl Iterator<Item = C>,
    per_thread: usize,
    render: impl Fn(&C, &mut ChunkText<'_>) + Sync,
) -> io::Result<()> {
    let size = per_thread * rayon::current_num_threads().max(1);
    let mut current = TextBatch::default();
    let mut following = TextBatch::default();
    current.refill(&mut chunks, size);
    current.render(&render);
    while !current.chunks.is_empty() {
        following.refill(&mut chunks, size);
        let (batch, render) = (&mut following, &render);
        rayon::in_place_scope(|scope| {
            scope.spawn(move |_| batch.render(render));
            current.write(out, render)
        })?;
        std::mem::swap(&mut current, &mut following);
    }
    Ok(())
}

/// Chunks and their texts. The memory of the texts is reused.
struct TextBatch<C> {
    chunks: Vec<C>,
    /// `None` for a discarded chunk.
    texts: Vec<Option<Vec<u8>>>,
    /// Limit of the text of a chunk in memory, in bytes.
    most: usize,
}

impl<C> Default for TextBatch<C> {
    fn default() -> Self {
        Self { chunks: Vec::new(), texts: Vec::new(), most: 0 }
    }
}

impl<C: Send + Sync> TextBatch<C> {
    fn refill(&mut self, chunks: &mut impl Iterator<Item = C>, size: usize) {
        self.chunks.clear();
        self.chunks.extend(chunks.take(size));
        self.texts.resize_with(size, || None);
        self.most = bytes_of_chunk(size);
    }

    fn render(&mut self, render: &(impl Fn(&C, &mut ChunkText<'_>) + Sync)) {
        let most = self.most;
        self.texts.par_iter_mut().zip(&self.chunks).for_each(|(slot, chunk)| {
            let mut text = slot.take().unwrap_or_default();
            text.clear();
            let mut text = ChunkText { text, most, out: None, error: Ok(()), is_aborted: false };
            render(chunk, &mut text);
            *slot = (!text.is_aborted).then_some(text.text);
        });
    }

    /// Writes the texts in order. Discarded chunks are rendered again, directly to `out`.
    fn write(
        &self,
        out: &mut dyn io::Write,
        render: &impl Fn(&C, &mut ChunkText<'_>),
    ) -> io::Result<()> {
        for (chunk, text) in self.chunks.iter().zip(&self.texts) {
            if let Some(text) = text {
                out.write_all(text)?;
                continue;
            }
            let mut text = ChunkText {
                text: Vec::new(),
                most: self.most,
                out: Some(&mut *out),
                error: Ok(()),
                is_aborted: false,
            };
            render(chunk, &mut text);
            let ChunkText { text, error, .. } = text;
            error?;
            out.write_all(&text)?;
        }
        Ok(())
    }
}

/// Splits the rows into ranges of approximately equal cost.
struct Ranges<F> {
    next: usize,
    rows: usize,
    cost: F,
}

impl<F: Fn(usize) -> u64> Iterator for Ranges<F> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.next;
        let mut cost = 0_u64;
        while self.next < self.rows && cost < CHUNK_COST {
            cost = cost.saturating_add((self.cost)(self.next)).saturating_add(1);
            self.next += 1;
        }
        (start < self.next).then_some(start..self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_chunks_do_not_show() {
        let rows = 30_000;
        let expected: Vec<u8> = (0..rows).flat_map(|row| format!("{row}\n").into_bytes()).collect();
        for threads in [1, 2, 3, 8] {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let written = pool.install(|| {
                let mut out = Vec::new();
                let render = |range: Range<usize>, text: &mut ChunkText<'_>| {
                    range.for_each(|row| text.extend_from_slice(format!("{row}\n").as_bytes()));
                };
                write_rows(&mut out, rows, |row| row as u64 % 100, render).map(|()| out)
            });
            assert_eq!(written.expect("a vector takes everything"), expected, "{threads} threads");
        }
    }

    /// Counts the written bytes and the size of the largest piece.
    #[derive(Default)]
    struct Counting {
        bytes: usize,
        largest: usize,
    }

    impl io::Write for Counting {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.bytes += text.len();
            self.largest = self.largest.max(text.len());
            Ok(text.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_row_of_any_length_is_written_in_pieces() {
        const PART: usize = 1 << 20;
        let mut out = Counting::default();
        let render = |range: Range<usize>, text: &mut ChunkText<'_>| {
            for _ in range {
                for _ in 0..50 {
                    if text.wants_more() {
                        text.extend_from_slice(&[b'x'; PART]);
                    }
                }
            }
        };
        write_rows(&mut out, 3, |_| 50, render).expect("it takes everything");
        let most = bytes_of_chunk(CHUNKS_PER_THREAD * rayon::current_num_threads());
        assert_eq!((out.bytes, out.largest), (150 * PART, most));
        assert_eq!([1, 4, 64, 999].map(bytes_of_chunk), [8 << 20, 8 << 20, 2 << 20, 2 << 20]);
    }

    #[test]
    fn an_error_of_the_writer_ends_it() {
        struct Closed;
        impl io::Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error =
            write_rows(&mut Closed, 5, |_| 1, |_, text| text.push(b'x')).expect_err("closed");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert!(write_rows(&mut Closed, 0, |_| 1, |_, _| {}).is_ok(), "nothing to write");
    }
}
