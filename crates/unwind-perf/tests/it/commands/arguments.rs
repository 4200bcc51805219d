//! Arguments of the recorded program, which no format has without `--with-arguments`.

use std::io::Read as _;

use synth::{Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId};

use crate::support::cases::formats;
use crate::support::run::{Ran, empty_folder, run};

/// An argument of the recorded program, and a variable that `env` sets for it.
const PRIVATE: [&str; 2] = ["--password=hunter2", "KEY=hunter2"];

fn recording() -> Vec<u8> {
    let mut it = PerfDataBuilder::new(Endian::Little);
    it.event("cycles:u", EventAttr::dwarf(0x00ff_0fff), &[5]);
    it.describe_events().feature(&Feature::Arch("x86_64"));
    let [argument, variable] = PRIVATE;
    let words = ["perf", "record", "-F", "99", "--", "env", variable, "/srv/app", argument];
    it.feature(&Feature::Cmdline(&words));
    it.record_at(
        &Record::Comm { pid: 3, tid: 3, comm: b"app", exec: true },
        SampleId::at(3, 3, 90),
    );
    it.sample_of(
        0,
        &SampleBuilder { id: 5, ..SampleBuilder::at(0x1000, 3, 3, 100).with_regs(&[0; 20]) },
    );
    it.build()
}

/// Returns the output without its compression.
fn unpacked(ran: Ran) -> Vec<u8> {
    let bytes = ran.expect_status(0).stdout;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(&*bytes).read_to_end(&mut text).expect("gzip");
    text
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

#[test]
fn no_format_has_them_unless_they_are_wanted() {
    let folder = empty_folder("arguments");
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    let mut with = Vec::new();
    for format in formats() {
        let printed = |more: &[&str]| {
            unpacked(run(&folder, &[&["perf.data", "-q", "-f", &format], more].concat()))
        };
        let usual = printed(&[]);
        assert!(!has(&usual, "hunter2"), "{format}");
        let wanted = printed(&["--with-arguments"]);
        if PRIVATE.iter().all(|word| has(&wanted, word)) {
            assert!(has(&usual, "/srv/app"), "{format}");
            with.push(format);
        } else if format == "otlp" {
            // The process has its arguments, not the recorder's.
            assert!(has(&wanted, "/srv/app --password=hunter2"), "{format}");
        } else {
            assert!(!has(&wanted, "hunter2"), "{format}");
        }
    }
    // The page packs its facts.
    let expected =
        ["json", "pprof", "firefox", "callgrind", "hotspot", "flamegraph", "parquet", "arrow"];
    assert_eq!(with, expected);
}

#[test]
fn the_recorder_s_options_stay() {
    let folder = empty_folder("arguments-of-json");
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    let words = |more: &[&str]| {
        let json = run(&folder, &[&["perf.data", "-q"], more].concat()).expect_status(0).json();
        json["recording"]["command_line"].clone()
    };
    let [argument, variable] = PRIVATE;
    let usual = ["perf", "record", "-F", "99", "--", "/srv/app"];
    assert_eq!(words(&[]), serde_json::json!(usual));
    let all = ["perf", "record", "-F", "99", "--", "env", variable, "/srv/app", argument];
    assert_eq!(words(&["--with-arguments"]), serde_json::json!(all));
}

#[test]
fn a_bundle_without_stacks_has_none() {
    let folder = empty_folder("arguments-of-bundle");
    std::fs::write(folder.join("perf.data"), recording()).expect("written");
    let line = |more: &[&str]| {
        run(&folder, &[&["bundle", "-q", "-o", "a.upb"], more].concat()).expect_status(0);
        let info = run(&folder, &["info", "--json", "a.upb"]).expect_status(0).json();
        info["command_line"].clone()
    };
    let [argument, variable] = PRIVATE;
    let all = ["perf", "record", "-F", "99", "--", "env", variable, "/srv/app", argument];
    assert_eq!(line(&[]), serde_json::json!(all));
    assert_eq!(line(&["--no-stacks", "--with-arguments"]), serde_json::json!(all));
    let kept = ["perf", "record", "-F", "99", "--", "/srv/app"];
    assert_eq!(line(&["--no-stacks"]), serde_json::json!(kept));
}
