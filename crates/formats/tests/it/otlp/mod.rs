//! The OTLP profiles of a small profile, field by field.

mod rules;

use address::{FieldKind, Timestamp};
use formats::{Format, FormatOptions};
use profile::{FieldValue, Profile, SampleId, WallClock};

use crate::printed;
use crate::support::graphs::fields;
use crate::support::sample_profile::{empty, one_of_everything};

/// Paths of the fields that contain messages.
const MESSAGES: &[&str] = &[
    ".1", ".1.1", ".1.1.1", ".1.1.1.2", ".1.2", ".1.2.1", ".1.2.2", ".1.2.2.1", ".1.2.2.2",
    ".1.2.2.5", ".2", ".2.1", ".2.2", ".2.2.3", ".2.3", ".2.4", ".2.6", ".2.6.2", ".2.7",
];

/// Formats the fields of a message: numbers, texts, packed lists of small numbers, messages in braces.
fn shown(bytes: &[u8], path: &str) -> String {
    let fields = fields(bytes).into_iter().map(|(field, value, content)| {
        let path = format!("{path}.{field}");
        if MESSAGES.contains(&path.as_str()) {
            let inner = if value == 0 { String::new() } else { shown(content, &path) };
            return format!("{field}{{{inner}}}");
        }
        match std::str::from_utf8(content) {
            Ok("") => format!("{field}:{value}"),
            // The id of a profile is a hash.
            _ if path == ".1.2.2.7" => format!("{field}:{} bytes", content.len()),
            Ok(text) if text.chars().all(|char| !char.is_control() || char == '\n') => {
                format!("{field}:{text:?}")
            }
            _ => format!("{field}:{content:?}"),
        }
    });
    fields.collect::<Vec<_>>().join(" ")
}

fn otlp(profile: &Profile) -> String {
    shown(&printed(profile, Format::Otlp, FormatOptions::DEFAULT), "")
}

/// A sample of a clock has only its time, which counts as one sample.
#[test]
fn a_sample_with_its_time() {
    let mut profile = one_of_everything();
    profile.samples.truncate(1);
    profile.recording.wall_clock = WallClock::new(Timestamp(0), 1_700_000_000_000_000_000, true);
    let profiles = r#"1{1{1{1:"service.name" 2{1:"a b;\"c"}} 1{1:"process.pid" 2{3:42}} 1{1:"host.name" 2{1:"box"}} 1{1:"host.arch" 2{1:"x86_64"}}} 2{1{1:"unwind-perf" 2:"VERSION"} 2{1{1:1 2:2} 5{1:3 2:4} 3:1700001445157017999 4:1 6:4000000 11:[1, 2] 2{1:1 2:[3, 4, 5, 6] 5:[143, 25, 60, 176, 78, 158, 151, 23]} 7:16 bytes}}}"#;
    let places = r#"2{1{} 1{1:4096 2:8192 4:11 5:[7]} 2{} 2{1:1 2:4544 3{1:1 2:8 3:3} 3{1:2} 4:[8, 9]} 2{1:1 2:4273 3{1:3 2:12} 4:[8, 10]} 3{} 3{1:13 3:14} 3{1:15} 3{1:18 3:14} 4{}"#;
    let names = r#"5:0 5:"samples" 5:"count" 5:"cpu" 5:"nanoseconds" 5:"unwind_perf.event" 5:"unwind_perf.time" 5:"thread.name" 5:"thread.id" 5:"cpu.logical_number" 5:"unwind_perf.end" 5:"/opt/my app/t\"x" 5:"process.executable.build_id.gnu" 5:"inl2" 5:"t\\.c" 5:"op;\"x\"" 5:"profile.frame.type" 5:"unwind_perf.found_by" 5:"main""#;
    let rest = r#"6{} 6{1:5 2{1:"cpu-clock"}} 6{1:6 2{1:"guessed"}} 6{1:7 2{1:"a b;\"c"}} 6{1:8 2{3:43}} 6{1:9 2{3:1}} 6{1:10 2{1:"root"}} 6{1:12 2{1:"d587e5ae"}} 6{1:16 2{1:"native"}} 6{1:17 2{1:"sampled"}} 6{1:17 2{1:"cfi"}} 7{} 7{1:[1, 2]}}"#;
    let expected = format!("{profiles} {places} {names} {rest}");
    assert_eq!(otlp(&profile), expected.replace("VERSION", env!("CARGO_PKG_VERSION")));
}

/// If a sample lacks a period, all samples of the event have the sum of the periods, and no times.
#[test]
fn weights_without_times() {
    let text = otlp(&one_of_everything());
    // 4,000,000 ns; 3 cycles; two samples of one nanosecond each; one of a task that had exited.
    for samples in [
        "2{1:1 2:[2, 3, 4, 5] 4:[128, 146, 244, 1]} 7:16 bytes}",
        "2{1:2 2:[2, 3, 11] 4:[3]} 7:16 bytes}",
        "2{1:3 2:[13, 14, 5] 4:[1]} 2{1:4 2:[13, 14, 17, 18] 4:[1]} 7:16 bytes}",
        "2{2:[20, 21, 22] 4:[1]} 7:16 bytes}",
    ] {
        assert!(text.contains(samples), "{samples}: {text}");
    }
    assert_eq!(text.matches("2{1{1:1 2:2} 5{1:1 2:2} 4:1425157018000 11:[1] 2{").count(), 3);
    assert_eq!(text.matches(r#"5:"cpu-clock" 5:"nanoseconds""#).count(), 1);
}

/// Labels and fields are attributes of their samples, which are counted apart.
#[test]
fn values_are_attributes() {
    let mut profile = one_of_everything();
    let event = profile.samples.as_slice()[2].event;
    let [query, text, bytes] =
        [&b"query"[..], b"select 1", b"bytes"].map(|text| profile.strings.intern(text));
    profile.fields.add_column(None, query, FieldKind::Text);
    profile.fields.add_column(Some(event), bytes, FieldKind::Unsigned);
    profile.fields.push(0, SampleId::new(2), FieldValue::Text(text));
    profile.fields.push(1, SampleId::new(2), FieldValue::Unsigned(4096));
    let text = otlp(&profile);
    for part in [r#"5:"query""#, r#"2{1:"select 1"}}"#, r#"5:"bytes""#, "2{3:4096}}"] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
}

#[test]
fn nothing() {
    assert_eq!(otlp(&empty()), "2{1{} 2{} 3{} 4{} 5:0 6{} 7{}}");
}
