//! Off-CPU times: formats for one event show this one, the others show it in addition to the recorded ones.

use address::Timestamp;
use formats::{Format, FormatOptions, StackWeight};
use profile::{EventRow, Profile, ThreadId, ThreadState, ThreadWithoutSwitch, WaitKind};
use serde_json::{Value, json};

use crate::support::graphs::{fields, pprof_bytes};
use crate::support::sample_profile::one_of_everything;
use crate::{firefox, page, printed};

const OFF_CPU: FormatOptions =
    FormatOptions { weight: StackWeight::OffCpu, ..FormatOptions::DEFAULT };

/// A thread that was switched out twice at the stack of its first sample.
fn waiting() -> Profile {
    let mut profile = one_of_everything();
    let name = profile.strings.intern(b"off-cpu");
    let row = EventRow { name, kind: 1, config: 0, frequency: false, rate: 1 };
    let event = profile.events.push(row);
    profile.off_cpu = Some(event);
    let mut row = profile.samples.as_slice()[0];
    row.event = event;
    for (nanoseconds, kind) in [(7_000_000, WaitKind::Futex), (500, WaitKind::Preempted)] {
        profile.samples.push(row.with_period(Some(nanoseconds)).with_wait(kind, false));
    }
    profile
}

#[test]
fn folded_stacks_count_it_alone() {
    let text = printed(&waiting(), Format::Folded, OFF_CPU);
    assert_eq!(text.escape_ascii().to_string(), "a b:\\\"c;main;op:\\\"x\\\";inl2 7000500\\n");
    let by_samples = printed(&waiting(), Format::Folded, FormatOptions::DEFAULT);
    let recorded = printed(&one_of_everything(), Format::Folded, FormatOptions::DEFAULT);
    assert_eq!(by_samples, recorded, "it is none of the recorded events");
}

#[test]
fn speedscope_begins_with_it() {
    let text = printed(&waiting(), Format::Speedscope, OFF_CPU);
    let document: Value = serde_json::from_slice(&text).expect("valid JSON");
    let first = &document["profiles"][0];
    assert_eq!(first["name"], "all threads, off-cpu");
    assert_eq!((&first["unit"], &first["weights"]), (&json!("nanoseconds"), &json!([7_000_500])));
    assert_eq!(document["profiles"][3]["name"], "a b;\"c 42/43, off-cpu");
    assert_eq!(document["profiles"][3]["weights"], json!([7_000_000, 500]));
}

/// The weight is not CPU time.
#[test]
fn firefox_has_a_track_for_it() {
    let document = firefox::document(&waiting(), OFF_CPU);
    let threads = document["threads"].as_array().expect("threads");
    let is_off = |thread: &&Value| thread["name"].as_str().is_some_and(|it| it.contains("off-cpu"));
    let samples = &threads.iter().find(is_off).expect("a track")["samples"];
    assert_eq!(samples["weight"], json!([7, 0.0005]));
    assert_eq!(samples["weightType"], "tracing-ms");
    assert_eq!(samples["threadCPUDelta"], Value::Null);
}

#[test]
fn graphs_have_a_value_for_it() {
    let text = printed(&waiting(), Format::Callgrind, OFF_CPU);
    let text = text.escape_ascii().to_string();
    assert!(text.contains("events: Samples cycles:u cpu-clock off-cpu\\n"), "{text}");
    assert!(text.contains("totals: 7 3 4000003 7000500\\n"), "{text}");
    let plain = pprof_bytes(&waiting(), OFF_CPU);
    let top = fields(&plain);
    let strings: Vec<&[u8]> = top.iter().filter(|row| row.0 == 6).map(|row| row.2).collect();
    let default = top.iter().find(|row| row.0 == 14).expect("a default type").1;
    assert_eq!(strings[default as usize], b"off-cpu");
}

/// JSON lists each thread without a switch if off-CPU times were requested.
#[test]
fn json_lists_threads_without_a_switch() {
    let mut profile = waiting();
    let row = ThreadWithoutSwitch {
        thread: ThreadId::new(1),
        state: ThreadState::Asleep,
        since: Timestamp(5),
        duration: 7,
    };
    profile.summary.threads_without_switch.push(row);
    let text = printed(&profile, Format::Json, OFF_CPU);
    let document: Value = serde_json::from_slice(&text).expect("valid JSON");
    let expected = json!([{"thread": 1, "state": "asleep", "since_ns": 5, "duration_ns": 7}]);
    assert_eq!(document["summary"]["unswitched"], expected);
    profile.off_cpu = None;
    let text = printed(&profile, Format::Json, FormatOptions::DEFAULT);
    let document: Value = serde_json::from_slice(&text).expect("valid JSON");
    assert_eq!(document["summary"].get("unswitched"), None);
}

/// Equal stacks of two kinds are two leaves. Pages without such times have neither kinds nor their column.
#[test]
fn the_page_has_kinds_of_waits() {
    let mut profile = waiting();
    let (head, bytes) = page::tables(&profile);
    profile.off_cpu_is_extra = true;
    let (of_later, _) = page::tables(&profile);
    assert_eq!((&head["offCpu"], &head["waits"][8]), (&json!(2), &json!("preempted")));
    assert_eq!((head.get("offCpuLater"), &of_later["offCpuLater"]), (None, &json!(1)));
    let columns = page::columns(&head, &bytes);
    let leaf_of = |sample: usize| columns["leafWait"][columns["leaf"][sample] as usize];
    let samples = columns["leaf"].len();
    assert_eq!([leaf_of(0), leaf_of(samples - 2), leaf_of(samples - 1)], [255.0, 0.0, 8.0]);
    let (head, bytes) = page::tables(&one_of_everything());
    assert_eq!((head.get("offCpu"), head.get("waits")), (None, None));
    assert!(!page::columns(&head, &bytes).contains_key("leafWait"));
}
