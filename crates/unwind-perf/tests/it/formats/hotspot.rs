//! The stream for hotspot: its messages, their order, and that it is written before unwinding ends.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::Stdio;

use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, PipeLayout, ReadValue, ReadValues, Record,
    SampleBuilder, SampleId, UserRecord, read_format, sample_type,
};

use crate::support::cases::Case;
use crate::support::run::{command, empty_folder, finish, run};

const THREAD_START: u8 = 0;
const THREAD_END: u8 = 1;
const COMMAND: u8 = 2;
const STRING: u8 = 5;
const LOST: u8 = 6;
const ERROR: u8 = 8;
const PROGRESS: u8 = 9;
const FORMAT: u8 = 10;
const SWITCH: u8 = 12;
const SAMPLE: u8 = 13;
const TRACEPOINT: u8 = 14;

/// Returns the messages of a stream: kind and fields.
pub(crate) fn messages(stream: &[u8]) -> Vec<(u8, &[u8])> {
    let mut rest = stream.strip_prefix(b"QPERFSTREAM\0\x13\0\0\0").expect("the stream's start");
    let mut messages = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        // An incomplete stream may end anywhere.
        let Some((message, after)) = after.split_at_checked(length) else { break };
        messages.push((message[0], &message[1..]));
        rest = after;
    }
    messages
}

fn number(fields: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(*fields[at..].first_chunk().expect("four bytes"))
}

/// Returns messages about threads as text, in order.
fn reported(stream: &[u8], kinds: &[u8]) -> Vec<String> {
    let mut strings = BTreeMap::new();
    let mut reported = Vec::new();
    for (kind, fields) in messages(stream) {
        if kind == STRING {
            let text = String::from_utf8_lossy(&fields[8..]).into_owned();
            strings.insert(number(fields, 0), text);
        }
        if !kinds.contains(&kind) {
            continue;
        }
        let task = format!("{}/{}", number(fields, 0), number(fields, 4));
        reported.push(match kind {
            THREAD_START => format!("start {task} of {}", number(fields, 20)),
            THREAD_END => format!("end {task}"),
            COMMAND => format!("name {task} {}", strings[&number(fields, 20)]),
            LOST => format!("lost {task}, {} bytes", fields.len()),
            SWITCH => format!("switch {task} {}", fields[20]),
            _ => format!("sample {task}"),
        });
    }
    reported.dedup();
    reported
}

#[test]
fn threads_are_told_in_the_order_of_time() {
    let stream = Case::named("fork").run(&["-q", "-f", "hotspot"]).expect_status(0).stdout;
    let reported = reported(&stream, &[THREAD_START, THREAD_END, COMMAND, SAMPLE]);
    assert_eq!(
        reported,
        [
            "name 27949/27949 perf-exec",
            "name 27949/27949 fork",
            "start 27949/27951 of 27949",
            "name 27949/27951 fork",
            "sample 27949/27951",
            "name 27949/27951 second thread",
            "sample 27949/27951",
            "end 27949/27951",
            "start 27952/27952 of 27949",
            "name 27952/27952 fork",
            "sample 27952/27952",
            "end 27952/27952",
            "start 27953/27953 of 27949",
            "name 27953/27953 fork",
            "sample 27953/27953",
            "end 27953/27953",
            "end 27949/27949",
        ]
    );
}

#[test]
fn as_many_samples_as_in_other_formats() {
    for case in Case::all() {
        let lines = case.run(&["-q", "-f", "ndjson"]).expect_status(0).lines().len();
        let stream = case.run(&["-q", "-f", "hotspot"]).expect_status(0).stdout;
        let samples =
            messages(&stream).iter().filter(|it| matches!(it.0, SAMPLE | TRACEPOINT)).count();
        assert_eq!(samples, lines, "{}", case.name);
        let last = messages(&stream).last().copied();
        assert_eq!(last, Some((PROGRESS, &1.0_f64.to_be_bytes()[..])), "{}", case.name);
    }
}

/// Returns the format of a tracepoint with one field of each kind, in a recorder's form.
pub(super) fn tracing_data() -> Vec<u8> {
    let format = "name: thing\nID: 77\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n\
        \tfield:__data_loc char[] text;\toffset:12;\tsize:4;\tsigned:0;\n\
        \tfield:u64 wide;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:u16 list[2];\toffset:24;\tsize:4;\tsigned:0;\n";
    let sized = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    [
        &b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0"[..],
        b"header_page\0",
        &sized(""),
        b"header_event\0",
        &sized(""),
        &0_u32.to_le_bytes(),
        &1_u32.to_le_bytes(),
        b"system\0",
        &1_u32.to_le_bytes(),
        &sized(format),
    ]
    .concat()
}

fn with_tracepoint() -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let dwarf = EventAttr::dwarf(0x00ff_0fff);
    let sample_type = dwarf.sample_type | sample_type::RAW | sample_type::CPU;
    let attr = EventAttr { event_type: 2, config: 77, sample_type, ..dwarf };
    it.event("system:thing", attr, &[5]);
    it.feature(&Feature::Arch("x86_64")).feature(&Feature::TracingData(&tracing_data()));
    it.record_at(&Record::Switch { out: true }, SampleId::at(3, 4, 90));
    it.record_at(&Record::Lost { id: 5, lost: 6 }, SampleId::at(3, 4, 95));
    let sample = SampleBuilder::at(0x1000, 3, 4, 100).with_regs(&[0; 20]);
    it.sample(&SampleBuilder { raw: raw_thing(-3, b"hi"), cpu: 1, ..sample });
    it
}

/// Returns the raw data of a sample of that tracepoint.
pub(super) fn raw_thing(number: i32, text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a short text");
    [
        &[77, 0, 0, 0, 0, 0, 0, 0][..],
        &number.to_le_bytes(),
        &(length << 16 | 28).to_le_bytes(),
        &(1_u64 << 40).to_le_bytes(),
        &[1, 0, 2, 0],
        text,
    ]
    .concat()
}

#[test]
fn tracepoints_switches_and_losses() {
    let folder = empty_folder("hotspot-tracepoints");
    std::fs::write(folder.join("perf.data"), with_tracepoint().build()).expect("written");
    let stream = run(&folder, &["perf.data", "-q", "-f", "hotspot"]).expect_status(0).stdout;
    let all = reported(&stream, &[SWITCH, LOST, TRACEPOINT]);
    assert_eq!(all, ["switch 3/4 1", "lost 3/4, 20 bytes", "sample 3/4"]);
    let of = |kind| messages(&stream).into_iter().find(|it| it.0 == kind).expect("a message").1;
    let named = |text: &str| {
        let strings = messages(&stream).into_iter().filter(|it| it.0 == STRING);
        let found = strings.map(|it| it.1).find(|it| it[8..] == *text.as_bytes());
        found.unwrap_or_else(|| panic!("no string {text}"))[..4].to_vec()
    };
    let format = [&[0, 0, 0, 77][..], &named("system"), &named("thing"), &[0; 4]].concat();
    assert_eq!(of(FORMAT), format);
    // Names of fields and QVariants: Int, QByteArray, ULongLong, QVariantList of UInt.
    let fields = [
        &[0, 0, 0, 4][..],
        &named("number"),
        &[0, 0, 0, 2, 0, 255, 255, 255, 253],
        &named("text"),
        &[0, 0, 0, 12, 0, 0, 0, 0, 2, b'h', b'i'],
        &named("wide"),
        &[0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0],
        &named("list"),
        &[0, 0, 0, 9, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 2],
    ];
    let sample = of(TRACEPOINT);
    let fields = fields.concat();
    assert_eq!(sample[sample.len() - fields.len()..], fields);
}

#[test]
fn a_missing_file_is_told_once() {
    let folder = empty_folder("hotspot-missing");
    let case = Case::named("spin-lld");
    let root = folder.to_str().expect("UTF-8");
    let ran = run(&case.folder, &["perf.data", "-q", "-f", "hotspot", "--sysroot", root]);
    let stream = ran.expect_status(0).stdout;
    let errors: Vec<String> = messages(&stream)
        .iter()
        .filter(|it| it.0 == ERROR)
        .map(|(_, fields)| {
            let units = fields[8..].chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            let text = String::from_utf16(&units.collect::<Vec<_>>()).expect("UTF-16");
            format!("{} {text}", number(fields, 0))
        })
        .collect();
    let path = "/tmp/unwind-perf-testdata/spin-lld/spin-lld";
    assert_eq!(
        errors,
        [format!("2 {path}: file not found; stacks end in it and names are missing")]
    );
}

/// Returns samples with stacks; one second for each round.
fn rounds(counts: &[u64]) -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(Endian::Little);
    it.event("cycles:u", EventAttr::dwarf(0x00ff_0fff), &[7]);
    it.feature(&Feature::Arch("x86_64"));
    for (round, &count) in (1..).zip(counts) {
        for at in 0..count {
            let sample = SampleBuilder::at(0x1000, 3, 4, round * 1_000_000_000 + at);
            it.sample(&sample.with_regs(&[0; 20]).with_stack(&[0; 8192]));
        }
        it.user_record(&UserRecord::FinishedRound);
    }
    it
}

/// Without repair, the reader gets samples of the first round before the recorder has written the last ones.
#[test]
fn samples_arrive_before_the_recording_ends() {
    let bytes = rounds(&[40, 1, 80]).build_pipe(&PipeLayout::default());
    let (first, rest) = bytes.split_at(bytes.len() - 40 * 8192);
    let arguments = ["-", "-q", "-f", "hotspot", "--no-join"];
    let mut command = command(&empty_folder("hotspot-live"), &arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the command starts");
    let mut input = child.stdin.take().expect("standard input");
    let mut output = child.stdout.take().expect("standard output");
    input.write_all(first).expect("the first part");
    input.flush().expect("the first part");
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    let samples = |read: &[u8]| messages(read).iter().filter(|message| message.0 == SAMPLE).count();
    while read.len() < 16 || samples(&read) < 40 {
        let length = output.read(&mut buffer).expect("what is written");
        assert_ne!(length, 0, "it ended though its input had not");
        read.extend(&buffer[..length]);
    }
    assert_eq!(samples(&read), 40);
    input.write_all(rest).expect("the rest");
    drop(input);
    output.read_to_end(&mut read).expect("what is written");
    assert_eq!(samples(&read), 121);
    finish(child).expect_status(0);
}

/// Returns the number of written samples at each progress message after the first of them, in a file of `samples`
/// samples.
fn steps(samples: u64, options: &[&str]) -> Vec<usize> {
    let folder = empty_folder(&format!("hotspot-steps-{samples}{}", options.concat()));
    let mut it = rounds(&[]);
    for at in 0..samples {
        let place = if at < samples / 2 { 0x1000 } else { 0x2000 };
        it.sample(&SampleBuilder::at(place, 3, 4, 1000 + at).with_regs(&[0; 20]));
    }
    std::fs::write(folder.join("perf.data"), it.build()).expect("written");
    let print = |jobs: &str| {
        let arguments = ["perf.data", "-q", "-f", "hotspot", "-j", jobs];
        run(&folder, &[&arguments, options].concat()).expect_status(0).stdout
    };
    let stream = print("1");
    assert_eq!(print("3"), stream, "the number of threads makes no difference");
    let kinds: Vec<u8> = messages(&stream).iter().map(|it| it.0).collect();
    let first = kinds.iter().position(|kind| *kind == SAMPLE).expect("a sample");
    let mut written = 0;
    let mut steps = Vec::new();
    for kind in &kinds[first..] {
        written += usize::from(*kind == SAMPLE);
        if *kind == PROGRESS {
            steps.push(written);
        }
    }
    steps
}

/// In a file as well, later samples are walked after the first were written: their locations are defined after these.
#[test]
fn a_file_is_written_step_by_step() {
    let steps = steps(6000, &["--no-join"]);
    assert_eq!(steps.first(), Some(&1024), "the first step");
    assert_eq!(steps.last(), Some(&6000));
}

/// With 32,768 samples the first 24,576 are repaired; repaired samples are written 4,096 at a time.
#[test]
fn samples_wait_for_their_repair() {
    assert_eq!(steps(6000, &[]), [4096, 6000, 6000], "all at the end");
    let first = [4096, 8192, 12_288, 16_384, 20_480, 24_576];
    let others = [24_576, 24_576, 28_672, 32_768, 36_864, 40_000, 40_000];
    assert_eq!(steps(40_000, &[]), [&first[..], &others[..]].concat());
}

/// Counters of a group accumulate; the stream reports their increase since the previous sample.
#[test]
fn groups_cost_what_they_counted() {
    let folder = empty_folder("hotspot-groups");
    let mut it = PerfDataBuilder::new(Endian::Little);
    let dwarf = EventAttr::dwarf(0x00ff_0fff);
    let sample_type = dwarf.sample_type | sample_type::READ | sample_type::ID;
    let read_format = read_format::ID | read_format::GROUP;
    let attr = EventAttr { sample_type, read_format, ..dwarf };
    it.event("cycles", attr.clone(), &[5]);
    it.event("instructions", attr, &[6]);
    it.feature(&Feature::Arch("x86_64"));
    for (time, counts) in [(100, [10, 20]), (200, [13, 27])] {
        let values = [5, 6].into_iter().zip(counts);
        let values = values.map(|(id, value)| ReadValue { value, id, ..ReadValue::default() });
        let read = ReadValues { values: values.collect(), ..ReadValues::default() };
        let sample = SampleBuilder::at(0x1000, 3, 4, time).with_regs(&[0; 20]);
        it.sample(&SampleBuilder { read, id: 5, ..sample });
    }
    std::fs::write(folder.join("perf.data"), it.build()).expect("written");
    let stream = run(&folder, &["perf.data", "-q", "-f", "hotspot"]).expect_status(0).stdout;
    let all = messages(&stream);
    let samples: Vec<&[u8]> = all.iter().filter(|it| it.0 == SAMPLE).map(|it| it.1).collect();
    let costs = |costs: [u64; 2]| {
        let pair = |id: u32, cost: u64| [&id.to_be_bytes()[..], &cost.to_be_bytes()].concat();
        [&[0, 0, 0, 2][..], &pair(0, costs[0]), &pair(1, costs[1])].concat()
    };
    assert!(samples[0].ends_with(&costs([10, 20])));
    assert!(samples[1].ends_with(&costs([3, 7])));
}
