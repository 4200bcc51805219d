//! `cargo lab floor FILE`: the minimum cost of a recording's bytes for any program that unwinds it. Reads the file once
//! into a reused buffer, and touches the cache lines of each sample that a walk touches. `--read` only reads.
//!
//! Source: `perf_file_header` of tools/perf/util/header.h, `perf_event_header` of `include/uapi/linux/perf_event.h`.

use std::fs::File;
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use xtask::args::Args;

const MAGIC: &[u8] = b"PERFILE2";
/// Offset in the file header of the records' offset and size.
const DATA: usize = 40;
/// Size of the part of the file header that is read.
const FILE_HEADER: usize = 56;

const RECORD_HEADER: usize = 8;
const RECORD_SAMPLE: u32 = 9;
/// Maximum size of a record, since its size has 16 bits.
const LONGEST: usize = 1 << 16;

/// Bytes per read.
const READ: usize = 1 << 20;
/// Bytes per read if the bytes are examined as well; they stay in the processor's cache.
const WINDOW: usize = 256 << 10;

const LINE: usize = 64;
/// Cache lines of a sample's head, with its registers and the kernel's chain.
const HEAD_LINES: usize = 6;
/// Number of stack words that a walk reads, each in a separate cache line that depends on the previous word.
const STACK_LINES: usize = 18;
/// Minimum and maximum distance between two of them, in bytes.
const STEPS: std::ops::RangeInclusive<usize> = LINE..=320;
/// Minimum size of a sample with a stack copy, in bytes.
const WITH_STACK: usize = 1500;

/// Counts of the read data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ReadCounts {
    bytes: u64,
    samples: u64,
    lines: u64,
}

/// Runs once and prints the counts.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let only_read = args.flag("--read");
    let names = args.names()?;
    let [file] = names.as_slice() else { bail!("one FILE is needed") };
    let file = Path::new(file);
    let found = if only_read { read_through(file) } else { touch(file) };
    let ReadCounts { bytes, samples, lines } = found.with_context(|| file.display().to_string())?;
    println!("{bytes} bytes, {samples} samples, {lines} lines touched");
    Ok(ExitCode::SUCCESS)
}

/// Reads the file from start to end.
fn read_through(file: &Path) -> Result<ReadCounts> {
    let mut input = File::open(file)?;
    let mut buffer = vec![0; READ];
    let mut found = ReadCounts::default();
    loop {
        match input.read(&mut buffer)? {
            0 => return Ok(found),
            length => found.bytes += length as u64,
        }
    }
}

/// Reads the records, and touches the samples.
fn touch(file: &Path) -> Result<ReadCounts> {
    let mut input = File::open(file)?;
    let mut header = [0; FILE_HEADER];
    input.read_exact(&mut header)?;
    ensure!(header.starts_with(MAGIC), "not a file of perf");
    let skipped = number(&header, DATA).context("a place")?.saturating_sub(FILE_HEADER as u64);
    std::io::copy(&mut input.by_ref().take(skipped), &mut std::io::sink())?;
    let mut left = number(&header, DATA + 8).context("a size")?;

    let mut buffer = vec![0; WINDOW + LONGEST];
    let (mut kept, mut sum) = (0, 0_u64);
    let mut found = ReadCounts::default();
    while left > 0 {
        let wanted = WINDOW.min(usize::try_from(left)?);
        let space = buffer.get_mut(kept..kept + wanted).context("space")?;
        let length = input.read(space)?;
        ensure!(length > 0, "the file ends {left} bytes before its records do");
        left -= length as u64;
        found.bytes += length as u64;
        let end = kept + length;
        let used = records(buffer.get(..end).context("bytes")?, &mut found, &mut sum)?;
        buffer.copy_within(used..end, 0);
        kept = end - used;
    }
    black_box(sum);
    Ok(found)
}

/// Processes the complete records in `bytes`; returns their size.
fn records(bytes: &[u8], found: &mut ReadCounts, sum: &mut u64) -> Result<usize> {
    let mut at = 0;
    while let Some(header) = bytes.get(at..at + RECORD_HEADER) {
        let size = usize::from(u16::from_le_bytes([header[6], header[7]]));
        ensure!(size >= RECORD_HEADER, "a record of {size} bytes");
        let Some(record) = bytes.get(at..at + size) else { break };
        if header.starts_with(&RECORD_SAMPLE.to_le_bytes()) {
            found.samples += 1;
            found.lines += touch_sample(record, sum);
        }
        at += size;
    }
    Ok(at)
}

/// Reads a word of each cache line that a walk reads; returns the number of lines.
fn touch_sample(record: &[u8], sum: &mut u64) -> u64 {
    let mut lines = 0;
    let mut at = 0;
    while lines < HEAD_LINES {
        let Some(word) = number(record, at) else { return lines as u64 };
        *sum = sum.wrapping_add(word);
        at += LINE;
        lines += 1;
    }
    let spread = if record.len() > WITH_STACK { record.len() / (STACK_LINES + 1) } else { LINE };
    let step = spread.clamp(*STEPS.start(), *STEPS.end());
    while lines < HEAD_LINES + STACK_LINES {
        let Some(word) = number(record, at) else { break };
        *sum = sum.wrapping_add(word);
        // The next offset depends on this word, so the processor cannot load ahead.
        at += step + usize::from(black_box(*sum) == 1);
        lines += 1;
    }
    lines as u64
}

/// Returns the little-endian word at an offset.
fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_of_a_recording_is_touched() {
        let case = xtask::command::root().join("testdata/cases/spin-lld");
        let expected = std::fs::read_to_string(case.join("expected.ndjson")).unwrap();
        let found = touch(&case.join("perf.data")).unwrap();
        assert_eq!(found.samples, expected.lines().count() as u64);
        assert_eq!(found.lines, found.samples * (HEAD_LINES + STACK_LINES) as u64);
    }

    #[test]
    fn records_that_are_not_complete_wait() {
        let mut bytes = Vec::new();
        bytes.extend([9, 0, 0, 0, 0, 0, 16, 0]);
        bytes.extend(7_u64.to_le_bytes());
        bytes.extend([9, 0, 0, 0, 0, 0, 16, 0]);
        let (mut found, mut sum) = (ReadCounts::default(), 0);
        assert_eq!(records(&bytes, &mut found, &mut sum).unwrap(), 16);
        assert_eq!(found, ReadCounts { bytes: 0, samples: 1, lines: 1 });
        assert!(records(&[0; 8], &mut found, &mut sum).is_err());
    }
}
