//! Headers, sections and attributes: all variants that open, and all that do not.

use super::builder::{Attr, Bytes, ENTRY, File, data_at, le, patch};
use super::read_file::{ReadFile, list, open};
use crate::{Endian, Error, Finding, Input, SharedBytes};

/// IP, TID, TIME.
fn sample(bytes: Bytes, ip: u64, time: u64) -> Bytes {
    let body = Bytes::new(bytes.endian).u64(ip).halves(&[10, 11]).u64(time);
    bytes.record(9, 2, &body)
}

fn two_samples(endian: Endian) -> File {
    File::new(Attr::default(), sample(sample(Bytes::new(endian), 0x1000, 5), 0x2000, 6))
}

fn parse(bytes: &[u8]) -> Result<(usize, Vec<(u64, Finding)>), Error> {
    let recording = ReadFile::read(bytes)?;
    Ok((recording.samples().len(), list(&recording.findings)))
}

fn error(bytes: &[u8]) -> Error {
    parse(bytes).expect_err("no recording")
}

#[test]
fn both_byte_orders() {
    for endian in [Endian::Little, Endian::Big] {
        let bytes = two_samples(endian).build();
        let recording = open(&bytes);
        assert_eq!(recording.endian(), endian);
        let event = &recording.events()[0];
        assert_eq!((event.name.as_str(), event.attr.kind, event.attr.size), ("cpu-clock", 1, 136));
        assert!(event.attr.flags.sample_id_all());
        let entry = recording.samples()[1];
        assert_eq!((entry.time.0, entry.pid.0, entry.tid.0, entry.event), (6, 10, 11, 0));
        assert_eq!(
            recording.sample(&entry).map(|sample| sample.ip.map(|ip| ip.0)),
            Ok(Some(0x2000))
        );
    }
}

#[test]
fn version_1_tells_its_byte_order_by_the_attribute_size() {
    for endian in [Endian::Little, Endian::Big] {
        let attr = Attr { size: 64, ..Attr::default() };
        let records = sample(Bytes::new(endian), 0x1000, 5);
        let bytes = Bytes::new(endian)
            .raw(b"PERFFILE")
            .words(&[72, 80, 72, 80, 152, records.data.len() as u64, 0, 0])
            .raw(&attr.bytes(endian, 64))
            .words(&[0, 0])
            .raw(&records.data);
        assert_eq!(open(&bytes.data).endian(), endian);
        assert_eq!(parse(&bytes.data), Ok((1, Vec::new())));
    }
    let mut bytes = two_samples(Endian::Little).build();
    bytes[..8].copy_from_slice(b"PERFFILE");
    assert_eq!(error(&bytes), Error::UnknownByteOrder { found: ENTRY });
}

#[test]
fn what_is_no_recording() {
    assert_eq!(error(b""), Error::NotPerfData { found: [0; 8] });
    assert_eq!(
        error(b"\x7fELF\x02\x01\x01\0\0\0"),
        Error::NotPerfData { found: *b"\x7fELF\x02\x01\x01\0" }
    );
    let bytes = two_samples(Endian::Little).build();
    assert_eq!(error(&bytes[..60]), Error::HeaderTruncated { expected: 72, found: 60 });
    assert_eq!(error(&bytes[..12]), Error::HeaderTruncated { expected: 72, found: 12 });
    assert_eq!(error(&bytes[..100]), Error::HeaderTruncated { expected: 104, found: 100 });
    let mut pipe = bytes.clone();
    patch(&mut pipe, 8, 16);
    for data in [&pipe[..], &pipe[..16]] {
        let data = SharedBytes::from(data.to_vec());
        let error = ReadFile::read_input(Input::Directory { data, parts: Vec::new() }).err();
        assert_eq!(error, Some(Error::PipeMode));
    }
    patch(&mut pipe, 8, 40);
    assert_eq!(error(&pipe), Error::HeaderSize { found: 40 });
}

#[test]
fn sections_must_be_in_place() {
    let bytes = two_samples(Endian::Little).build();
    let end = bytes.len() as u64;
    let patched = |at: usize, value: u64| {
        let mut bytes = bytes.clone();
        patch(&mut bytes, at, value);
        error(&bytes)
    };
    assert_eq!(
        patched(40, end + 1),
        Error::SectionOutside { section: "data", offset: end + 1, end }
    );
    assert_eq!(patched(24, 8), Error::SectionOutside { section: "attribute", offset: 8, end });
    assert_eq!(patched(40, 112), Error::SectionsOverlap { attrs: 104, data: 112 });
    assert_eq!(patched(32, 0), Error::NoEvents { offset: 104, size: 0, attr_size: ENTRY });
}

#[test]
fn unfinished_recording_is_read_to_the_end() {
    let file =
        File { features: vec![(3, le().string("host").data)], ..two_samples(Endian::Little) };
    let mut bytes = file.build();
    let at = data_at(&bytes);
    bytes.truncate(at + 64);
    patch(&mut bytes, 48, 0);
    assert_eq!(parse(&bytes), Ok((2, vec![(1, Finding::Unfinished { offset: at as u64 })])));
    bytes.truncate(at + 63);
    let partial = Finding::PartialRecord { offset: at as u64 + 32, len: 31 };
    assert_eq!(
        parse(&bytes),
        Ok((1, vec![(1, Finding::Unfinished { offset: at as u64 }), (1, partial)]))
    );
}

#[test]
fn cut_file_keeps_whole_records() {
    let bytes = two_samples(Endian::Little).build();
    let at = data_at(&bytes) as u64;
    let cut = Finding::DataTruncated { expected: at + 64, found: at + 40 };
    let partial = Finding::PartialRecord { offset: at + 32, len: 8 };
    assert_eq!(parse(&bytes[..at as usize + 40]), Ok((1, vec![(1, cut), (1, partial)])));
    let mut huge = bytes;
    patch(&mut huge, 48, u64::MAX);
    assert_eq!(
        parse(&huge),
        Ok((2, vec![(1, Finding::DataTruncated { expected: u64::MAX, found: at + 64 })]))
    );
}

#[test]
fn attribute_entries_by_their_own_size() {
    for stated in [0, 100] {
        let mut bytes = two_samples(Endian::Little).build();
        patch(&mut bytes, 16, stated);
        assert_eq!(parse(&bytes), Ok((2, vec![(1, Finding::AttrStride { stated, used: ENTRY })])));
    }
    // The attribute states less than its entry has: the ids are still at the end of the entry.
    let small = Attr { size: 112, ids: vec![7, 8], ..Attr::default() };
    let bytes = File::new(small, le()).build();
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(recording.events()[0].ids, [7, 8]);
    // Except if they follow the stated size: an old `perf inject` wrote them there.
    let mut bytes = bytes;
    let entry = 104 + 16;
    patch(&mut bytes, entry + 112, 104);
    patch(&mut bytes, entry + 120, 8);
    patch(&mut bytes, entry + 136, u64::MAX);
    let recording = ReadFile::read(&bytes).expect("a recording");
    assert_eq!(recording.events()[0].ids, [7]);
}

#[test]
fn newer_attributes_and_ids_outside_the_file() {
    let newer = Attr { size: 160, sample_type: 0b111 | 1 << 30, ids: vec![1], ..Attr::default() };
    let mut bytes = File::new(newer, sample(le(), 1, 2)).build();
    patch(&mut bytes, 112 + 136, 1 << 40);
    let findings = vec![
        (1, Finding::NewerAttr { event: 0, size: 160 }),
        (1, Finding::UnknownSampleBits { event: 0, bits: 1 << 30 }),
        (1, Finding::IdsIgnored { event: 0, offset: 1 << 40, size: 8 }),
    ];
    assert_eq!(parse(&bytes), Ok((1, findings)));
}

#[test]
fn attributes_may_be_last() {
    let file = two_samples(Endian::Little);
    let mut bytes = file.build();
    let end = bytes.len() as u64;
    let entry = bytes[104..104 + ENTRY as usize].to_vec();
    bytes.extend(entry);
    patch(&mut bytes, 24, end);
    assert_eq!(parse(&bytes), Ok((2, Vec::new())));
    bytes.truncate(bytes.len() - 1);
    let error = error(&bytes);
    assert_eq!(error, Error::NoEvents { offset: end, size: ENTRY - 1, attr_size: ENTRY });
}
