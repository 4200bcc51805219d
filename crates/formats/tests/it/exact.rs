//! The exact bytes of every format.

use formats::{Format, FormatOptions, StackRoot, StackWeight};
use profile::LayoutId;

use crate::printed;
use crate::support::sample_profile::{empty, of_one_event, one_of_everything};

const DEFAULT: FormatOptions = FormatOptions::DEFAULT;
const NO_INLINE: FormatOptions = FormatOptions { inlines: false, ..DEFAULT };

/// Compares the output with `expected`, with a readable message if they differ.
#[track_caller]
fn check(format: Format, options: FormatOptions, expected: &[u8]) {
    check_of(&one_of_everything(), format, options, expected);
}

#[track_caller]
fn check_of(profile: &profile::Profile, format: Format, options: FormatOptions, expected: &[u8]) {
    let printed = printed(profile, format, options);
    assert!(
        printed == expected,
        "printed:\n{}\nexpected:\n{}",
        printed.escape_ascii(),
        expected.escape_ascii()
    );
}

#[test]
fn ndjson() {
    let lines = [
        r#"{"time_ns":1445157017999,"pid":42,"tid":43,"comm":"a b;\"c","process":"a b;\"c","cpu":1,"event":"cpu-clock","period":4000000,"end":"root","frames":["#,
        r#"{"addr":"0x5555000011c0","module":"/opt/my app/t\"x","build_id":"d587e5ae","svma":"0x11c0","offset":"0x1c0","function":"inl2","file":"t\\.c","line":8,"inlined":true,"found_by":"sampled","kernel":false},"#,
        r#"{"addr":"0x5555000011c0","module":"/opt/my app/t\"x","build_id":"d587e5ae","svma":"0x11c0","offset":"0x1c0","function":"op;\"x\"","function_offset":16,"inlined":false,"found_by":"sampled","kernel":false},"#,
        r#"{"addr":"0x5555000010b1","module":"/opt/my app/t\"x","build_id":"d587e5ae","svma":"0x10b1","offset":"0xb1","function":"main","function_offset":49,"file":"t\\.c","line":12,"inlined":false,"found_by":"cfi","kernel":false}]}"#,
        "\n",
        r#"{"pid":42,"tid":43,"comm":"a b;\"c","process":"a b;\"c","event":"cycles:u","period":3,"end":"stack-exhausted","frames":["#,
        r#"{"addr":"0x7f00000010b1","module":"/opt/my app/t\"x","build_id":"d587e5ae","svma":"0x10b1","offset":"0xb1","function":"main","function_offset":49,"file":"t\\.c","line":12,"inlined":false,"found_by":"frame-pointer","kernel":false}]}"#,
        "\n",
        "{\"time_ns\":20000000000,\"pid\":123456,\"tid\":123456,\"comm\":\"\u{fffd}t\\n\",\"process\":\"\u{fffd}t\\n\",\"event\":\"cpu-clock\",\"end\":\"root\",\"frames\":[",
        r#"{"addr":"0xffffffff81d33dfb","module":"[kernel.kallsyms]","function":"read_zero","function_offset":123,"inlined":false,"found_by":"callchain","kernel":true},"#,
        r#"{"addr":"0x4010b1","module":"/opt/my app/t\"x","build_id":"d587e5ae","svma":"0x10b1","offset":"0xb1","function":"main","function_offset":49,"file":"t\\.c","line":12,"inlined":false,"found_by":"cfi","kernel":false}]}"#,
        "\n",
        "{\"pid\":123456,\"tid\":123456,\"comm\":\"\u{fffd}t\\n\",\"process\":\"\u{fffd}t\\n\",\"cpu\":1000,\"event\":\"cpu-clock\",\"end\":\"not-mapped\",\"frames\":[",
        "{\"addr\":\"0x7f0000001000\",\"module\":\"//anon\",\"function\":\"jit\\n\u{fffd}name\",\"inlined\":false,\"found_by\":\"sampled\",\"kernel\":false},",
        r#"{"addr":"0x600000002000","module":"/tmp/x.bin","offset":"0x2000","inlined":false,"found_by":"frame-pointer","kernel":false},"#,
        r#"{"addr":"0xdead","inlined":false,"found_by":"prologue","kernel":false}]}"#,
        "\n",
        r#"{"pid":-1,"tid":7,"comm":"","process":"","event":"cpu-clock","end":"no-user-regs","frames":[]}"#,
        "\n",
    ];
    check(Format::Ndjson, DEFAULT, lines.concat().as_bytes());
}

#[test]
fn ndjson_without_inlines() {
    let text =
        String::from_utf8(printed(&one_of_everything(), Format::Ndjson, NO_INLINE)).expect("UTF-8");
    assert!(!text.contains("inl2"));
    assert_eq!(text.matches("\"inlined\":false").count(), 8);
    assert_eq!(text.matches("\"inlined\":true").count(), 0);
}

#[test]
fn perf_script() {
    let text = b"a b;\"c    42/43    [001]  1445.157017:    4000000 cpu-clock: \n\
        \t    5555000011c0 inl2+0x10 (inlined)\n\
        \t    5555000011c0 op;\"x\"+0x10 (/opt/my app/t\"x)\n\
        \t    5555000010b1 main+0x31 (/opt/my app/t\"x)\n\
        \n\
        a b;\"c    42/43             3  cycles:u: \n\
        \t    7f00000010b1 main+0x31 (/opt/my app/t\"x)\n\
        \n\
        \xfft\\n 123456/123456    20.000000: cpu-clock: \n\
        \tffffffff81d33dfc read_zero+0x7c ([kernel.kallsyms])\n\
        \t          4010b1 main+0x31 (/opt/my app/t\"x)\n\
        \n\
        \xfft\\n 123456/123456 [1000] cpu-clock: \n\
        \t    7f0000001000 jit\\n\xffname (//anon)\n\
        \t    600000002000 [unknown] (/tmp/x.bin)\n\
        \t            dead [unknown] ([unknown])\n\
        \n\
        :7    -1/7     cpu-clock: \n\
        \n";
    let text = text.as_slice();
    // 1445157017999 ns are 1445.157017 s with truncated microseconds, as in perf.
    check(Format::PerfScript, DEFAULT, text);
    let without: Vec<&[u8]> = text
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| !line.ends_with(b"(inlined)\n"))
        .collect();
    check(Format::PerfScript, NO_INLINE, &without.concat());
}

#[test]
fn perf_script_headers_begin_with_a_letter() {
    let mut profile = one_of_everything();
    profile.samples.truncate(2);
    profile.threads.as_mut_slice()[0].comm = profile.strings.intern(b" #x");
    let text = printed(&profile, Format::PerfScript, DEFAULT);
    assert!(text.starts_with(b"\\x20#x    42/43    ["), "{}", text.escape_ascii());
    profile.threads.as_mut_slice()[0].comm = profile.strings.intern(b"# x");
    assert!(printed(&profile, Format::PerfScript, DEFAULT).starts_with(b"\\x23 x    42/43    ["));
}

#[test]
fn folded() {
    let complete = b"a b:\"c;main;op:\"x\";inl2 1\n";
    let text = [
        b"[unknown];[truncated] 1\n".as_slice(),
        complete,
        b"a b:\"c;[truncated];main 1\n",
        b"\xfft\\n;main;read_zero 1\n",
        b"\xfft\\n;[truncated];[unknown];[x.bin];jit\\n\xffname 1\n",
    ];
    check_of(&of_one_event(), Format::Folded, DEFAULT, &text.concat());

    let options =
        FormatOptions { keep_unrooted: true, inlines: false, kernel_suffix: true, ..DEFAULT };
    let text = [
        b"[unknown] 1\n".as_slice(),
        b"a b:\"c;main 1\n",
        b"a b:\"c;main;op:\"x\" 1\n",
        b"\xfft\\n;[unknown];[x.bin];jit\\n\xffname 1\n",
        b"\xfft\\n;main;read_zero_[k] 1\n",
    ];
    check_of(&of_one_event(), Format::Folded, options, &text.concat());
}

#[test]
fn folded_roots_and_reverse() {
    let options = FormatOptions {
        root: StackRoot::Thread.into(),
        reverse: true,
        keep_unrooted: true,
        ..DEFAULT
    };
    let text = [
        b"[unknown]--1/7 1\n".as_slice(),
        b"a b:\"c-42/43;inl2;op:\"x\";main 1\n",
        b"a b:\"c-42/43;main 1\n",
        b"\xfft\\n-123456/123456;jit\\n\xffname;[x.bin];[unknown] 1\n",
        b"\xfft\\n-123456/123456;read_zero;main 1\n",
    ];
    check_of(&of_one_event(), Format::Folded, options, &text.concat());
    let options = FormatOptions { root: StackRoot::Process.into(), ..DEFAULT };
    assert_eq!(
        printed(&of_first_event(), Format::Folded, options),
        b"a b:\"c-42;[truncated];main 1\n"
    );
    let text = [
        b"[no frames] 1\n".as_slice(),
        b"[unknown];[x.bin];jit\\n\xffname 1\n",
        b"main 1\n",
        b"main;op:\"x\";inl2 1\n",
        b"main;read_zero 1\n",
    ];
    let options = FormatOptions { root: StackRoot::None.into(), keep_unrooted: true, ..DEFAULT };
    check_of(&of_one_event(), Format::Folded, options, &text.concat());
}

/// Returns a profile with the samples of the first event only.
fn of_first_event() -> profile::Profile {
    let mut profile = one_of_everything();
    let samples = std::mem::take(&mut profile.samples).into_iter();
    profile.samples = samples.filter(|sample| sample.event.index() == 0).collect();
    profile
}

#[test]
fn folded_weights() {
    let options = FormatOptions { weight: StackWeight::Period, keep_unrooted: true, ..DEFAULT };
    assert_eq!(printed(&of_first_event(), Format::Folded, options.clone()), b"a b:\"c;main 3\n");
    let mut profile = one_of_everything();
    let mut again = profile.samples.as_slice()[0];
    profile.samples.push(again);
    // Equal names at different addresses are one line.
    profile.samples.truncate(1);
    again.layout = LayoutId::new(1);
    profile.samples.push(again);
    assert_eq!(printed(&profile, Format::Folded, options), b"a b:\"c;main;op:\"x\";inl2 8000000\n");
}

#[test]
fn json() {
    let text =
        String::from_utf8(printed(&one_of_everything(), Format::Json, DEFAULT)).expect("UTF-8");
    let version = env!("CARGO_PKG_VERSION");
    let lines = [
        &format!(
            r#"{{"meta":{{"schema":"unwind-perf-stacks","version":1,"revision":12,"generator":"unwind-perf {version}"}},"#
        ),
        r#""recording":{"command_line":["perf","record","--call-graph","dwarf,16384"],"hostname":"box","arch":"x86_64","cpus_online":2},"#,
        r#""words":{"end":["root","root-across-gap","stack-exhausted","memory-not-recorded","other-stack","register-unknown","not-mapped","anonymous-memory","no-module","no-unwind-info","bad-unwind-info","no-progress","max-frames","kernel-only","no-user-regs","no-user-stack","unsupported-abi","recorded","guest","return-probe","no-switch","unproven-root"],"found_by":["sampled","cfi","callchain","call-stack","leaf-rule","prologue","code","frame-pointer","scan","joined","gap","tail-call","tail-calls"],"module_kind":["elf","file","anonymous","kernel"]},"#,
        "\"strings\":[\"cycles:u\",\"cpu-clock\",\"/debug/t\",\"/opt/my app/t\\\"x\",\"[kernel.kallsyms]\",\"/tmp/x.bin\",\"//anon\",\"inl2\",\"t\\\\.c\",\"op;\\\"x\\\"\",\"main\",\"read_zero\",\"jit\\n\u{fffd}name\",\"a b;\\\"c\",\"\u{fffd}t\\n\",\"\",\"box\",\"x86_64\",\"perf\",\"record\",\"--call-graph\",\"dwarf,16384\"],",
        r#""events":{"length":2,"name":[0,1]},"#,
        r#""modules":{"length":4,"path":[3,4,5,6],"opened":[2,null,null,null],"build_id":["d587e5ae",null,null,null],"kind":[0,3,1,2]},"#,
        r#""inlines":{"length":5,"function":[7,9,10,11,12],"file":[8,null,8,null,null],"line":[8,null,12,null,null],"column":[3,null,null,null,null],"inlined":[true,false,false,false,false],"declared_file":[null,null,null,null,null],"declared_line":[null,null,null,null,null]},"#,
        r#""locations":{"length":6,"module":[0,0,1,null,2,3],"relative":["0x11c0","0x10b1","0xffffffff81d33dfb","0xdead","0x2000","0x7f0000001000"],"offset":["0x1c0","0xb1",null,null,"0x2000",null],"function_offset":[16,49,123,null,null,null],"first_inline":[0,2,3,4,4,4],"n_inlines":[2,1,1,0,0,1]},"#,
        r#""frames":{"length":7,"location":[0,1,1,2,3,4,5],"found_by":[0,1,7,2,5,7,0],"kernel":[false,false,false,true,false,false,false],"instance":[0,0,1,0,0,0,0]},"#,
        r#""stacks":{"length":7,"parent":[null,0,null,0,null,4,5],"frame":[1,0,2,3,4,5,6]},"#,
        r#""layouts":{"length":2,"biases":[[[0,0,"0x555500000000"],[0,1,"0x7f0000000000"],[2,0,"0x600000000000"]],[[0,0,"0x400000"]]]},"#,
        r#""threads":{"length":3,"pid":[42,123456,-1],"tid":[43,123456,7],"comm":[13,14,15],"process":[13,14,15]},"#,
        r#""samples":{"length":5,"time_ns":[1445157017999,null,20000000000,null,null],"thread":[0,0,1,1,2],"event":[1,0,1,1,1],"end":[0,2,0,6,14],"cpu":[1,null,null,1000,null],"period":[4000000,3,null,null,null],"stack":[1,2,3,6,null],"layout":[0,0,1,0,1]},"#,
        r#""summary":{"samples":5,"samples_joined":0,"samples_with_gap":0,"samples_with_tail_calls":0,"samples_with_unknown_tail_calls":0,"samples_filtered":1200,"samples_dropped":0,"frames":9,"lost_samples":1,"lost_records":0,"throttled":0,"lost_by_event":[{"event":1,"samples":1,"records":0}],"end":[2,0,1,0,0,0,1,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0],"found_by":[2,2,1,0,0,1,0,2,0,0,0,0,0],"stack_needs":{"recorded":16384,"sizes":[4096,8192,16384,32768,65528],"whole":[1,0,1,0,0,0],"joined":[0,0,0,0,0,0],"across_gap":[0,0,0,0,0,0],"cut":1,"suggested":{"bytes":32768}},"losses":[{"module":2,"samples":1,"reason":"the file is missing","help":"give \"x\"","remedy":"give-file"},{"samples":1,"reason":"nothing is mapped there","help":""}],"findings":[{"kind":"build-id-mismatch","count":3,"message":"\"a\"\nother"}]}}"#,
    ];
    assert_eq!(text.lines().count(), lines.len());
    for (printed, expected) in text.lines().zip(lines) {
        assert_eq!(printed, expected);
    }
}

#[test]
fn json_without_inlines() {
    let text =
        String::from_utf8(printed(&one_of_everything(), Format::Json, NO_INLINE)).expect("UTF-8");
    assert!(text.contains(r#""inlines":{"length":4,"function":[9,10,11,12],"#));
    assert!(text.contains(r#""first_inline":[0,1,2,3,3,3],"n_inlines":[1,1,1,0,0,1]}"#));
}

#[test]
fn nothing_is_printed_for_nothing() {
    for format in [Format::Ndjson, Format::PerfScript, Format::Folded] {
        assert_eq!(printed(&empty(), format, DEFAULT), b"");
    }
}
