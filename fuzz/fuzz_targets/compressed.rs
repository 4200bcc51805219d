//! Joining of records over compressed chunks: records split at any byte give the same result as unsplit ones.
#![no_main]

mod cost;

use libfuzzer_sys::fuzz_target;
use perf_data::{Findings, Input, RecordCounts, RecordKind, Session, SessionOptions, SharedBytes};

/// Returns an attribute for samples of address, thread and time, followed by one record around all of `records`.
fn stream(records: &[u8]) -> Vec<u8> {
    let mut bytes = b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec();
    bytes.extend([64, 0, 0, 0, 0, 0, 72, 0]);
    let mut attr = [0; 64];
    attr[4] = 64;
    attr[24] = 7;
    attr[42] = 4;
    bytes.extend(attr);
    bytes.extend_from_slice(records);
    bytes
}

/// Returns the number of samples, the counts, and true if there were no findings.
fn read(bytes: Vec<u8>) -> Option<(u64, RecordCounts, bool)> {
    let mut findings = Findings::default();
    let input = Input::File(SharedBytes::from(bytes));
    let mut session = Session::open(input, SessionOptions::default(), &mut findings).ok()?;
    let mut samples = 0;
    while let Some(batch) = session.next_batch(&mut findings) {
        samples += batch.samples().len() as u64;
    }
    Some((samples, session.counts().clone(), findings.iter().next().is_none()))
}

/// Reads any bytes as compressed data, which may be damaged.
fn damaged(bytes: &[u8]) -> u64 {
    let mut record = Vec::new();
    for part in bytes.chunks(0xfff0) {
        record.extend([81, 0, 0, 0, 0, 0]);
        record.extend((part.len() as u16 + 8).to_le_bytes());
        record.extend_from_slice(part);
    }
    let counts = read(stream(&record)).map(|it| it.1);
    counts.map_or(0, |it| it.total().bytes + it.skipped_bytes)
}

/// Reads the bytes as records, packed in raw blocks of `chunk` bytes, and unpacked.
fn cut(chunk: u8, records: &[u8]) -> u64 {
    let mut packed = Vec::new();
    for (index, part) in records.chunks(usize::from(chunk) + 1).enumerate() {
        let header: &[u8] = if index == 0 { &[0x28, 0xb5, 0x2f, 0xfd, 0, 80] } else { &[] };
        packed.extend([81, 0, 0, 0, 0, 0]);
        packed.extend((8 + header.len() as u16 + 3 + part.len() as u16).to_le_bytes());
        packed.extend_from_slice(header);
        packed.extend_from_slice(&((part.len() as u32) << 3).to_le_bytes()[..3]);
        packed.extend_from_slice(part);
    }
    let Some((samples, counts, clean)) = read(stream(&packed)) else {
        return 0;
    };
    assert_eq!(counts.of(RecordKind::SAMPLE).records, samples + counts.dropped_samples);
    let whole = read(stream(records)).filter(|it| clean && it.2);
    let is_nested = |it: &RecordCounts| {
        [RecordKind::COMPRESSED, RecordKind::COMPRESSED2]
            .iter()
            .any(|&kind| it.of(kind).records > 0)
    };
    if let Some((whole, _, _)) = whole.filter(|it| !is_nested(&it.1)) {
        assert_eq!(samples, whole);
    }
    counts.total().bytes + counts.skipped_bytes
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&chunk, records)) = bytes.split_first() else {
        return;
    };
    cost::bounded(bytes, || damaged(bytes) + cut(chunk, records));
});
