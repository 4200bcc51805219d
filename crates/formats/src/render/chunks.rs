//! Rows rendered to text in parallel and written in order, with a bounded amount of text in memory.
//!
//! ```text
//!   rows      |--- chunk ---|--- chunk ---|--- chunk ---|- ...
//!   threads     render         render        render             (batch k + 1)
//!   caller    writes batch k meanwhile
//! ```
//!
//! The text is the concatenation of the rows' texts, so neither the number of threads nor the cut into chunks shows.

use std::io;
use std::ops::Range;

use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};

/// Frames of a chunk, about: some hundred kilobytes to a megabyte of text.
const CHUNK_COST: u64 = 4096;

/// Chunks of a batch for each thread: enough to even out unequal ones, few enough to hold their texts.
const CHUNKS_PER_THREAD: usize = 2;

/// Writes the texts of `rows` rows to `out`. `cost` gives about how many frames a row has; `render` appends the text
/// of a range of rows to a buffer.
///
/// # Errors
/// Where writing to `out` fails: its error, unchanged.
pub(crate) fn write_rows(
    out: &mut dyn io::Write,
    rows: usize,
    cost: impl Fn(usize) -> u64,
    render: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let ranges = Ranges { next: 0, rows, cost };
    write_chunks(out, ranges, CHUNKS_PER_THREAD, |rows, text| render(rows.clone(), text))
}

/// Writes the texts of `chunks` to `out`, each appended to a buffer by `render`; so many chunks for each thread make a
/// batch.
///
/// # Errors
/// Where writing to `out` fails: its error, unchanged.
pub(crate) fn write_chunks<C: Send + Sync>(
    out: &mut dyn io::Write,
    mut chunks: impl Iterator<Item = C>,
    per_thread: usize,
    render: impl Fn(&C, &mut Vec<u8>) + Sync,
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
            current.texts.iter().take(current.chunks.len()).try_for_each(|text| out.write_all(text))
        })?;
        std::mem::swap(&mut current, &mut following);
    }
    Ok(())
}

/// Chunks and their texts; the texts' memory is used again.
struct TextBatch<C> {
    chunks: Vec<C>,
    texts: Vec<Vec<u8>>,
}

impl<C> Default for TextBatch<C> {
    fn default() -> Self {
        Self { chunks: Vec::new(), texts: Vec::new() }
    }
}

impl<C: Send + Sync> TextBatch<C> {
    fn refill(&mut self, chunks: &mut impl Iterator<Item = C>, size: usize) {
        self.chunks.clear();
        self.chunks.extend(chunks.take(size));
        self.texts.resize_with(size, Vec::new);
    }

    fn render(&mut self, render: &(impl Fn(&C, &mut Vec<u8>) + Sync)) {
        self.texts.par_iter_mut().zip(&self.chunks).for_each(|(text, chunk)| {
            text.clear();
            render(chunk, text);
        });
    }
}

/// Cuts the rows into ranges of about equal cost.
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
                let render = |range: Range<usize>, text: &mut Vec<u8>| {
                    range.for_each(|row| text.extend_from_slice(format!("{row}\n").as_bytes()));
                };
                write_rows(&mut out, rows, |row| row as u64 % 100, render).map(|()| out)
            });
            assert_eq!(written.expect("a vector takes everything"), expected, "{threads} threads");
        }
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
