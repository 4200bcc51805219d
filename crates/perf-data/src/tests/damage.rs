//! Damaged records: records retained, bytes skipped and findings.

use super::builder::{Attr, Bytes, File, data_at, le};
use super::read_file::{ReadFile, list, open, visit};
use crate::{Finding, HeaderFault, RecordKind};

/// IP, TID, TIME: 32 bytes with the header.
fn sample(data: Bytes, time: u64) -> Bytes {
    data.record(9, 2, &le().u64(0x1000).halves(&[10, 11]).u64(time))
}

fn six_samples() -> Vec<u8> {
    File::new(Attr::default(), (1..=6).fold(le(), sample)).build()
}

/// Returns the times of the samples, the number of skipped bytes, and the findings.
fn scan(bytes: &[u8]) -> (Vec<u64>, u64, Vec<(u64, Finding)>) {
    let file = open(bytes);
    let times = file.samples().iter().map(|it| it.time.0).collect();
    (times, file.counts().skipped_bytes, list(&file.findings))
}

fn with_header(record: usize, kind: u32, size: u16) -> (Vec<u8>, u64) {
    let mut bytes = six_samples();
    let at = data_at(&bytes) + record * 32;
    bytes[at..at + 4].copy_from_slice(&kind.to_le_bytes());
    bytes[at + 6..at + 8].copy_from_slice(&size.to_le_bytes());
    (bytes, at as u64)
}

#[test]
fn impossible_sizes_are_passed_over() {
    for (size, fault) in
        [(0, HeaderFault::TooSmall), (4, HeaderFault::TooSmall), (29, HeaderFault::Unaligned)]
    {
        let (bytes, offset) = with_header(1, 9, size);
        let bad = Finding::BadRecord { offset, fault, skipped: 32 };
        assert_eq!(scan(&bytes), (vec![1, 3, 4, 5, 6], 32, vec![(1, bad)]), "size {size}");
    }
    let (bytes, offset) = with_header(1, 9, 0xfff8);
    let bad = Finding::BadRecord { offset, fault: HeaderFault::TooLarge, skipped: 32 };
    assert_eq!(scan(&bytes), (vec![1, 3, 4, 5, 6], 32, vec![(1, bad)]));
}

#[test]
fn near_the_end_a_shorter_chain_will_do() {
    let (bytes, offset) = with_header(4, 9, 0);
    let bad = Finding::BadRecord { offset, fault: HeaderFault::TooSmall, skipped: 32 };
    assert_eq!(scan(&bytes), (vec![1, 2, 3, 4, 6], 32, vec![(1, bad)]));
    let (bytes, offset) = with_header(5, 9, 0);
    let bad = Finding::BadRecord { offset, fault: HeaderFault::TooSmall, skipped: 32 };
    assert_eq!(scan(&bytes), (vec![1, 2, 3, 4, 5], 32, vec![(1, bad)]));
    let (bytes, offset) = with_header(5, 9, 64);
    assert_eq!(
        scan(&bytes),
        (vec![1, 2, 3, 4, 5], 32, vec![(1, Finding::PartialRecord { offset, len: 32 })])
    );
}

#[test]
fn a_size_too_short_costs_what_it_hides() {
    let (bytes, offset) = with_header(1, 9, 16);
    let short = Finding::ShortRecord { offset, kind: RecordKind::SAMPLE };
    let bad = Finding::BadRecord { offset: offset + 16, fault: HeaderFault::TooSmall, skipped: 16 };
    assert_eq!(scan(&bytes), (vec![1, 3, 4, 5, 6], 16, vec![(1, short), (1, bad)]));
}

#[test]
fn unknown_types_are_skipped_by_their_size() {
    for kind in [0, 23, 40, 63, 99, 0x7fff_ffff] {
        let (bytes, offset) = with_header(1, kind, 32);
        let unknown = Finding::UnknownRecord { offset, kind: RecordKind(kind) };
        assert_eq!(scan(&bytes), (vec![1, 3, 4, 5, 6], 0, vec![(1, unknown)]), "type {kind}");
    }
}

#[test]
fn short_records_are_dropped() {
    // COMM has two ids and a trailer of 16 bytes.
    let data = sample(le().record(3, 0, &le().halves(&[10, 11]).u64(0)), 1);
    let bytes = File::new(Attr::default(), data).build();
    let offset = data_at(&bytes) as u64;
    let (samples, skipped, findings) = scan(&bytes);
    let short = Finding::ShortRecord { offset, kind: RecordKind::COMM };
    assert_eq!((samples, skipped, findings), (vec![1], 0, vec![(1, short)]));
}

#[test]
fn payload_behind_the_end_is_clamped() {
    let auxtrace = le().words(&[u64::MAX, 0, 1]).halves(&[0, 0, 0, 0]);
    let bytes = File::new(Attr::default(), sample(le(), 1).record(71, 0, &auxtrace).u64(7)).build();
    let offset = data_at(&bytes) as u64 + 32;
    assert_eq!(
        scan(&bytes),
        (vec![1], 0, vec![(1, Finding::PayloadTruncated { offset, size: u64::MAX })])
    );
}

#[test]
fn compressed_records_that_cannot_be_expanded_are_reported() {
    let compressed = |data: Bytes| data.record(81, 0, &le().raw(b"abcdefgh"));
    let bytes = File::new(Attr::default(), sample(compressed(compressed(le())), 1)).build();
    let offset = data_at(&bytes) as u64;
    let findings = vec![
        (1, Finding::BadCompression { offset }),
        (1, Finding::CompressedRecord { offset: offset + 16 }),
    ];
    assert_eq!(scan(&bytes), (vec![1], 0, findings));
}

#[test]
fn lost_events_are_summed() {
    let lost = |count: u64| le().words(&[0, count]).halves(&[0, 0]).u64(0);
    let data = le().record(2, 0, &lost(5)).record(2, 0, &lost(u64::MAX)).record(
        13,
        0,
        &le().words(&[3, 0, 0]),
    );
    let bytes = File::new(Attr::default(), data).build();
    let file = open(&bytes);
    assert_eq!((file.counts().lost_events, file.counts().lost_samples), (u64::MAX, 3));
    assert_eq!(file.findings.iter().map(|group| group.count).collect::<Vec<_>>(), [3]);
}

#[test]
fn no_cut_and_no_flipped_byte_does_harm() {
    let bytes = six_samples();
    for len in 0..bytes.len() {
        exercise(&bytes[..len]);
    }
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            exercise(&bytes);
        }
    }
}

/// Reads everything; the counts must add up.
fn exercise(bytes: &[u8]) {
    let Ok(file) = ReadFile::read(bytes) else { return };
    let counts = file.counts();
    let samples = counts.of(RecordKind::SAMPLE).records;
    assert_eq!(file.samples().len() as u64 + counts.dropped_samples, samples);
    assert!(file.samples().iter().all(|entry| file.sample(entry).is_ok()));
    assert_eq!(visit(bytes, &mut |_| {}).0, counts.total().records);
    assert!(counts.total().bytes + counts.skipped_bytes <= bytes.len() as u64);
}
