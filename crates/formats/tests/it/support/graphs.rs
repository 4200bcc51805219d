//! The call graph formats: pprof, speedscope, callgrind.

use std::io::Read as _;

use formats::{Format, FormatOptions, StackWeight};
use profile::{FrameId, Profile, StackRow};
use serde_json::{Value, json};

use crate::printed;
use crate::support::sample_profile::{empty, of_one_event, one_of_everything};

const DEFAULT: FormatOptions = FormatOptions::DEFAULT;

#[test]
fn callgrind() {
    let text = printed(&one_of_everything(), Format::Callgrind, DEFAULT);
    let head = format!(
        "# callgrind format\nversion: 1\ncreator: unwind-perf {}\ncmd: perf record --call-graph dwarf,16384\n\
         positions: line\nevents: Samples cycles:u cpu-clock\nsummary: 5 3 4000003\n\n",
        env!("CARGO_PKG_VERSION")
    );
    let body = b"ob=(1) /opt/my app/t\"x\nfl=(1) t\\.c\nfn=(1) inl2\n8 1 0 4000000\n\n\
        ob=(1)\nfl=(2) ???\nfn=(2) op;\"x\"\ncob=(1)\ncfi=(1)\ncfn=(1)\ncalls=1 0\n0 1 0 4000000\n\n\
        ob=(1)\nfl=(1)\nfn=(3) main\n12 1 3 0\n\
        cob=(1)\ncfi=(2)\ncfn=(2)\ncalls=1 0\n12 1 0 4000000\n\
        cob=(2) [kernel.kallsyms]\ncfi=(2)\ncfn=(4) read_zero\ncalls=1 0\n12 1 0 1\n\n\
        ob=(2)\nfl=(2)\nfn=(4)\n0 1 0 1\n\n\
        ob=(3) ???\nfl=(2)\nfn=(5) [unknown]\ncob=(4) /tmp/x.bin\ncfi=(2)\ncfn=(5)\ncalls=1 0\n0 1 0 1\n\n\
        ob=(4)\nfl=(2)\nfn=(5)\ncob=(5) //anon\ncfi=(2)\ncfn=(6) jit\\n\xffname\ncalls=1 0\n0 1 0 1\n\n\
        ob=(5)\nfl=(2)\nfn=(6)\n0 1 0 1\n\n\
        ob=(3)\nfl=(2)\nfn=(7) a b;\"c\ncob=(1)\ncfi=(1)\ncfn=(3)\ncalls=2 0\n0 2 3 4000000\n\n\
        ob=(3)\nfl=(2)\nfn=(8) \xfft\\n\ncob=(1)\ncfi=(1)\ncfn=(3)\ncalls=1 0\n0 1 0 1\n\
        cob=(3)\ncfi=(2)\ncfn=(5)\ncalls=1 0\n0 1 0 1\n\n\
        ob=(3)\nfl=(2)\nfn=(9) [unknown]\n0 1 0 1\n\n\
        totals: 5 3 4000003\n";
    let expected = [head.as_bytes(), body].concat();
    assert!(
        text == expected,
        "printed:\n{}\nexpected:\n{}",
        text.escape_ascii(),
        expected.escape_ascii()
    );
}

/// main calls f, which calls main, which calls f: each counts once.
#[test]
fn callgrind_counts_recursion_once() {
    let mut profile = one_of_everything();
    profile.stacks.clear();
    let mut stack = None;
    for frame in [1, 3, 1, 3].map(FrameId::new) {
        stack = Some(profile.stacks.push(StackRow { parent: stack, frame }));
    }
    profile.samples.truncate(1);
    profile.samples.as_mut_slice()[0].stack = stack;
    let text = String::from_utf8(printed(&profile, Format::Callgrind, DEFAULT)).expect("UTF-8");
    let costs: Vec<&str> =
        text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
    // main's call of f; f's own cost; f's call of main, without cost since the thread has called it; the thread's call.
    assert_eq!(costs, ["12 1 4000000", "0 1 4000000", "0 0 0", "0 1 4000000"]);
    assert!(text.contains("calls=2 0\n12 1 4000000\n"));
    assert!(text.contains("calls=1 0\n0 0 0\n"));
    assert!(text.contains("\ntotals: 1 4000000\n"));
}

#[test]
fn speedscope() {
    let text = printed(&one_of_everything(), Format::Speedscope, DEFAULT);
    let document: Value = serde_json::from_slice(&text).expect("valid JSON");
    assert_eq!(
        document["shared"]["frames"],
        json!([
            {"name": "inl2", "file": "t\\.c"},
            {"name": "op;\"x\"", "file": "/opt/my app/t\"x"},
            {"name": "main", "file": "t\\.c"},
            {"name": "read_zero", "file": "[kernel.kallsyms]"},
            {"name": "[unknown]"},
            {"name": "[x.bin]", "file": "/tmp/x.bin"},
            {"name": "jit\n\u{fffd}name", "file": "//anon"},
            {"name": "[truncated]"},
            {"name": "a b;\"c"},
            {"name": "\u{fffd}t\n"},
            {"name": "[unknown]"},
        ])
    );
    let profile = |name: &str, weights: &[u64], samples: Value| {
        json!({"type": "sampled", "name": name, "unit": "none", "startValue": 0,
               "endValue": weights.iter().sum::<u64>(), "samples": samples, "weights": weights})
    };
    assert_eq!(
        document["profiles"],
        json!([
            profile("all threads, cycles:u", &[1], json!([[8, 7, 2]])),
            profile(
                "all threads, cpu-clock",
                &[1, 1, 1, 1],
                json!([[8, 2, 1, 0], [9, 2, 3], [9, 7, 4, 5, 6], [10, 7]])
            ),
            profile("\u{fffd}t\n 123456/123456, cpu-clock", &[1, 1], json!([[2, 3], [7, 4, 5, 6]])),
            profile("a b;\"c 42/43, cpu-clock", &[1], json!([[2, 1, 0]])),
            profile("a b;\"c 42/43, cycles:u", &[1], json!([[7, 2]])),
            profile(" -1/7, cpu-clock", &[1], json!([[7]])),
        ])
    );
    let options = FormatOptions { weight: StackWeight::Period, keep_unrooted: true, ..DEFAULT };
    let text = printed(&one_of_everything(), Format::Speedscope, options);
    let document: Value = serde_json::from_slice(&text).expect("valid JSON");
    assert_eq!(document["profiles"][1]["unit"], "nanoseconds");
    assert_eq!(document["profiles"][1]["weights"], json!([4_000_000, 1, 1, 1]));
    assert_eq!(document["profiles"][0]["unit"], "none");
    assert_eq!(document["profiles"][0]["samples"], json!([[8, 2]]));

    let text = printed(&empty(), Format::Speedscope, DEFAULT);
    let document: Value = serde_json::from_slice(&text).expect("valid JSON");
    assert_eq!(document["profiles"], json!([profile("no samples", &[], json!([]))]));
}

/// Browsers cannot hold more: above 100,000 samples, equal stacks of all threads are merged.
#[test]
fn speedscope_merges_what_is_too_much() {
    let profiles = |samples: usize| {
        let mut profile = one_of_everything();
        let first = profile.samples.as_slice()[0];
        let missing = samples - profile.samples.len();
        profile.samples.extend(std::iter::repeat_n(first, missing));
        let text = printed(&profile, Format::Speedscope, DEFAULT);
        let document: Value = serde_json::from_slice(&text).expect("valid JSON");
        document["profiles"].as_array().expect("profiles").clone()
    };
    let whole = profiles(100_000);
    let threads: Vec<&Value> = whole.iter().map(|profile| &profile["name"]).collect();
    assert_eq!(threads[2], "a b;\"c 42/43, cpu-clock");
    assert_eq!(whole[2]["samples"].as_array().expect("samples").len(), 99_996);
    let merged = profiles(100_001);
    let names: Vec<&Value> = merged.iter().map(|profile| &profile["name"]).collect();
    assert_eq!(names, ["all threads, cycles:u", "all threads, cpu-clock"]);
    assert_eq!(merged[1]["weights"], json!([99_997, 1, 1, 1]));
}

/// Removes a varint of a protocol buffer from the front.
fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a byte");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

/// Decodes a packed list of numbers.
pub(crate) fn numbers(mut bytes: &[u8]) -> Vec<i64> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes) as i64);
    }
    numbers
}

/// Splits a message into fields: number, numeric value, and bytes of other values.
pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        if let (1, Some((value, rest))) = (key & 7, bytes.split_first_chunk()) {
            fields.push((key >> 3, u64::from_le_bytes(*value), &[][..]));
            bytes = rest;
            continue;
        }
        let value = varint(&mut bytes);
        let content = if key & 7 == 2 { bytes.split_at(value as usize) } else { (&[][..], bytes) };
        bytes = content.1;
        fields.push((key >> 3, value, content.0));
    }
    fields
}

/// Returns the uncompressed pprof profile.
pub(crate) fn pprof_bytes(profile: &Profile, options: FormatOptions) -> Vec<u8> {
    let bytes = printed(profile, Format::Pprof, options);
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut plain).expect("gzip");
    plain
}

#[test]
fn pprof() {
    let plain = pprof_bytes(&one_of_everything(), DEFAULT);
    let top = fields(&plain);
    let all = |field| top.iter().filter(move |row| row.0 == field).map(|row| row.2);
    let strings: Vec<String> =
        all(6).map(|text| String::from_utf8(text.to_vec()).expect("UTF-8")).collect();
    assert_eq!(strings[0], "");
    let shown = |message: &[u8]| -> Vec<(u64, u64)> {
        fields(message).iter().map(|row| (row.0, row.1)).collect()
    };
    let name = |field: u64, message: &[u8]| {
        let at = shown(message).iter().find(|row| row.0 == field).map_or(0, |row| row.1);
        strings[at as usize].as_str()
    };
    let types: Vec<_> = all(1).map(|message| (name(1, message), name(2, message))).collect();
    assert_eq!(types, [("samples", "count"), ("cycles:u", "count"), ("cpu-clock", "nanoseconds")]);

    let samples: Vec<_> = all(2).map(fields).collect();
    let values: Vec<_> = samples.iter().map(|sample| sample[1].2).collect();
    // 1, 0 and 4,000,000 as varints. A sample without a period has the value 1, too.
    assert_eq!(values[0], b"\x01\x00\x80\x92\xf4\x01");
    assert_eq!(values[1], b"\x01\x03\x00");
    assert_eq!(values[2], b"\x01\x00\x01");
    assert_eq!(samples[0][0].2, [1, 2], "locations, innermost first");
    assert_eq!(samples[0].iter().filter(|row| row.0 == 3).count(), 5, "labels");
    let end = samples[1].last().expect("a label").2;
    assert_eq!((name(1, end), name(2, end)), ("end", "stack-exhausted"));

    let mappings: Vec<_> = all(3).map(shown).collect();
    let expected = [(1, 1), (2, 0x1000), (3, 0x2000), (4, 0)];
    assert_eq!(mappings[0].iter().take(3).copied().collect::<Vec<_>>(), expected[..3]);
    assert_eq!(name(6, all(3).next().expect("a mapping")), "d587e5ae");
    assert_eq!(all(4).count(), 6, "locations");
    let lines = fields(all(4).next().expect("a location"));
    let lines: Vec<_> = lines.iter().filter(|row| row.0 == 4).map(|row| shown(row.2)).collect();
    assert_eq!(lines, [vec![(1, 1), (2, 8), (3, 3)], vec![(1, 2)]]);
    let functions: Vec<_> = all(5).map(|message| (name(2, message), name(4, message))).collect();
    assert_eq!(functions[..2], [("inl2", "t\\.c"), ("op;\"x\"", "")]);
}

/// Source: Parca's `pkg/normalizer/validate.go`: ids are 1, 2, … in order, indices are within their tables, labels have
/// keys, and each sample has as many values as there are types. Pyroscope's merge requires a period type.
#[test]
fn pprof_is_what_receivers_take() {
    for profile in [one_of_everything(), empty(), of_one_event()] {
        let plain = pprof_bytes(&profile, DEFAULT);
        let top = fields(&plain);
        let all = |field| top.iter().filter(move |row| row.0 == field).map(|row| fields(row.2));
        let number = |message: &[(u64, u64, &[u8])], field: u64| {
            message.iter().find(|row| row.0 == field).map_or(0, |row| row.1)
        };
        let strings = top.iter().filter(|row| row.0 == 6).count() as u64;
        let types = all(1).count();
        let (mappings, locations, functions) = (all(3).count(), all(4).count(), all(5).count());
        for field in 3..=5 {
            let ids: Vec<_> = all(field).map(|message| number(&message, 1)).collect();
            assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "field {field}");
        }
        assert_eq!(all(11).count(), 1, "the type of the period");
        for location in all(4) {
            assert!(number(&location, 2) <= mappings as u64);
            for line in location.iter().filter(|row| row.0 == 4) {
                assert!((1..=functions as u64).contains(&number(&fields(line.2), 1)));
            }
        }
        for sample in all(2) {
            let packed =
                |field| sample.iter().find(|row| row.0 == field).map_or(&[][..], |it| it.2);
            assert!(packed(1).iter().all(|&id| id != 0 && usize::from(id) <= locations));
            // Each varint ends with a byte without its highest bit.
            assert_eq!(packed(2).iter().filter(|&&byte| byte < 0x80).count(), types);
            for label in sample.iter().filter(|row| row.0 == 3) {
                let label = fields(label.2);
                let (key, word, amount) = (number(&label, 1), number(&label, 2), number(&label, 3));
                assert!(key > 0 && key < strings && word < strings && word + amount > 0);
            }
        }
    }
}

#[test]
fn flame_graph() {
    let options = FormatOptions { keep_unrooted: true, ..DEFAULT };
    let picture = printed(&of_one_event(), Format::Flamegraph, options.clone());
    let picture = String::from_utf8(picture).expect("UTF-8");
    assert!(picture.contains(">perf record --call-graph dwarf,16384</text>"));
    for title in [
        "all (5 samples, 100%)",
        "main (1 samples, 20.00%)",
        "op:&quot;x&quot; (1 samples, 20.00%)",
        "jit\\n\u{fffd}name (1 samples, 20.00%)",
    ] {
        assert!(picture.contains(&format!("<title>{title}</title>")), "{title}\n{picture}");
    }
    let inverted = FormatOptions { inverted: true, ..options };
    assert_ne!(printed(&of_one_event(), Format::Flamegraph, inverted), picture.as_bytes());
    let nothing = printed(&empty(), Format::Flamegraph, DEFAULT);
    assert!(String::from_utf8_lossy(&nothing).contains("ERROR: No valid input"));
}
