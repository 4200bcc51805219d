//! Recordings: attributes that share their ids, streams of many frames with large windows, repeated features.

use synth::{ByteWriter, Endian, EventAttr, Feature, PerfDataBuilder, UserRecord};

use super::Input;
use super::program::chains;

/// 20,000 attributes with the same 100,000 ids.
#[test]
fn attributes_that_share_their_ids() {
    const ATTRS: u64 = 20_000;
    const IDS: u64 = 100_000;
    const HEAD: u64 = 104;
    const ATTR: u64 = 128;
    let mut out = ByteWriter::new(Endian::Little);
    let (ids, attrs) = (HEAD, HEAD + 8 * IDS);
    let data = attrs + (ATTR + 16) * ATTRS;
    out.bytes(b"PERFILE2").u64s(&[HEAD, ATTR + 16, attrs, (ATTR + 16) * ATTRS, data, 0]);
    out.zeros(HEAD as usize - out.len());
    for id in 0..IDS {
        out.u64(id);
    }
    let attr = EventAttr { disk_size: ATTR as u32, ..chains() }.encode(Endian::Little);
    for _ in 0..ATTRS {
        out.bytes(&attr).u64(ids).u64(8 * IDS);
    }
    Input::folded(out.into_bytes()).withstand("shared-ids").expect_status(1);
}

/// 3,000 frames of zstd in a stream, each with a window of 128 MiB.
#[test]
fn frames_with_large_windows() {
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cycles", chains(), &[1]);
    data.feature(&Feature::Raw {
        bit: 27,
        payload: &[1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0],
    });
    // A frame of one block that repeats a byte 128 KiB times, and a header with the window.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3, 3, 0, 16, 0];
    for _ in 0..3000 {
        data.user_record(&UserRecord::Compressed { data: &frame });
    }
    let stream = data.build_pipe(&synth::PipeLayout::default());
    Input::folded(stream).withstand("large-windows").expect_status(1);
}

/// A stream that repeats its events and features, each time with other names of 60,000 bytes.
#[test]
fn names_that_are_stated_again() {
    let mut data = PerfDataBuilder::new(Endian::Little);
    for id in 0..300 {
        data.event("cycles", chains(), &[id]);
    }
    for number in 0..200 {
        let payload = format!("{number:0>60000}\0");
        let id = number % 300;
        data.user_record(&UserRecord::EventUpdate { kind: 2, id, payload: payload.as_bytes() });
    }
    for _ in 0..20_000 {
        data.user_record(&UserRecord::HeaderAttr { attr: &chains(), ids: &[1, 2, 3] });
    }
    Input::folded(data.build_pipe(&synth::PipeLayout::default()))
        .withstand("restated-names")
        .expect_status(0);
}
