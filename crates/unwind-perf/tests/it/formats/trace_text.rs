//! Texts of tracepoints in perf-script: as the kernel prints them, with the names of its functions.

use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId, sample_type,
};

use crate::support::run::{Ran, empty_folder, run};

const TIMER: &str = "name: timer\nID: 77\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:int cpu;\toffset:8;\tsize:4;\tsigned:1;\n\
    \tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\
    \tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n\n\
    print fmt: \"cpu=%d name=%-4s| function=%ps at %pS flags=%s\", REC->cpu, __get_str(name), REC->function, \
    REC->function, __print_flags(REC->cpu, \"|\", { 1, \"ONE\" }, { 2, \"TWO\" })\n";

const JIFFIES: &str = "name: wait\nID: 78\nformat:\n\
    \tfield:int wait;\toffset:8;\tsize:4;\tsigned:1;\n\n\
    print fmt: \"wait %u\", jiffies_to_msecs(REC->wait)\n";

fn tracing_data() -> Vec<u8> {
    let sized = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut data = b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0".to_vec();
    data.extend([&sized("")[..], b"header_event\0", &sized("")].concat());
    data.extend([0_u32, 1].map(u32::to_le_bytes).concat());
    data.extend([&b"made\0"[..], &2_u32.to_le_bytes(), &sized(TIMER), &sized(JIFFIES)].concat());
    data.extend([0; 16]);
    data
}

fn raw(cpu: i32, function: u64, name: &[u8]) -> Vec<u8> {
    let location = (name.len() as u32) << 16 | 24;
    let head =
        [&[77, 0, 0, 0, 0, 0, 0, 0][..], &cpu.to_le_bytes(), &location.to_le_bytes()].concat();
    [&head[..], &function.to_le_bytes(), name].concat()
}

/// Four samples of two tracepoints, the last one with truncated data, and one of another event.
fn recording() -> Vec<u8> {
    let mut it = PerfDataBuilder::new(Endian::Little);
    let plain = EventAttr::dwarf(0x00ff_0fff);
    let traced = plain.sample_type | sample_type::RAW | sample_type::IDENTIFIER;
    let memory = plain.sample_type | sample_type::ADDR | sample_type::IDENTIFIER;
    let tracepoint = |config| EventAttr { event_type: 2, config, sample_type: traced, ..plain };
    it.event("made:timer", tracepoint(77), &[5]);
    it.event("made:wait", tracepoint(78), &[6]);
    it.event("loads:u", EventAttr { sample_type: memory, ..plain }, &[7]);
    it.describe_events();
    it.feature(&Feature::Arch("x86_64")).feature(&Feature::TracingData(&tracing_data()));
    let name = Record::Comm { pid: 3, tid: 4, comm: b"app", exec: false };
    it.record_at(&name, SampleId::at(3, 4, 90));
    let sample = |time| SampleBuilder::at(0x1000, 3, 4, time).with_regs(&[0; 20]);
    let known = raw(3, 0xffff_ffff_8100_0034, b"a\tb\0rest");
    let unknown = raw(-1, 0x10, b"");
    let truncated = known[..20].to_vec();
    for (time, raw) in [(100, known), (110, unknown), (120, truncated)] {
        it.sample_of(0, &SampleBuilder { id: 5, raw, ..sample(time) });
    }
    let wait = raw(250, 0, b"")[..12].to_vec();
    it.sample_of(1, &SampleBuilder { id: 6, raw: wait, ..sample(130) });
    it.sample_of(2, &SampleBuilder { id: 7, addr: 0x7f00_0000_1000, ..sample(140) });
    it.build()
}

fn printed(name: &str, args: &[&str]) -> Ran {
    let folder = empty_folder(&format!("trace-text-{name}"));
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    let symbols = "ffffffff81000000 T _text\nffffffff81000030 t expired\nffffffff81000040 T next\n";
    std::fs::write(folder.join("kallsyms"), symbols).expect("written");
    run(&folder, &[&["perf.data", "-f", "perf-script"], args].concat())
}

#[test]
fn texts_are_those_of_the_kernel() {
    let ran =
        printed("known", &["-F", "comm,event,trace", "--kallsyms", "kallsyms"]).expect_status(0);
    let expected = [
        "             app made:timer: cpu=3 name=a\\tb | function=expired at expired+0x4 flags=ONE|TWO",
        "             app made:timer: cpu=-1 name=    | function=0x10 at 0x10 flags=ONE|TWO|0xfffffffc",
        "             app made:timer: ",
        "             app  made:wait:  wait=250",
        "             app    loads:u: ",
    ];
    let lines: Vec<String> =
        String::from_utf8_lossy(&ran.stdout).lines().map(str::to_owned).collect();
    assert_eq!(lines, expected);
    let findings = "trace-format: events have a print format that is not supported; their fields are printed instead";
    assert!(ran.stderr.contains(findings), "{}", ran.stderr);
}

#[test]
fn addresses_without_names_are_numbers() {
    let args = ["-F", "+trace", "--no-symbols", "-q", "--time", ",0.000000105"];
    let ran = printed("addresses", &args).expect_status(0);
    let line = String::from_utf8_lossy(&ran.stdout).lines().next().map(str::to_owned);
    let expected = "app     3/4         0.000000:          1 made:timer: cpu=3 name=a\\tb | \
                    function=0xffffffff81000034 at 0xffffffff81000034 flags=ONE|TWO";
    assert_eq!(line.as_deref(), Some(expected));
}

#[test]
fn selected_fields_follow_the_text() {
    let args = ["-F", "event,trace", "--with-fields", "cpu", "-q", "--time", "0.000000105,"];
    let ran = printed("fields", &args).expect_status(0);
    let line = String::from_utf8_lossy(&ran.stdout).lines().next().map(str::to_owned);
    let expected =
        "made:timer: cpu=-1 name=    | function=0x10 at 0x10 flags=ONE|TWO|0xfffffffc cpu=-1";
    assert_eq!(line.as_deref(), Some(expected));
    let args = ["-F", "event", "--with-fields", "cpu", "-q"];
    let ran = printed("only-fields", &args).expect_status(0);
    assert_eq!(String::from_utf8_lossy(&ran.stdout).lines().next(), Some("made:timer:  cpu=3"));
}
