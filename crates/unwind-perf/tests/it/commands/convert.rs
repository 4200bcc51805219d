//! `inject --convert-callchain`: the callchains are those of the stacks.

use std::path::Path;

use serde_json::Value;
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, PipeLayout, RecordingParts, SampleBuilder,
    sample_type,
};

use crate::support::cases::{Case, sysroot};
use crate::support::run::{Ran, empty_folder, run, run_with_input};

/// Converts the recording of a case into `folder`.
fn convert(case: &Case, folder: &Path) -> Ran {
    let (input, files) = (case.folder.join("perf.data"), sysroot());
    let (input, files) = (input.to_str().expect("UTF-8"), files.to_str().expect("UTF-8"));
    let output = format!("{}.data", case.name);
    let words = ["inject", "--convert-callchain", input, "-o", &output, "--sysroot", files];
    run(folder, &words)
}

/// Returns an output of the recording of a case, and of the converted one.
fn both(case: &Case, folder: &Path, format: &str) -> [Vec<u8>; 2] {
    let (input, files) = (case.folder.join("perf.data"), sysroot());
    let (input, files) = (input.to_str().expect("UTF-8"), files.to_str().expect("UTF-8"));
    let output = format!("{}.data", case.name);
    [input, &output].map(|path| {
        let words = [path, "-q", "-f", format, "--sysroot", files];
        run(folder, &words).expect_status(0).stdout
    })
}

#[test]
fn converted_recordings_have_the_stacks_of_the_original() {
    let folder = empty_folder("convert");
    let mut converted = 0;
    for case in Case::all() {
        // Kernel symbols and JIT code of a case need further arguments, which are not the subject here.
        let ran = convert(&case, &folder).expect_status(0);
        assert!(ran.stderr.contains(" samples have callchains, "), "{}: {}", case.name, ran.stderr);
        let [before, after] = both(&case, &folder, "ndjson");
        assert!(before == after, "{}: other samples", case.name);
        let size = |path: &Path| std::fs::metadata(path).expect("a file").len();
        let output = folder.join(format!("{}.data", case.name));
        let [large, small] = [&case.folder.join("perf.data"), &output].map(|it| size(it));
        assert!(small < large, "{}: {small} of {large} bytes", case.name);
        converted += 1;
    }
    assert!(converted > 40, "{converted}");
}

#[test]
fn streams_are_converted_as_they_arrive() {
    let folder = empty_folder("convert-stream");
    let files = sysroot();
    let files = files.to_str().expect("UTF-8");
    let words = |output| ["inject", "--convert-callchain", "-", "-o", output, "--sysroot", files];
    for name in ["recursion-rs", "off-cpu"] {
        let bytes = Case::named(name).bytes();
        let stream = RecordingParts::read(&bytes).expect("a plain file").pipe();
        let ran = run_with_input(&folder, &words("out.data"), &stream).expect_status(0);
        assert!(ran.stderr.contains(" samples have callchains, "), "{}", ran.stderr);
        // As a file: a stream states the build-ids of the kernel at its end.
        std::fs::write(folder.join("stream"), &stream).expect("written");
        let [converted, original] = ["out.data", "stream"].map(|input| {
            let words = [input, "-q", "-f", "ndjson", "--sysroot", files];
            run(&folder, &words).expect_status(0).stdout
        });
        assert!(converted == original, "{name}");
    }
    let foreign = PerfDataBuilder::new(Endian::Big);
    let ran = run_with_input(&folder, &words("big.data"), &stream_of(foreign));
    let message =
        "the stream is of a big-endian machine; save it to a file, which can be rewritten";
    assert!(ran.status == 2 && ran.stderr.contains(message), "{} {}", ran.status, ran.stderr);
}

/// Returns the stream of a recording with one sample.
fn stream_of(mut recording: PerfDataBuilder) -> Vec<u8> {
    recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    recording.sample(&SampleBuilder::at(0x40_0000, 7, 7, 10));
    recording.build_pipe(&PipeLayout::default())
}

/// Ids of frames that were added to walked chains follow another order; all else is equal but for the needed stack.
#[test]
fn the_json_differs_in_the_needed_stack() {
    let folder = empty_folder("convert-json");
    let case = Case::named("recursion-rs");
    convert(&case, &folder).expect_status(0);
    let [before, mut after] = both(&case, &folder, "json")
        .map(|bytes| serde_json::from_slice::<Value>(&bytes).expect("JSON"));
    assert_eq!(before["summary"]["stack_needs"]["recorded"], 4096);
    assert_eq!(after["summary"]["stack_needs"]["recorded"], 0);
    after["summary"]["stack_needs"] = before["summary"]["stack_needs"].clone();
    assert!(before == after);
}

#[test]
fn options_of_the_unwinder_are_refused() {
    let folder = empty_folder("convert-options");
    convert(&Case::named("plt"), &folder).expect_status(0);
    for (words, option) in [
        (&["--no-join"][..], "--join"),
        (&["--join", "exact"], "--join"),
        (&["--no-tail-calls"], "--no-tail-calls"),
        (&["--max-frames", "3"], "--max-frames"),
    ] {
        let ran = run(&folder, &[&["plt.data", "-f", "json"], words].concat()).expect_status(2);
        let expected = format!(
            "unwind-perf: {option} is for recordings with stacks, and this one has finished callchains; apply it to the \
             recording that they were made from\n"
        );
        assert_eq!(ran.stderr, expected);
    }
}

/// Returns a recording with callchains of the recorder: with and without contexts, and one in the kernel.
fn recorded_chains() -> Vec<u8> {
    const USER: u64 = -512_i64 as u64;
    const KERNEL: u64 = -128_i64 as u64;
    let mut attr = EventAttr::dwarf(0);
    attr.sample_type &= !(sample_type::REGS_USER | sample_type::STACK_USER);
    let mut recording = PerfDataBuilder::new(Endian::Little);
    recording.event("cycles", attr, &[1]);
    recording.describe_events().feature(&Feature::Arch("x86_64"));
    let kernel = 0xffff_8000_0000_1000;
    for (time, ip, callchain) in [
        (1, 0x40_1000, vec![USER, 0x40_1000, 0x40_2005, 0x40_3005]),
        (2, 0x40_1000, vec![0x40_1000, 0x40_2005]),
        (3, kernel, vec![KERNEL, kernel, USER, 0x40_1000, 0x40_2005]),
    ] {
        let sample = SampleBuilder::at(ip, 7, 7, time);
        recording.sample(&SampleBuilder { callchain, ..sample });
    }
    recording.build()
}

#[test]
fn callchains_of_a_recorder_stay() {
    let folder = empty_folder("convert-recorded");
    std::fs::write(folder.join("in.data"), recorded_chains()).expect("written");
    let frames = |name: &str| run(&folder, &[name, "-q", "-f", "ndjson"]).expect_status(0);
    let before = frames("in.data");
    assert!(before.text().contains(r#""addr":"0x402004""#), "{}", before.text());
    let names = ["in.data", "once.data", "twice.data"];
    for pair in names.windows(2) {
        run(&folder, &["inject", "--convert-callchain", pair[0], "-o", pair[1]]).expect_status(0);
        assert_eq!(frames(pair[1]).text(), before.text(), "{}", pair[1]);
    }
}

#[test]
fn finished_callchains_stay_in_a_bundle() {
    let (folder, case) = (empty_folder("convert-bundle"), Case::named("tailcall"));
    convert(&case, &folder).expect_status(0);
    let files = sysroot();
    let files = ["--sysroot", files.to_str().expect("UTF-8")];
    let bundle = ["bundle", "-q", "--no-stacks", "tailcall.data", "-o", "x.upb"];
    run(&folder, &[&bundle[..], &files].concat()).expect_status(0);
    let [before, _] = both(&case, &folder, "ndjson");
    let after = run(&folder, &["x.upb", "-q", "-f", "ndjson"]).expect_status(0).stdout;
    assert!(before == after, "{}", String::from_utf8_lossy(&after));
}

/// Evidence that does not fit its sample is left out: the callchain then counts as one of a recorder.
#[test]
fn evidence_for_other_callchains_is_not_used() {
    let folder = empty_folder("convert-damaged");
    convert(&Case::named("plt"), &folder).expect_status(0);
    let path = folder.join("plt.data");
    let whole = std::fs::read(&path).expect("a recording");
    let keyword = whole.windows(12).rposition(|it| it == b"root-across-").expect("the section");
    // Samples with the end `recorded`, and whether the section was ignored.
    let recorded = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let ran = run(&folder, &["plt.data", "-q", "-f", "json"]);
        let document = ran.expect_status(0).json();
        let findings = document["summary"]["findings"].as_array().expect("findings").clone();
        let is_ignored = findings.iter().any(|it| it["kind"] == "feature-ignored");
        let ran = run(&folder, &["plt.data", "-q", "-f", "ndjson"]).expect_status(0);
        (ran.text().matches(r#""end":"recorded""#).count(), is_ignored)
    };
    assert_eq!(recorded(&whole), (0, false));
    // Of another version: the keyword `root` is unknown.
    let mut other = whole.clone();
    other[keyword - 5..keyword - 1].copy_from_slice(b"Root");
    assert_eq!(recorded(&other), (19, false));
    let mut damaged = whole;
    let last = damaged.len() - 1;
    damaged[last] = 0x7f;
    assert_eq!(recorded(&damaged), (19, true));
}
