//! Tracepoints: formats as written by kernels, raw data in both byte orders, in files and pipes.

use synth::{
    EventAttr, Feature, PerfDataBuilder, PipeLayout, SampleBuilder, UserRecord, attr_flag,
    sample_type, simpleperf_meta_info, simpleperf_record,
};

use crate::tests::builder::Bytes;
use crate::tests::read_file::list;
use crate::tests::session::{OPTIONS, file, stream};
use address::Tid;

use crate::{
    Endian, Finding, Findings, SchedSwitch, Session, SessionOptions, TraceKind, TraceValue,
    TracingData,
};

const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
    \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
    \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\n\
    print fmt: \"field:%d\", REC->prev_pid\n";

const MANY: &str = "name: many\nID: 7\nformat:\n\
    \tfield:__data_loc char[] name;\toffset:0;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc u16[] words;\toffset:4;\tsize:4;\tsigned:0;\n\
    \tfield:unsigned long args[2];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:const char * ptr;\toffset:24;\tsize:8;\tsigned:0;\n\
    \tfield:u8 flag;\toffset:32;\tsize:1;\tsigned:0;\n\
    \tfield:short s;\toffset:34;\tsize:2;\tsigned:1;\n\
    \tfield:u8 bytes[];\toffset:36;\tsize:2;\tsigned:0;\n\
    \tfield:struct x far;\toffset:99;\tsize:4;\tsigned:0;\n\
    \tfield:nonsense\n";

/// Returns the bytes of the feature as written by a recorder.
fn tracing(endian: Endian) -> Vec<u8> {
    let big = u8::from(endian == Endian::Big);
    let sized = |it: Bytes, text: &str| it.u64(text.len() as u64).raw(text.as_bytes());
    let it = Bytes::new(endian).raw(b"\x17\x08\x44tracing0.6\0").raw(&[big, 8]).u32(4096);
    let it = sized(it.raw(b"header_page\0"), "page");
    let it = sized(it.raw(b"header_event\0"), "event").u32(0).u32(2);
    let it = sized(it.raw(b"sched\0").u32(1), SWITCH);
    sized(it.raw(b"other\0").u32(1), MANY).u32(0).u32(0).u64(0).data
}

#[test]
fn formats() {
    for endian in [Endian::Little, Endian::Big] {
        let bytes = tracing(endian);
        let data = TracingData::parse(&bytes).expect("tracing data");
        assert_eq!(data.endian(), endian);
        let named: Vec<_> = data.formats().map(|(id, it)| (id, it.system, it.name)).collect();
        assert_eq!(named, [(7, &b"other"[..], &b"many"[..]), (372, b"sched", b"sched_switch")]);
        let switch = data.format(372).expect("the format");
        let fields: Vec<_> =
            switch.fields.iter().map(|it| (it.name, it.kind, it.offset, it.size)).collect();
        assert_eq!(
            fields,
            [
                (&b"prev_comm"[..], TraceKind::Text, 8, 16),
                (b"prev_pid", TraceKind::Number, 24, 4),
                (b"prev_state", TraceKind::Number, 32, 8),
                (b"next_pid", TraceKind::Number, 56, 4),
            ]
        );
        // Truncated data give the formats before the end.
        for end in 0..bytes.len() {
            let known = TracingData::parse(&bytes[..end]).map_or(0, |it| it.formats().count());
            assert!(known <= 2);
        }
    }
    assert_eq!(TracingData::parse(b"\x17\x08\x44tracing"), None);
    assert_eq!(TracingData::parse(b"something else"), None);
}

#[test]
fn values() {
    for endian in [Endian::Little, Endian::Big] {
        let bytes = tracing(endian);
        let data = TracingData::parse(&bytes).expect("tracing data");
        let values = |id: u64, raw: &[u8]| {
            let format = data.format(id).expect("the format");
            let named = format.values(raw, endian);
            let named = named.map(|(name, value)| format!("{} {value:?}", name.escape_ascii()));
            named.collect::<Vec<_>>()
        };
        let switch = Bytes::new(endian).u64(0).raw(b"sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        let switch = switch.u32(-2_i32 as u32).u32(0).u64(256).data;
        let comm = TraceValue::Text(b"sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(
            values(372, &switch),
            [
                format!("prev_comm {comm:?}"),
                "prev_pid Signed(-2, 4)".to_owned(),
                "prev_state Signed(256, 8)".to_owned(),
            ]
        );
        // Truncated data lose only the missing fields.
        assert_eq!(values(372, &switch[..30]).len(), 2);
        let many = Bytes::new(endian).u32(3 << 16 | 36).u32(4 << 16 | 32).words(&[1, 2, 3]);
        let many = many.raw(&[9, 0]).u16(-5_i16 as u16).raw(b"abc\0").u16(11).u16(12).data;
        assert_eq!(
            values(7, &many),
            [
                "name Text([97, 98, 99])",
                "words List([Unsigned(11, 2), Unsigned(12, 2)])",
                "args List([Unsigned(1, 8), Unsigned(2, 8)])",
                "ptr Unsigned(3, 8)",
                "flag Unsigned(9, 1)",
                "s Signed(-5, 2)",
                "bytes List([Unsigned(97, 1), Unsigned(98, 1)])",
            ]
        );
    }
}

#[test]
fn in_files_and_in_pipes() {
    let data = tracing(Endian::Little);
    let mut it = PerfDataBuilder::new(synth::Endian::Little);
    let sample_type = sample_type::IP | sample_type::TID | sample_type::TIME;
    let flags = attr_flag::SAMPLE_ID_ALL;
    it.event("sched", EventAttr { sample_type, flags, ..EventAttr::default() }, &[1]);
    it.sample(&SampleBuilder::at(0x1000, 1, 1, 5));
    let mut in_file = it.clone();
    in_file.feature(&Feature::TracingData(&data));
    let records = it.take_records();
    it.user_record(&UserRecord::TracingData { data: &data });
    it.raw_bytes(&records);
    let pipe = it.build_pipe(&PipeLayout::default());
    // Small blocks: the data extend over several.
    let small = SessionOptions { read_bytes: 64, ..*OPTIONS };
    for (input, options) in
        [(file(&in_file.build()), *OPTIONS), (stream(&pipe), *OPTIONS), (stream(&pipe), small)]
    {
        let mut findings = Findings::default();
        let mut session = Session::open(input, options, &mut findings).expect("a recording");
        while session.next_batch(&mut findings).is_some() {}
        let known = session.head().features().tracing_data.expect("tracing data");
        assert_eq!(known.get(..data.len()), Some(&data[..]));
        assert_eq!(TracingData::parse(known).expect("tracing data").formats().count(), 2);
        assert_eq!(findings.iter().count(), 0);
    }
}

/// Unnamed events get the names of their tracepoints, regardless of the location of the tracing data.
#[test]
fn names_of_events() {
    const SIMPLEPERF_TRACING_DATA: u32 = 32_777;
    let data = tracing(Endian::Little);
    let mut it = PerfDataBuilder::new(synth::Endian::Little);
    let attr = EventAttr {
        sample_type: sample_type::IP | sample_type::TID | sample_type::TIME,
        flags: attr_flag::SAMPLE_ID_ALL,
        event_type: 2,
        ..EventAttr::default()
    };
    for (config, id) in [(372, 1), (7, 2), (8, 3)] {
        it.event("", EventAttr { config, ..attr.clone() }, &[id]);
    }
    let sample = SampleBuilder::at(0x1000, 1, 1, 5);
    let mut in_file = it.clone();
    in_file.feature(&Feature::TracingData(&data)).sample(&sample);
    let mut in_pipe = it.clone();
    in_pipe.user_record(&UserRecord::TracingData { data: &data }).sample(&sample);
    // simpleperf: as a separate record or, in old versions, inside of perf's record.
    it.raw_feature(129, &simpleperf_meta_info(&[("simpleperf_version", "1")]));
    let sized = Bytes::new(Endian::Little).u32(data.len() as u32).raw(&data);
    let padded = sized.raw(&vec![0; 64 - (data.len() + 4) % 64]).data;
    let mut own = it.clone();
    own.raw_bytes(&simpleperf_record(synth::Endian::Little, SIMPLEPERF_TRACING_DATA, &padded));
    own.sample(&sample);
    let header = Bytes::new(Endian::Little).u32(66).u16(0).u16(8 + padded.len() as u16).data;
    it.raw_bytes(&header).raw_bytes(&padded).sample(&sample);
    for input in [
        file(&in_file.build()),
        stream(&in_pipe.build_pipe(&PipeLayout::default())),
        file(&own.build()),
        file(&it.build()),
    ] {
        let mut findings = Findings::default();
        let mut session = Session::open(input, *OPTIONS, &mut findings).expect("a recording");
        let mut samples = 0;
        while let Some(batch) = session.next_batch(&mut findings) {
            samples += batch.samples().len();
        }
        let head = session.head();
        let names: Vec<_> = head.events().iter().map(|event| &*event.name).collect();
        assert_eq!(names, ["sched:sched_switch", "other:many", "tracepoint:8"]);
        let odd = list(&findings).iter().filter(|it| it.1 != Finding::Simpleperf).count();
        assert_eq!((samples, odd), (1, 0));
    }
}

/// Any byte may be damaged: fewer or other values result, but no read leaves the data.
#[test]
fn damage() {
    let bytes = tracing(Endian::Little);
    let raw = [0x5a; 48];
    for at in 0..bytes.len() {
        for value in [0, 0xff, b'9', b'[', b' ', b';'] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let Some(data) = TracingData::parse(&damaged) else { continue };
            for (_, format) in data.formats() {
                let values = format.values(&raw, data.endian()).count();
                assert!(values <= format.fields.len());
            }
        }
    }
}

#[test]
fn tasks_of_a_switch() {
    for endian in [Endian::Little, Endian::Big] {
        let bytes = tracing(endian);
        let data = TracingData::parse(&bytes).expect("tracing data");
        let switch = SchedSwitch::of(&data, 372).expect("the tracepoint");
        let raw = Bytes::new(endian).raw(&[0; 24]).u32(41).raw(&[0; 28]).u32(42).data;
        assert_eq!(switch.tasks(&raw), Some((Tid(41), Tid(42))));
        assert_eq!(switch.tasks(&raw[..59]), None, "the second id is cut");
        assert_eq!(switch.is_runnable(&raw), Some(true), "R");
        assert_eq!(switch.is_runnable(&raw[..35]), None, "the state is cut");
        // S, D, I and P wait; R+ does not.
        for (state, is_runnable) in
            [(1, false), (2, false), (0x80, false), (0x40, false), (0x100, true)]
        {
            let raw = Bytes::new(endian).raw(&[0; 32]).u64(state).raw(&[0; 24]).data;
            assert_eq!(switch.is_runnable(&raw), Some(is_runnable), "{state}");
        }
        assert_eq!(SchedSwitch::of(&data, 7), None, "another tracepoint");
    }
}
