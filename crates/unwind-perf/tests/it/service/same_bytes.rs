//! Answers over HTTP have exactly the bytes that the command writes.

use std::os::unix::fs::symlink;

use serde_json::json;
use synth::{
    Endian, EventAttr, PerfDataBuilder, Record, SampleBuilder, SampleId, attr_flag, sample_type,
};

use super::client::Served;
use crate::support::cases::{Case, formats, root, sysroot};
use crate::support::run::{empty_folder, run};

#[test]
fn every_format_of_every_case_has_the_bytes_of_the_command() {
    let sysroot = sysroot();
    let sysroot = sysroot.to_str().unwrap();
    let cases = root().join("testdata/cases");
    let served = Served::start("formats", &cases, &[".", "--sysroot", sysroot]);
    let rows = served.recordings();
    assert_eq!(rows.len(), Case::all().len());
    let formats = formats();
    for row in rows {
        let (id, name) = (row["id"].as_str().unwrap(), row["name"].as_str().unwrap());
        for format in &formats {
            let path = format!("/api/v1/recordings/{id}/export?format={format}");
            let answer = served.get(&path);
            let arguments = [name, "--sysroot", sysroot, "--quiet", "--format", format];
            let written = run(&cases, &arguments);
            assert_eq!(answer.status, 200, "{name} {format}: {answer:?}");
            assert!(answer.body == written.stdout, "{name} as {format} is not the same");
        }
    }
}

#[test]
fn differences_have_the_bytes_of_the_command() {
    let folder = empty_folder("service-diff-root");
    for (name, case) in [("a.data", "spin-lld"), ("b.data", "spin-bfd")] {
        symlink(Case::named(case).folder.join("perf.data"), folder.join(name)).unwrap();
    }
    // Links out of a root are not followed, so the recordings are named directly.
    let served = Served::start("links", &folder, &["."]);
    assert_eq!(served.recordings().len(), 0);
    drop(served);
    for (name, case) in [("a.data", "spin-lld"), ("b.data", "spin-bfd")] {
        std::fs::remove_file(folder.join(name)).unwrap();
        std::fs::copy(Case::named(case).folder.join("perf.data"), folder.join(name)).unwrap();
    }
    let sysroot = sysroot();
    let sysroot = sysroot.to_str().unwrap();
    let served = Served::start("diff", &folder, &["a.data", "b.data", "--sysroot", sysroot]);
    let (a, b) = (served.id("a.data"), served.id("b.data"));
    for format in ["text", "json", "folded", "pprof"] {
        let body = json!({ "a": [a], "b": [b], "format": format });
        let answer = served.ask("POST", "/api/v1/diff", Some(&body));
        let arguments =
            ["diff", "a.data", "b.data", "--sysroot", sysroot, "--quiet", "--format", format];
        let written = run(&folder, &arguments);
        assert_eq!(answer.status, 200, "{format}: {answer:?}");
        assert!(answer.body == written.stdout, "{format} is not the same");
    }
    let body = json!({ "a": [a], "b": [a], "format": "json", "normalize": "speed" });
    assert_eq!(served.ask("POST", "/api/v1/diff", Some(&body)).problem(), "bad-request");
}

#[test]
fn recordings_of_a_difference_are_known_by_their_folders() {
    let folder = empty_folder("service-diff-names-root");
    for (name, case) in [("before", "spin-lld"), ("after", "spin-bfd")] {
        std::fs::create_dir(folder.join(name)).unwrap();
        let copy = folder.join(name).join("perf.data");
        std::fs::copy(Case::named(case).folder.join("perf.data"), copy).unwrap();
    }
    let served = Served::start("diff-names", &folder, &["."]);
    let (a, b) = (served.id("before/perf.data"), served.id("after/perf.data"));
    let body = json!({ "a": [a], "b": [b], "format": "json" });
    let answer = served.ask("POST", "/api/v1/diff", Some(&body));
    let arguments = ["diff", "before/perf.data", "after/perf.data", "--quiet", "--format", "json"];
    let written = run(&folder, &arguments);
    assert!(answer.body == written.stdout, "{answer:?}");
    assert!(String::from_utf8_lossy(&answer.body).contains("before/perf.data"));
}

/// Filters of a recording of one process with two threads.
#[test]
fn filters_choose_the_samples_that_the_command_chooses() {
    let folder = empty_folder("service-filters-root");
    std::fs::write(folder.join("a.data"), with_switches()).unwrap();
    let served = Served::start("filters-same", &folder, &["a.data"]);
    let id = served.id("a.data");
    for filter in [
        "tid=5",
        "pid=1&tid=5,6",
        "comm=left",
        "comm=l*,none",
        "event=cpu-clock",
        "time=0.0000001,0.0000003",
        "time=%2B0,%2B0.0000002",
        "time=50%25,",
        "time=10%25-80%25",
    ] {
        for format in ["json", "folded", "ndjson"] {
            let path = format!("/api/v1/recordings/{id}/export?format={format}&{filter}");
            let answer = served.get(&path);
            assert_eq!(answer.status, 200, "{filter}: {answer:?}");
            let mut arguments =
                vec!["a.data".to_owned(), "--quiet".to_owned(), format!("--format={format}")];
            let plain = filter.replace("%2B", "+").replace("%25", "%");
            arguments.extend(plain.split('&').map(|word| format!("--{word}")));
            let written = run(&folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
            assert!(answer.body == written.stdout, "{filter} as {format} is not the same");
        }
    }
    let refused = |filter: &str| {
        served.get(&format!("/api/v1/recordings/{id}/export?format=json&{filter}")).problem()
    };
    assert_eq!(refused("tid=7"), "does-not-fit");
    assert_eq!(refused("event=cycles"), "does-not-fit");
    assert_eq!(refused("cgroup=/user.slice"), "does-not-fit");
    for wrong in ["tid=x", "time=soon", "time=1", "comm=a&comm=b", "threads=5"] {
        assert_eq!(refused(wrong), "bad-request", "{wrong}");
    }
}

#[test]
fn times_off_the_processor_have_the_bytes_of_the_command() {
    let folder = empty_folder("service-off-cpu-root");
    std::fs::write(folder.join("a.data"), with_switches()).unwrap();
    std::fs::copy(Case::named("norm").folder.join("perf.data"), folder.join("b.data")).unwrap();
    let served = Served::start("off-cpu", &folder, &["a.data", "b.data"]);
    let (id, without) = (served.id("a.data"), served.id("b.data"));
    for format in formats().iter().filter(|format| **format != "hotspot") {
        let path = format!("/api/v1/recordings/{id}/export?format={format}&weight=off-cpu");
        let answer = served.get(&path);
        let arguments = ["a.data", "--quiet", "--format", format, "--weight", "off-cpu"];
        let written = run(&folder, &arguments);
        assert_eq!(answer.status, 200, "{format}: {answer:?}");
        assert!(answer.body == written.stdout, "{format} is not the same");
    }
    let hotspot = format!("/api/v1/recordings/{id}/export?format=hotspot&weight=off-cpu");
    assert_eq!(served.get(&hotspot).problem(), "bad-request");
    let json = format!("/api/v1/recordings/{id}/export?format=json&weight=period");
    assert_eq!(served.get(&json).problem(), "bad-request", "it shows all weights");
    let query = |id: &str| {
        let path = format!("/api/v1/recordings/{id}/query");
        served.ask("POST", &path, Some(&json!({ "weight": "off-cpu", "group": "thread" })))
    };
    let answer = query(&id).json();
    assert_eq!((&answer["unit"], &answer["total"]), (&json!("nanoseconds"), &json!(60 + 80)));
    assert_eq!(answer["rows"][0]["name"], "left 5");
    assert_eq!(query(&without).problem(), "does-not-fit");
    // The page's tables have them as a separate event.
    let wanted = json!({ "id": id, "options": { "off_cpu": true } });
    let job = served.ask("POST", "/api/v1/recordings", Some(&wanted));
    assert!(job.status == 201 || served.follow(&job.json())["state"] == "done");
    let columns = |more: &str| served.get(&format!("/api/v1/recordings/{id}/columns{more}"));
    assert_eq!(columns("?off_cpu=true").status, 200);
    assert_eq!(columns("").problem(), "gone");
    let wanted = json!({ "id": without, "options": { "off_cpu": true } });
    let job = served.ask("POST", "/api/v1/recordings", Some(&wanted)).json();
    assert_eq!(served.follow(&job)["problem"]["type"], "urn:unwind-perf:does-not-fit");
}

/// Returns a recording of two threads, one of which leaves its processor twice, for 60 and 80 ns.
fn with_switches() -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    let fields = sample_type::IDENTIFIER | sample_type::IP | sample_type::TID | sample_type::TIME;
    let sample_type = fields | sample_type::CPU | sample_type::PERIOD;
    let flags = attr_flag::SAMPLE_ID_ALL | attr_flag::CONTEXT_SWITCH;
    data.event("cpu-clock", EventAttr { sample_type, flags, ..EventAttr::default() }, &[7]);
    data.describe_events();
    let at = |tid, time| SampleId { id: 7, ..SampleId::at(1, tid, time) };
    let comm = |tid, comm| Record::Comm { pid: 1, tid, comm, exec: false };
    data.record_at(&comm(5, b"left"), at(5, 50));
    data.record_at(&comm(6, b"right"), at(6, 60));
    for (time, tid, ip, out) in
        [(150, 5, 0x11, Some(260)), (270, 6, 0x12, None), (310, 5, 0x13, Some(400))]
    {
        data.sample_of(0, &SampleBuilder { id: 7, ..SampleBuilder::at(ip, 1, tid, time) });
        let Some(back) = out else { continue };
        let left = if time == 150 { 200 } else { 320 };
        data.record_at(&Record::Switch { out: true }, at(tid, left));
        data.record_at(&Record::Switch { out: false }, at(tid, back));
    }
    data.build()
}
