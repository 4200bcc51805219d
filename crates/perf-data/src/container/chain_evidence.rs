//! Evidence for callchains that were unwound when the recording was written: a feature section of this project, which
//! other readers skip.
//!
//! ```text
//!   version                             numbers are LEB128, of 64 bits at most
//!   ends        count, (length, bytes)  keywords of end reasons
//!   frames      count, (length, bytes)  keywords of the evidence for a frame
//!   shapes      count, (end, number of runs, (evidence << 2 | address << 1 | whole, number of frames))
//!   samples     count, (distance from the former sample's position, shape)
//! ```
//!
//! A run states the evidence of consecutive user frames, innermost first. Frames without an address are not in the
//! sample's callchain.

use std::collections::BTreeMap;
use std::ops::Range;

/// Version of the section.
const VERSION: u64 = 1;
/// Flags of a run.
const WHOLE: u64 = 1;
const ADDRESS: u64 = 2;

/// Evidence for the user part of the callchains of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainEvidence {
    /// Keywords of end reasons.
    pub ends: Vec<Box<[u8]>>,
    /// Keywords of the evidence for a frame.
    pub found_by: Vec<Box<[u8]>>,
    shapes: Vec<Shape>,
    runs: Vec<FrameRun>,
    /// Positions of samples, ascending, and their shapes.
    samples: Vec<(u64, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    end: u32,
    runs: Range<usize>,
}

/// Consecutive frames with the same evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRun {
    /// Index in [`ChainEvidence::found_by`].
    pub found_by: u32,
    /// True if the callchain has an address for each of the frames.
    pub has_address: bool,
    /// True if each frame stands for any address of the function that starts at its address.
    pub is_whole: bool,
    /// Number of frames.
    pub frames: u32,
}

/// Evidence for one callchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainShape<'e> {
    /// Index in [`ChainEvidence::ends`].
    pub end: u32,
    /// The user frames, innermost first.
    pub runs: &'e [FrameRun],
}

impl ChainEvidence {
    /// Maximum number of bytes in memory for each byte of a section.
    pub const MOST_BYTES: u64 = 16;

    /// Decodes a section; `None` if it is damaged or has another version. The result takes at most
    /// [`Self::MOST_BYTES`] times its length.
    #[must_use]
    pub fn decode(section: &[u8]) -> Option<Self> {
        let mut input = Numbers(section);
        if input.next()? != VERSION {
            return None;
        }
        let (ends, found_by) = (input.words()?, input.words()?);
        let mut evidence = Self { ends, found_by, ..Self::default() };
        for _ in 0..input.next()? {
            let end = index(input.next()?, evidence.ends.len())?;
            let first = evidence.runs.len();
            for _ in 0..input.next()? {
                let (flags, frames) = (input.next()?, u32::try_from(input.next()?).ok()?);
                evidence.runs.push(FrameRun {
                    found_by: index(flags >> 2, evidence.found_by.len())?,
                    has_address: flags & ADDRESS != 0,
                    is_whole: flags & WHOLE != 0,
                    frames,
                });
            }
            evidence.shapes.push(Shape { end, runs: first..evidence.runs.len() });
        }
        let mut position = 0_u64;
        for _ in 0..input.next()? {
            position = position.checked_add(input.next()?)?;
            evidence.samples.push((position, index(input.next()?, evidence.shapes.len())?));
        }
        Some(evidence)
    }

    /// Returns the evidence for the sample at a position of the recording, if there is any.
    #[must_use]
    pub fn of_sample(&self, position: u64) -> Option<ChainShape<'_>> {
        let at = self.samples.binary_search_by_key(&position, |sample| sample.0).ok()?;
        let shape = self.shapes.get(self.samples.get(at)?.1 as usize)?;
        Some(ChainShape { end: shape.end, runs: self.runs.get(shape.runs.clone())? })
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.samples.len() * size_of::<(u64, u32)>()
            + self.shapes.len() * size_of::<Shape>()
            + self.runs.len() * size_of::<FrameRun>()
    }
}

fn index(number: u64, length: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|&number| (number as usize) < length)
}

/// Numbers of a section.
struct Numbers<'s>(&'s [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn words(&mut self) -> Option<Vec<Box<[u8]>>> {
        let mut words = Vec::new();
        for _ in 0..self.next()? {
            let length = usize::try_from(self.next()?).ok()?;
            let (word, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            words.push(word.into());
        }
        Some(words)
    }
}

/// A section that is being written.
#[derive(Clone, Debug, Default)]
pub struct ChainEvidenceWriter {
    words: Vec<u8>,
    /// Numbers of encoded shapes. A recording of an hour has more than 100,000.
    shapes: BTreeMap<Box<[u8]>, u32>,
    samples: EncodedSamples,
}

/// Positions and shapes of samples, encoded as in the section: a few bytes for each.
#[derive(Clone, Debug, Default)]
struct EncodedSamples {
    count: u64,
    /// The first position, which is not in `encoded`.
    first: u64,
    last: u64,
    encoded: Vec<u8>,
}

impl EncodedSamples {
    /// Adds a sample at a position above those before.
    fn push(&mut self, position: u64, shape: u32) {
        match self.count {
            0 => self.first = position,
            _ => push(&mut self.encoded, position - self.last),
        }
        push(&mut self.encoded, u64::from(shape));
        (self.count, self.last) = (self.count + 1, position);
    }

    /// Returns the positions and shapes.
    fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        let (mut numbers, mut before) = (Numbers(&self.encoded), None);
        std::iter::from_fn(move || {
            let position = match before {
                None => self.first,
                Some(before) => numbers.next()? + before,
            };
            before = Some(position);
            Some((position, numbers.next()? as u32))
        })
    }
}

impl ChainEvidenceWriter {
    /// Begins a section with these keywords.
    #[must_use]
    pub fn new<'w>(
        ends: impl IntoIterator<Item = &'w str>,
        found_by: impl IntoIterator<Item = &'w str>,
    ) -> Self {
        let mut words = Vec::new();
        push(&mut words, VERSION);
        for list in [ends.into_iter().collect::<Vec<_>>(), found_by.into_iter().collect()] {
            push(&mut words, list.len() as u64);
            for word in list {
                push(&mut words, word.len() as u64);
                words.extend_from_slice(word.as_bytes());
            }
        }
        Self { words, shapes: BTreeMap::new(), samples: EncodedSamples::default() }
    }

    /// Adds the sample at a position, which is above those before.
    pub fn add(&mut self, position: u64, end: u32, runs: &[FrameRun]) {
        let mut shape = Vec::with_capacity(2 * (1 + runs.len()));
        push(&mut shape, u64::from(end));
        push(&mut shape, runs.len() as u64);
        for run in runs {
            let address = if run.has_address { ADDRESS } else { 0 };
            let whole = if run.is_whole { WHOLE } else { 0 };
            push(&mut shape, u64::from(run.found_by) << 2 | address | whole);
            push(&mut shape, u64::from(run.frames));
        }
        let shape = self.shape(&shape);
        self.samples.push(position, shape);
    }

    /// Returns the number of an encoded shape.
    fn shape(&mut self, encoded: &[u8]) -> u32 {
        if let Some(&known) = self.shapes.get(encoded) {
            return known;
        }
        let next = self.shapes.len() as u32;
        self.shapes.insert(encoded.into(), next);
        next
    }

    /// Returns the encoded shapes in the order of their numbers.
    fn numbered_shapes(&self) -> Vec<&[u8]> {
        let mut shapes: Vec<(&[u8], u32)> =
            self.shapes.iter().map(|(shape, number)| (&**shape, *number)).collect();
        shapes.sort_unstable_by_key(|(_, number)| *number);
        shapes.into_iter().map(|(shape, _)| shape).collect()
    }

    /// Adds the samples of another section with the same keywords. `start` is added to their positions, which are then
    /// above those before.
    pub fn append(&mut self, other: &Self, start: u64) {
        let shapes = other.numbered_shapes().into_iter();
        let ids: Vec<u32> = shapes.map(|shape| self.shape(shape)).collect();
        for (position, shape) in other.samples.iter() {
            if let Some(&shape) = ids.get(shape as usize) {
                self.samples.push(start + position, shape);
            }
        }
    }

    /// Returns the section. `start` is added to all positions.
    #[must_use]
    pub fn finish(self, start: u64) -> Vec<u8> {
        let mut out = self.words.clone();
        push(&mut out, self.shapes.len() as u64);
        for shape in self.numbered_shapes() {
            out.extend_from_slice(shape);
        }
        let EncodedSamples { count, first, encoded, .. } = self.samples;
        push(&mut out, count);
        if count > 0 {
            push(&mut out, start + first);
        }
        out.extend(encoded);
        out
    }
}

fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(found_by: u32, frames: u32) -> FrameRun {
        FrameRun { found_by, has_address: true, is_whole: false, frames }
    }

    fn section() -> Vec<u8> {
        let mut writer = ChainEvidenceWriter::new(["root", "no-module"], ["sampled", "cfi", "gap"]);
        let gap = FrameRun { has_address: false, ..run(2, 1) };
        let whole = FrameRun { is_whole: true, ..run(1, 300) };
        writer.add(8, 0, &[run(0, 1), run(1, 2)]);
        writer.add(400, 1, &[run(0, 1), gap, whole]);
        writer.add(500, 0, &[run(0, 1), run(1, 2)]);
        writer.add(u64::MAX - 100, 1, &[]);
        writer.finish(100)
    }

    #[test]
    fn evidence_survives() {
        let evidence = ChainEvidence::decode(&section()).unwrap();
        assert_eq!(evidence.ends, [b"root"[..].into(), b"no-module"[..].into()]);
        assert_eq!(evidence.found_by.len(), 3);
        let runs = [run(0, 1), run(1, 2)];
        let shape = ChainShape { end: 0, runs: &runs };
        assert_eq!([108, 600].map(|at| evidence.of_sample(at)), [Some(shape), Some(shape)]);
        let other = evidence.of_sample(500).unwrap();
        assert_eq!((other.end, other.runs.len(), other.runs[1].has_address), (1, 3, false));
        assert_eq!((other.runs[2].is_whole, other.runs[2].frames), (true, 300));
        assert_eq!(evidence.of_sample(u64::MAX), Some(ChainShape { end: 1, runs: &[] }));
        assert_eq!(evidence.of_sample(107), None);
    }

    #[test]
    fn sections_are_joined() {
        let empty = ChainEvidenceWriter::new(["root", "no-module"], ["sampled", "cfi"]);
        let (mut all, mut first, mut second) = (empty.clone(), empty.clone(), empty);
        for (writer, start) in [(&mut first, 0), (&mut second, 1000)] {
            for (position, end, found_by) in [(8, 1, 1), (80, 0, 0), (800, 1, 1)] {
                let runs = [run(found_by, 3 + start as u32)];
                writer.add(position, end, &runs);
                all.add(start + position, end, &runs);
            }
        }
        first.append(&second, 1000);
        assert_eq!(ChainEvidence::decode(&first.finish(7)), ChainEvidence::decode(&all.finish(7)));
    }

    #[test]
    fn damaged_sections_are_refused() {
        let section = section();
        for length in 0..section.len() {
            assert_eq!(ChainEvidence::decode(&section[..length]), None, "{length}");
        }
        for at in 0..section.len() {
            let mut damaged = section.clone();
            damaged[at] = 0xff;
            let _ = ChainEvidence::decode(&damaged);
        }
        assert_eq!(ChainEvidence::decode(&[2]), None);
        assert_eq!(ChainEvidence::decode(&[0xff; 40]), None);
    }
}
