//! The stream for hotspot: order of messages, and bytes of fields.

use address::{Pid, Tid, Timestamp};
use formats::{
    Details, ErrorKind, ErrorRow, FieldValue, Format, FormatOptions, GroupRow, HotspotStream,
    MemoryNodeRow, SampleExtra, TaskChange, TaskEvent, TracepointRow,
};
use profile::{EventId, Profile};

use crate::printed;
use crate::support::sample_profile::one_of_everything;

const DEFAULT: FormatOptions = FormatOptions::DEFAULT;

/// Splits the stream into messages of kind and fields.
pub(crate) fn messages(stream: &[u8]) -> Vec<(u8, &[u8])> {
    let mut rest = stream.strip_prefix(b"QPERFSTREAM\0\x13\0\0\0").expect("the stream's start");
    let mut messages = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (message, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        messages.push((message[0], &message[1..]));
        rest = after;
    }
    messages
}

/// Returns the stream of a profile with details of its recording.
fn printed_with(profile: &Profile, details: &Details) -> Vec<u8> {
    let mut stream = HotspotStream::new(Vec::new(), true);
    stream.begin(profile, details).expect("memory");
    stream.samples(profile, details, profile.samples.len()).expect("memory");
    stream.finish(profile, details).expect("memory");
    stream.output().clone()
}

#[test]
fn hotspot() {
    let stream = printed(&one_of_everything(), Format::Hotspot, DEFAULT);
    let messages = messages(&stream);
    let of = |kind| messages.iter().filter(move |message| message.0 == kind).map(|row| row.1);
    assert_eq!(messages[0].0, 7, "features come first");
    assert_eq!(of(11).count(), 2);
    let clock = of(11).nth(1).expect("an attribute");
    assert_eq!(clock, b"\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\x01\0\0\0\0\0\0\x03\xe5");
    // Strings and locations are numbered in order and precede their use.
    for (kind, name) in [(5, "strings"), (3, "locations")] {
        let ids: Vec<u32> = of(kind)
            .map(|fields| u32::from_be_bytes(*fields.first_chunk().expect("an id")))
            .collect();
        assert_eq!(ids, (0..ids.len() as u32).collect::<Vec<_>>(), "{name}");
    }
    // The first sample has two locations, none guessed, and its event and period.
    let sample = of(13).next().expect("a sample");
    let record =
        [&[0, 0, 0, 42, 0, 0, 0, 43][..], &1_445_157_017_999_u64.to_be_bytes(), &[0, 0, 0, 1]];
    assert_eq!(sample[..20], record.concat());
    assert_eq!(sample[20..24], [0, 0, 0, 2]);
    let costs = [&[0, 0, 0, 0, 1, 0, 0, 0, 1][..], &4_000_000_u64.to_be_bytes()];
    assert_eq!(sample[32..], costs.concat());
    // The fourth has three frames. The middle one was found by the frame pointer, so two are guessed.
    let sample = of(13).nth(3).expect("a sample");
    assert_eq!((sample[23], sample[36]), (3, 2));
    assert_eq!(of(13).count(), 5);
    assert_eq!(of(2).count(), 2, "a name for each thread that has one");
    assert_eq!(of(9).next_back(), Some(1.0_f64.to_be_bytes().as_slice()), "done");
}

/// Threads, losses and switches precede the samples after them; details of single samples are in these samples.
#[test]
#[expect(clippy::too_many_lines, reason = "one stream, looked at once")]
fn details() {
    let mut profile = one_of_everything();
    let name = profile.strings.intern(b"a name");
    let field = profile.strings.intern(b"a field");
    let (pid, tid) = (Pid(42), Tid(43));
    let first = profile.samples.as_slice()[0].time().expect("a time");
    let event = |time: u64, what| TaskEvent { time: Timestamp(time), pid, tid, cpu: Some(1), what };
    let fields = vec![
        (field, FieldValue::I32(-1)),
        (field, FieldValue::List(vec![FieldValue::Bytes((*b"x").into()), FieldValue::I64(-2)])),
    ];
    let details = Details {
        build_ids: Vec::new(),
        core_sets: vec![name],
        thread_sets: Vec::new(),
        memory_nodes: vec![MemoryNodeRow { node: 1, total_kib: 2, free_kib: 3, cpus: name }],
        units: vec![(4, name)],
        groups: vec![GroupRow { name, leader: 5, members: 6 }],
        tracepoints: vec![TracepointRow { id: 9, system: name, name: field }],
        tasks: vec![
            event(0, TaskChange::Started(Pid(1))),
            event(0, TaskChange::Named(name)),
            event(first.0, TaskChange::Switched(false)),
            event(first.0 + 1, TaskChange::Lost(7)),
            event(u64::MAX, TaskChange::Ended),
        ],
        extras: vec![SampleExtra {
            time: first,
            pid,
            tid,
            event: profile.samples.as_slice()[0].event,
            costs: vec![(EventId::new(0), 10), (EventId::new(1), 20)],
            fields: Some(fields),
        }],
        errors: vec![ErrorRow { kind: ErrorKind::KernelSymbols, message: "é".to_owned() }],
    };
    let stream = printed_with(&profile, &details);
    let messages = messages(&stream);
    let kinds: Vec<u8> =
        messages.iter().map(|it| it.0).filter(|kind| ![3, 4, 5, 9, 2].contains(kind)).collect();
    assert_eq!(kinds, [7, 11, 11, 10, 0, 12, 14, 13, 13, 13, 13, 8, 6, 1]);
    let of = |kind: u8| messages.iter().find(|it| it.0 == kind).expect("a message").1;
    // One set of CPUs, none, a node, a unit, a group; lists of bytes.
    let text = [&[0, 0, 0, 6][..], b"a name"].concat();
    let tail = [
        &[0, 0, 0, 1][..],
        &text,
        &[0; 4],
        &[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3],
        &text,
        &[0, 0, 0, 1, 0, 0, 0, 4],
        &text,
        &[0, 0, 0, 1],
        &text,
        &[0, 0, 0, 5, 0, 0, 0, 6],
    ];
    assert!(of(7).ends_with(&tail.concat()));
    assert_eq!(of(0)[20..], [0, 0, 0, 1]);
    assert_eq!(of(12)[20..], [0]);
    assert_eq!(of(6).len(), 20);
    assert_eq!(of(8), [0, 0, 0, 3, 0, 0, 0, 2, 0, 0xe9]);
    let sample = of(14);
    let costs = [&[0, 0, 0, 2, 0, 0, 0, 0][..], &10_u64.to_be_bytes(), &[0, 0, 0, 1]];
    let costs = [&costs.concat()[..], &20_u64.to_be_bytes()].concat();
    assert!(sample.windows(costs.len()).any(|window| window == costs));
    let values = [
        &[0, 0, 0, 2, 0, 0xff, 0xff, 0xff, 0xff][..],
        &[0, 0, 0, 9, 0, 0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 0, 1, b'x'],
        &[0, 0, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
    ];
    let list = values[1..].concat();
    assert!(sample.ends_with(&list));
    assert!(sample.windows(values[0].len()).any(|window| window == values[0]));
}

/// Writing in steps gives the same stream as writing at once, except for the progress.
#[test]
fn steps() {
    let whole = printed(&one_of_everything(), Format::Hotspot, DEFAULT);
    let mut profile = one_of_everything();
    let samples = std::mem::take(&mut profile.samples);
    let details = Details::default();
    let mut stream = HotspotStream::new(Vec::new(), true);
    stream.begin(&profile, &details).expect("memory");
    for sample in samples {
        profile.samples.push(sample);
        stream.samples(&profile, &details, 5).expect("memory");
    }
    stream.finish(&profile, &details).expect("memory");
    stream.download(b"lib", b"http://x", 3, 4).expect("memory");
    let steps = stream.output().clone();
    let without = |stream: &[u8]| {
        let kept = messages(stream).into_iter().filter(|it| it.0 != 9);
        kept.map(|it| (it.0, it.1.to_vec())).collect::<Vec<_>>()
    };
    let (whole, steps) = (without(&whole), without(&steps));
    // The end of the stream is the two strings of the download, and the download.
    assert_eq!(steps[..whole.len()], whole);
    assert_eq!(steps[whole.len()].1[4..], [&[0, 0, 0, 3][..], b"lib"].concat());
    let number = whole.iter().filter(|it| it.0 == 5).count() as u8;
    let mut download = vec![0, 0, 0, number, 0, 0, 0, number + 1];
    download.extend([0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4]);
    assert_eq!(steps[whole.len() + 2..], [(15, download)]);
}
