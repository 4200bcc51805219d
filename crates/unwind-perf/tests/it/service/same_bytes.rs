//! What is asked for by HTTP are the bytes that the command writes.

use std::os::unix::fs::symlink;

use serde_json::json;

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
    // Links out of a root lead nowhere, so that the recordings are named themselves.
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
