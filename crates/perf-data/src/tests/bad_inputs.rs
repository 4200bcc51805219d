//! One row for each known kind of bad input: number of samples that remain of six, and findings.

use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, PerfDataFile, Record as Written,
    SampleBuilder, SampleId, attr_flag, sample_type,
};

use super::session::file;
use crate::{Error, Findings, Input, Session, SessionOptions};

type InputRow =
    (&'static str, fn(&mut PerfDataFile), Result<usize, &'static str>, &'static [&'static str]);

const IDS: u64 = 7;

fn recording() -> PerfDataFile {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let sample_type = sample_type::IP
        | sample_type::TID
        | sample_type::TIME
        | sample_type::CALLCHAIN
        | sample_type::REGS_USER
        | sample_type::STACK_USER;
    let attr = EventAttr {
        sample_type,
        flags: attr_flag::SAMPLE_ID_ALL,
        sample_regs_user: 1,
        sample_stack_user: 64,
        ..EventAttr::default()
    };
    it.event("cycles", attr, &[IDS]);
    it.feature(&Feature::Hostname("host"));
    let map = Written::Mmap2 {
        pid: 1,
        tid: 1,
        addr: 0x1000,
        len: 0x1000,
        pgoff: 0,
        file: MmapFile::BuildId(&[7; 20]),
        prot: 5,
        flags: 2,
        name: b"/bin/a",
    };
    it.record_at(&map, SampleId::at(1, 1, 1));
    for time in 1..=6 {
        let sample = SampleBuilder::at(0x1000, 1, 1, time).with_callchain(&[0x1000]);
        it.sample(&sample.with_regs(&[1]).with_stack(&[9; 64]));
    }
    it.build_file()
}

fn put(file: &mut PerfDataFile, at: usize, bytes: &[u8]) {
    file.bytes[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Returns the offset of the second sample. Its fields: ip 8, tid 16, time 24, chain 32 and 40, abi 48, register 56,
/// stack size 64, bytes 72, valid length 136; 144 bytes in all.
fn sample(file: &PerfDataFile) -> usize {
    file.records[2]
}

const fn word(value: u64) -> [u8; 8] {
    value.to_le_bytes()
}

const ROWS: &[InputRow] = &[
    ("empty", |it| it.bytes.clear(), Err("NotPerfData"), &[]),
    ("below 16 bytes", |it| it.bytes.truncate(9), Err("HeaderTruncated"), &[]),
    ("wrong magic", |it| put(it, 0, b"ELF"), Err("NotPerfData"), &[]),
    ("header cut", |it| it.bytes.truncate(60), Err("HeaderTruncated"), &[]),
    (
        "data size 0, features left",
        |it| put(it, 48, &word(0)),
        Ok(6),
        &["unfinished", "bad-record"],
    ),
    (
        "data size 0, no features",
        |it| {
            put(it, 48, &word(0));
            it.bytes.truncate(it.data.end);
        },
        Ok(6),
        &["unfinished"],
    ),
    (
        "data size huge",
        |it| put(it, 48, &word(1 << 60)),
        Ok(6),
        &["data-cut", "feature-ignored", "bad-record"],
    ),
    (
        "cut in a record",
        |it| it.bytes.truncate(it.records[6] + 20),
        Ok(5),
        &["data-cut", "feature-ignored", "partial-record"],
    ),
    (
        "cut between records",
        |it| it.bytes.truncate(it.records[6]),
        Ok(5),
        &["data-cut", "feature-ignored"],
    ),
    ("attr_size 0", |it| put(it, 16, &word(0)), Ok(6), &["attr-stride"]),
    ("attr_size odd", |it| put(it, 16, &word(100)), Ok(6), &["attr-stride"]),
    (
        "attributes overlap data",
        |it| put(it, 24, &word(it.data.start as u64)),
        Err("SectionsOverlap"),
        &[],
    ),
    ("no attributes", |it| put(it, 32, &word(0)), Err("NoEvents"), &[]),
    ("attr.size too small", |it| put(it, it.attrs.start + 4, &[64, 0, 0, 0]), Ok(6), &[]),
    (
        "attr.size too large",
        |it| put(it, it.attrs.start + 4, &[0, 9, 0, 0]),
        Ok(6),
        &["newer-attr"],
    ),
    (
        "unknown sample bit",
        |it| put(it, it.attrs.start + 27, &[0x40]),
        Ok(6),
        &["unknown-sample-bits"],
    ),
    ("ids out of file", |it| put(it, it.attrs.end - 16, &word(1 << 50)), Ok(6), &["ids-ignored"]),
    ("record size 0", |it| put(it, sample(it) + 6, &[0, 0]), Ok(5), &["bad-record"]),
    ("record size 4", |it| put(it, sample(it) + 6, &[4, 0]), Ok(5), &["bad-record"]),
    ("record size unaligned", |it| put(it, sample(it) + 6, &[141, 0]), Ok(5), &["bad-record"]),
    ("record size too short", |it| put(it, sample(it) + 6, &[64, 0]), Ok(6), &["bad-record"]),
    ("type 0", |it| put(it, sample(it), &[0]), Ok(5), &["unknown-record"]),
    ("type 40", |it| put(it, sample(it), &[40]), Ok(5), &["unknown-record"]),
    ("type 99", |it| put(it, sample(it), &[99]), Ok(5), &["unknown-record"]),
    ("callchain count huge", |it| put(it, sample(it) + 32, &word(u64::MAX)), Ok(6), &[]),
    ("callchain count too large", |it| put(it, sample(it) + 32, &word(100)), Ok(6), &[]),
    ("stack size too large", |it| put(it, sample(it) + 64, &word(4096)), Ok(6), &[]),
    ("valid length too large", |it| put(it, sample(it) + 136, &word(65)), Ok(6), &[]),
    ("valid length 0", |it| put(it, sample(it) + 136, &word(0)), Ok(6), &[]),
    ("abi 7", |it| put(it, sample(it) + 48, &word(7)), Ok(6), &[]),
    ("time 0", |it| put(it, sample(it) + 24, &word(0)), Ok(6), &["sample-without-time"]),
    (
        "time all ones",
        |it| put(it, sample(it) + 24, &word(u64::MAX)),
        Ok(6),
        &["sample-without-time"],
    ),
    ("time backwards", |it| put(it, it.records[6] + 24, &word(1)), Ok(6), &[]),
    ("name without NUL", |it| put(it, it.records[1] - 26, &[b'a'; 10]), Ok(6), &[]),
    ("map of no length", |it| put(it, it.records[0] + 24, &word(0)), Ok(6), &[]),
    ("map that wraps", |it| put(it, it.records[0] + 24, &word(u64::MAX)), Ok(6), &[]),
    ("feature out of file", |it| put(it, it.data.end, &word(1 << 50)), Ok(6), &["feature-ignored"]),
    ("feature table cut", |it| it.bytes.truncate(it.data.end + 8), Ok(6), &["feature-ignored"]),
    ("unknown feature", |it| put(it, 72 + 25, &[1]), Ok(6), &["feature-ignored"]),
    ("old header", |it| put(it, 8, &word(72)), Ok(6), &[]),
];

fn samples(input: Input) -> Result<(usize, Findings), Error> {
    let mut findings = Findings::default();
    let mut session = Session::open(input, SessionOptions::default(), &mut findings)?;
    let mut samples = 0;
    while let Some(batch) = session.next_batch(&mut findings) {
        samples += batch.samples().len();
        // The address is always retained.
        assert!(batch.samples().iter().all(|entry| {
            batch.sample(entry).is_ok_and(|sample| sample.ip.is_some_and(|ip| ip.0 == 0x1000))
        }));
    }
    Ok((samples, findings))
}

#[test]
fn every_row() {
    let mut wrong = Vec::new();
    for (name, corrupt, expected, said) in ROWS {
        let mut it = recording();
        corrupt(&mut it);
        match (samples(file(&it.bytes)), expected) {
            (Ok((samples, findings)), Ok(expected)) => {
                let kinds: Vec<_> = findings.iter().map(|group| group.examples[0].kind()).collect();
                if samples != *expected || kinds != *said {
                    wrong.push(format!("{name}: {samples} samples, {kinds:?}"));
                }
            }
            (Err(error), Err(expected)) if format!("{error:?}").starts_with(expected) => {}
            (result, _) => wrong.push(format!("{name}: {result:?}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
