//! `cargo lab repeat FILE OUT --times N`: makes a recording of any length from a short one. It repeats the records,
//! each time with other processes and at later times. Used to measure memory and time, and their growth with the
//! samples.
//!
//! Source: `perf_file_header` and `perf_file_section` of tools/perf/util/header.h; `perf_event_attr`,
//! `perf_event_header`, and the records of `include/uapi/linux/perf_event.h`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use xtask::args::Args;

/// Offsets in the file header: size of an attribute, section of attributes, section of records.
const ATTR_SIZE: usize = 16;
const ATTRS: usize = 24;
const DATA: usize = 40;
/// After these, one bit for each feature section; the feature sections follow the records.
const FEATURES: usize = 72;
const FEATURE_WORDS: usize = 4;
const SECTION: usize = 16;

/// Offsets in an attribute.
const SAMPLE_TYPE: usize = 24;
const FLAGS: usize = 40;
const SAMPLE_ID_ALL: u64 = 1 << 18;

/// Bits of `sample_type`, and those with 8 bytes each after the time of a record other than a sample.
const IP: u64 = 1;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const IDENTIFIER: u64 = 1 << 16;
const BEHIND_TIME: [u64; 4] = [1 << 6, 1 << 9, 1 << 7, IDENTIFIER];

/// Types of records.
const MMAP: u32 = 1;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
/// perf writes those itself, at the end of a recording and without a time.
const LOST_SAMPLES: u32 = 13;
/// First type of the records that perf writes instead of the kernel.
const USER: u32 = 64;

const HEADER: usize = 8;
/// Distance between the process ids of two rounds; Linux assigns no higher ids.
const PIDS: u32 = 1 << 22;
/// Maximum number of rounds, so that process ids stay valid.
const MOST: u64 = (i32::MAX as u64) / PIDS as u64;
/// Time between the end of a round and the start of the next one, in nanoseconds.
const PAUSE: u64 = 1_000_000;

/// Writes the file.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let times: u64 = args.number("--times", 2)?;
    let names = args.names()?;
    let [file, out] = names.as_slice() else { bail!("FILE and OUT are needed") };
    ensure!((1..=MOST).contains(&times), "from 1 to {MOST} times");
    let bytes = std::fs::read(file).with_context(|| file.clone())?;
    let output = File::create(out).with_context(|| out.clone())?;
    let mut output = BufWriter::with_capacity(1 << 20, output);
    let written = repeat(&bytes, times, &mut output).with_context(|| file.clone())?;
    output.flush()?;
    println!("{}: {} MB, {times} times {file}", Path::new(out).display(), written / 1_000_000);
    Ok(ExitCode::SUCCESS)
}

/// Writes the recording `times` times; returns the size of its records in bytes.
fn repeat(bytes: &[u8], times: u64, output: &mut impl Write) -> Result<u64> {
    ensure!(bytes.starts_with(b"PERFILE2"), "no plain little-endian file");
    let data = section(bytes, DATA)?;
    let records = bytes.get(data.clone()).context("the records are not complete")?;
    let layout = Layout::read(bytes)?;
    let span = span(records, &layout)?;
    let more = (times - 1) * records.len() as u64;

    let mut front = bytes.get(..data.start).context("the header")?.to_vec();
    add(&mut front, DATA + 8, more)?;
    output.write_all(&front)?;
    for round in 0..times {
        write_round(records, &layout, Round { number: round, span: &span }, output)?;
    }
    let mut rest = bytes.get(data.end..).context("the rest")?.to_vec();
    for index in 0..features(bytes)? {
        add(&mut rest, index * SECTION, more)?;
    }
    output.write_all(&rest)?;
    Ok(records.len() as u64 + more)
}

/// Offsets of process and time in samples and in other records.
struct Layout {
    /// Offsets from the start of a sample's body.
    sample: Fields,
    /// Offsets from the end of any other record; `None` if only samples have them.
    other: Option<Fields>,
}

/// Byte offsets from a start or an end.
#[derive(Clone, Copy)]
struct Fields {
    process: usize,
    time: usize,
}

impl Layout {
    fn read(bytes: &[u8]) -> Result<Self> {
        let attrs = section(bytes, ATTRS)?;
        let size = usize::try_from(word(bytes, ATTR_SIZE)?)?;
        let mut kinds = Vec::new();
        for at in attrs.step_by(size.max(1)) {
            kinds.push((word(bytes, at + SAMPLE_TYPE)?, word(bytes, at + FLAGS)? & SAMPLE_ID_ALL));
        }
        kinds.dedup();
        let [(fields, all)] = kinds.as_slice() else {
            bail!("{} kinds of samples, where one is known", kinds.len());
        };
        ensure!(fields & (TID | TIME) == TID | TIME, "samples without process or time");
        let has = |bit: u64| if fields & bit == 0 { 0 } else { 8 };
        let process = HEADER + has(IDENTIFIER) + has(IP);
        let behind: usize = BEHIND_TIME.iter().map(|&bit| has(bit)).sum();
        let other = Fields { process: behind + 16, time: behind + 8 };
        Ok(Self {
            sample: Fields { process, time: process + 8 },
            other: (*all != 0).then_some(other),
        })
    }

    /// Returns the offsets of a record's process and time from its start.
    fn of(&self, kind: u32, length: usize) -> Option<Fields> {
        match self.other {
            _ if kind == SAMPLE => Some(self.sample),
            Some(Fields { process, time }) if kind < USER => Some(Fields {
                process: length.checked_sub(process)?,
                time: length.checked_sub(time)?,
            }),
            _ => None,
        }
    }
}

/// First and last time of a recording. perf's synthesized records about existing processes have no time.
struct Span {
    first: u64,
    last: u64,
}

fn span(records: &[u8], layout: &Layout) -> Result<Span> {
    let mut span = Span { first: u64::MAX, last: 0 };
    each(records, |kind, record| {
        if let Some(fields) = layout.of(kind, record.len()) {
            let time = word(record, fields.time)?;
            if time != 0 {
                span.first = span.first.min(time);
                span.last = span.last.max(time);
            }
        }
        Ok(())
    })?;
    ensure!(span.first <= span.last, "no record has a time");
    Ok(span)
}

/// One repetition.
struct Round<'s> {
    number: u64,
    span: &'s Span,
}

impl Round<'_> {
    /// Returns the time from the start of the first round to the start of this one.
    const fn start(&self) -> u64 {
        self.number * (self.span.last - self.span.first + PAUSE)
    }

    /// Returns the time to add to a record's `time`, or `None` if it has none here either.
    /// Synthesized records about existing processes come before the round.
    /// Losses are reported at its end; any time there would be too late for earlier batches.
    fn later(&self, kind: u32, time: u64) -> Option<u64> {
        match (time, kind) {
            (0, LOST_SAMPLES) => None,
            (0, _) => Some(self.start() + self.span.first - 1),
            _ => Some(self.start()),
        }
    }
}

fn write_round(
    records: &[u8],
    layout: &Layout,
    round: Round<'_>,
    output: &mut impl Write,
) -> Result<()> {
    let later = round.start();
    let pids = u32::try_from(round.number)? * PIDS;
    let mut changed = Vec::new();
    each(records, |kind, record| {
        changed.clear();
        changed.extend_from_slice(record);
        if round.number == 0 {
            return Ok(output.write_all(&changed)?);
        }
        let pairs: &[usize] = match kind {
            MMAP | MMAP2 | COMM => &[HEADER],
            FORK | EXIT => &[HEADER, HEADER + 8],
            _ => &[],
        };
        for &at in pairs {
            shift_pids(&mut changed, at, pids)?;
        }
        if matches!(kind, FORK | EXIT) {
            add(&mut changed, HEADER + 16, later)?;
        }
        if let Some(fields) = layout.of(kind, record.len()) {
            shift_pids(&mut changed, fields.process, pids)?;
            if let Some(later) = round.later(kind, word(record, fields.time)?) {
                add(&mut changed, fields.time, later)?;
            }
        }
        Ok(output.write_all(&changed)?)
    })
}

/// Shifts two consecutive process or thread ids; those of the idle task and of the kernel's maps stay.
fn shift_pids(record: &mut [u8], at: usize, by: u32) -> Result<()> {
    for at in [at, at + 4] {
        let place = record.get_mut(at..at + 4).context("a record is too short")?;
        let pid = u32::from_le_bytes(place.try_into()?);
        if pid != 0 && pid < PIDS {
            place.copy_from_slice(&(pid + by).to_le_bytes());
        }
    }
    Ok(())
}

/// Visits the records with their types, one after another.
fn each(records: &[u8], mut visit: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
    let mut rest = records;
    while let Some(header) = rest.get(..HEADER) {
        let size = usize::from(u16::from_le_bytes([header[6], header[7]]));
        ensure!(size >= HEADER && size <= rest.len(), "a record of {size} bytes");
        let (record, next) = rest.split_at(size);
        visit(u32::from_le_bytes([header[0], header[1], header[2], header[3]]), record)?;
        rest = next;
    }
    Ok(())
}

/// Returns the range of the section with its offset and size stored at `at`.
fn section(bytes: &[u8], at: usize) -> Result<std::ops::Range<usize>> {
    let (start, size) = (word(bytes, at)?, word(bytes, at + 8)?);
    let end = start.checked_add(size).context("a section without an end")?;
    Ok(usize::try_from(start)?..usize::try_from(end)?)
}

/// Returns the number of sections after the records.
fn features(bytes: &[u8]) -> Result<usize> {
    let mut count = 0;
    for index in 0..FEATURE_WORDS {
        count += word(bytes, FEATURES + 8 * index)?.count_ones() as usize;
    }
    Ok(count)
}

fn word(bytes: &[u8], at: usize) -> Result<u64> {
    let found = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    found.copied().map(u64::from_le_bytes).context("a word behind the end")
}

fn add(bytes: &mut [u8], at: usize, more: u64) -> Result<()> {
    let sum = word(bytes, at)?.wrapping_add(more);
    bytes.get_mut(at..at + 8).context("a place")?.copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the processes and the times of all samples.
    fn samples(bytes: &[u8]) -> (Vec<u32>, Vec<u64>) {
        let (mut pids, mut times) = (Vec::new(), Vec::new());
        let layout = Layout::read(bytes).unwrap();
        each(&bytes[section(bytes, DATA).unwrap()], |kind, record| {
            if kind == SAMPLE {
                pids.push(word(record, layout.sample.process)? as u32);
                times.push(word(record, layout.sample.time)?);
            }
            Ok(())
        })
        .unwrap();
        (pids, times)
    }

    #[test]
    fn each_time_has_other_processes_and_later_times() {
        let file = xtask::command::root().join("testdata/cases/spin-lld/perf.data");
        let once = std::fs::read(file).unwrap();
        let mut thrice = Vec::new();
        repeat(&once, 3, &mut thrice).unwrap();
        let ((one_pids, one_times), (pids, times)) = (samples(&once), samples(&thrice));
        let shifted = |by: u32| one_pids.iter().map(move |pid| pid + by * PIDS);
        assert_eq!(pids, (0..3).flat_map(shifted).collect::<Vec<_>>());
        assert_eq!(times[..one_times.len()], one_times);
        let steps = times.chunks(one_times.len()).map(|round| (round[0], round[1] - round[0]));
        let steps: Vec<_> = steps.collect();
        assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 == pair[1].1));
        // The data after the records are equal except for their offset.
        let more = thrice.len() - once.len();
        let (end, later) = (section(&once, DATA).unwrap().end, section(&thrice, DATA).unwrap().end);
        assert_eq!(later, end + more);
        assert_eq!(word(&thrice, later).unwrap(), word(&once, end).unwrap() + more as u64);
    }

    #[test]
    fn what_has_no_time_comes_first_but_for_what_was_lost() {
        let span = Span { first: 1_000, last: 5_000 };
        let round = Round { number: 2, span: &span };
        assert_eq!(round.later(MMAP2, 1_500), Some(2_008_000));
        assert_eq!(round.later(MMAP2, 0), Some(2_008_999));
        assert_eq!(round.later(LOST_SAMPLES, 0), None);
        assert_eq!(round.later(LOST_SAMPLES, 4_000), Some(2_008_000));
    }
}
