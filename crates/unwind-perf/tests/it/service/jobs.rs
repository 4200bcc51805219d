//! Jobs: started once, followed, stored, and repeated after a change.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::client::{Served, wait_until};
use crate::support::cases::{Case, sysroot};
use crate::support::run::{command, empty_folder, listing, results};

/// Starts a service over copies of a case.
fn served(test: &str, names: &[&str]) -> Served {
    let folder = empty_folder(&format!("service-{test}-root"));
    for name in names {
        std::fs::copy(Case::named("spin-lld").folder.join("perf.data"), folder.join(name))
            .expect("a copy");
    }
    let sysroot = sysroot();
    Served::start(test, &folder, &[".", "--sysroot", sysroot.to_str().expect("UTF-8")])
}

fn analyze(served: &Served, id: &str) -> Value {
    let answer = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    assert!([201, 202].contains(&answer.status), "{answer:?}");
    answer.json()
}

#[test]
fn a_result_is_made_once_and_kept() {
    let served = served("once", &["a.data"]);
    let id = served.id("a.data");
    let columns = format!("/api/v1/recordings/{id}/columns");
    assert_eq!(served.get(&columns).problem(), "gone");
    let job = served.follow(&analyze(&served, &id));
    assert_eq!(job["state"], "done", "{job}");
    let row = served.get(&format!("/api/v1/recordings/{id}")).json();
    assert_eq!((&row["state"], &row["about"]["samples"]), (&json!("analyzed"), &json!(31)));
    assert_eq!(row["about"]["complete"], 31);
    let tables = served.get(&columns);
    assert_eq!((tables.status, tables.header("content-encoding")), (200, Some("gzip")));
    assert_eq!(&tables.body[..2], b"\x1f\x8b");
    // The same request again: no other job.
    let again = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    assert_eq!(again.status, 201);
    assert_eq!(again.header("location"), Some(&*format!("/api/v1/recordings/{id}")));
    let status = served.get("/api/v1/status").json();
    let jobs =
        json!({ "queued": 0, "running": 0, "begun": 1, "refused": 0, "done": 1, "failed": 0 });
    assert_eq!(status["jobs"], jobs);
    assert_eq!(status["results"]["count"], 1);
    assert_eq!(status["workers"]["local"], json!({ "runs": true, "starts": 1 }));
    assert_eq!(status["limits"]["job_seconds"], 600);
    let metrics = served.get("/metrics");
    let metrics = String::from_utf8(metrics.body).unwrap();
    assert!(metrics.contains("unwind_perf_jobs_total{end=\"done\"} 1\n"), "{metrics}");
    // Ranges, and an unchanged result that the client already has.
    let host = format!("Host: {}", served.address);
    let token = format!("Authorization: Bearer {}", served.token);
    let lines = [&*host, &token, "Accept-Encoding: gzip", "Range: bytes=0-1"];
    let part = served.send("GET", &columns, &lines, b"");
    assert_eq!((part.status, &*part.body), (206, &b"\x1f\x8b"[..]));
    let tag = format!("If-None-Match: {}", tables.header("etag").unwrap());
    assert_eq!(served.send("GET", &columns, &[&host, &token, &tag], b"").status, 304);
    // Uncompressed for clients without gzip: the head's length, the head.
    let plain = served.send("GET", &columns, &[&host, &token], b"");
    assert_eq!(&plain.body[8..21], b"{\"version\":3,");
    assert_eq!(results(&served.store).len(), 2);
    // Names that the worker looked up are cached for the next one.
    assert!(served.store.join("names/CACHEDIR.TAG").is_file());
}

#[test]
fn the_same_job_is_shared_and_a_changed_recording_is_another() {
    let served = served("shared", &["a.data"]);
    let id = served.id("a.data");
    let jobs: Vec<Value> = (0..8).map(|_| analyze(&served, &id)).collect();
    for job in &jobs {
        if job.get("recording").is_some() {
            assert_eq!(served.follow(job)["state"], "done");
        }
    }
    let before = served.get(&format!("/api/v1/recordings/{id}/columns"));
    let path = served.store.with_file_name("service-shared-root").join("a.data");
    std::fs::copy(Case::named("norm").folder.join("perf.data"), &path).unwrap();
    assert_eq!(served.get(&format!("/api/v1/recordings/{id}/columns")).problem(), "gone");
    let row = served.get(&format!("/api/v1/recordings/{id}")).json();
    assert_eq!(row["state"], "new");
    assert_eq!(served.follow(&analyze(&served, &id))["state"], "done");
    let after = served.get(&format!("/api/v1/recordings/{id}/columns"));
    assert_ne!(before.header("etag"), after.header("etag"));
}

#[test]
fn what_is_no_recording_is_said_so() {
    let served = served("none", &["a.data"]);
    let path = served.store.with_file_name("service-none-root").join("b.data");
    std::fs::write(&path, b"PERFILE2 and nothing that makes sense").unwrap();
    let rows = served.recordings();
    let row = rows.iter().find(|row| row["name"] == "b.data").unwrap();
    assert_eq!(row["problem"]["type"], "urn:unwind-perf:not-a-recording");
    let detail = row["problem"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("cannot read b.data: "), "{detail}");
    let job = served.follow(&analyze(&served, row["id"].as_str().unwrap()));
    assert_eq!(job["problem"]["status"], 422, "{job}");
    let id = row["id"].as_str().unwrap();
    let answer = served.get(&format!("/api/v1/recordings/{id}/export?format=json"));
    assert_eq!(answer.problem(), "not-a-recording");
}

#[test]
fn events_tell_each_state_to_the_last() {
    let served = served("events", &["a.data"]);
    let job = analyze(&served, &served.id("a.data"));
    let path = format!("/api/v1/jobs/{}/events", job["id"].as_str().unwrap());
    let answer = served.get(&path);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let text = String::from_utf8(answer.body).unwrap();
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!((&last["state"], &last["id"]), (&json!("done"), &job["id"]));
    assert_eq!(served.get("/api/v1/jobs/0-0").problem(), "not-found");
    assert_eq!(served.get("/api/v1/jobs/0-0/events").problem(), "not-found");
}

#[test]
fn requests_of_assets_are_logged_on_request() {
    let case = Case::named("spin-lld");
    for (option, expected) in [
        (None, vec!["/assets/{*path} 404", "/api/v1/status 200"]),
        (
            Some("--verbose"),
            vec![
                "/assets/{*path} 200",
                "/healthz 200",
                "/assets/{*path} 404",
                "/api/v1/status 200",
            ],
        ),
    ] {
        let store = empty_folder("service-log");
        let text = store.to_str().unwrap();
        let arguments =
            ["serve", "--no-open", "--no-background", "perf.data", "--store", text].into_iter();
        let arguments: Vec<&str> = arguments.chain(option).collect();
        let mut served = Served::of(command(&case.folder, &arguments), 0, store.clone());
        for path in ["/assets/style.css", "/healthz", "/assets/none.css", "/api/v1/status"] {
            served.get(path);
        }
        for line in expected {
            let logged: Value = serde_json::from_str(&served.line_of_stderr()).unwrap();
            let route = logged["route"].as_str().unwrap();
            assert_eq!(format!("{route} {}", logged["status"]), line);
        }
    }
}

#[test]
fn own_recordings_are_analysed_in_the_background_newest_first() {
    let folder = empty_folder("service-background-root");
    let uploads = empty_folder("service-background-uploads");
    let store = empty_folder("service-background");
    let bytes = Case::named("spin-lld").bytes();
    let hour = Duration::from_secs(3600);
    for (path, age) in [
        (folder.join("old.data"), 3 * hour),
        (folder.join("new.data"), hour),
        (uploads.join("sent.data"), 2 * hour),
    ] {
        std::fs::write(&path, &bytes).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    let sysroot = sysroot();
    let [text, uploads, sysroot] = [&store, &uploads, &sysroot].map(|it| it.to_str().unwrap());
    let arguments = ["serve", "--no-open", ".", "--store", text, "--uploads", uploads];
    let arguments: Vec<&str> = arguments.into_iter().chain(["--sysroot", sysroot, "-q"]).collect();
    let served = Served::of(command(&folder, &arguments), 0, store.clone());
    let status = || served.get("/api/v1/status").json();
    wait_until("both are analysed", || status()["background"]["analyzed"] == 2);
    let rows = served.recordings();
    let states: Vec<_> = rows.iter().map(|row| (&row["name"], &row["state"])).collect();
    let [analyzed, new] = [json!("analyzed"), json!("new")];
    let names = [json!("new.data"), json!("old.data"), json!("sent.data")];
    let expected = names.iter().zip([&analyzed, &analyzed, &new]).collect::<Vec<_>>();
    assert_eq!(states, expected);
    assert_eq!(rows[0]["about"]["samples"], 31);
    let status = status();
    let jobs = &status["jobs"];
    assert_eq!([&jobs["begun"], &jobs["done"], &jobs["failed"]], [&json!(2), &json!(2), &json!(0)]);
    let expected = json!({ "enabled": true, "analyzed": 2, "waiting": 0 });
    wait_until("none waits", || served.get("/api/v1/status").json()["background"] == expected);
    assert_eq!(status["limits"]["background_jobs"], 50);
}

#[test]
fn results_outlive_the_service() {
    let first = served("restart", &["a.data"]);
    let id = first.id("a.data");
    assert_eq!(first.follow(&analyze(&first, &id))["state"], "done");
    let folder = first.store.with_file_name("service-restart-root");
    let store = first.store.clone();
    drop(first);
    let sysroot = sysroot();
    let arguments = [".", "--sysroot", sysroot.to_str().unwrap()];
    let second = Served::over(store, &folder, &arguments);
    assert_eq!(second.get(&format!("/api/v1/recordings/{id}/columns")).status, 200);
    assert!(second.workers().is_empty(), "nothing had to be read");
}

/// Results in a default folder that others can write could be forged by others.
#[test]
fn a_usual_folder_that_others_can_write_is_not_used() {
    let home = empty_folder("service-shared-home");
    let folder = home.join(".cache/unwind-perf/service");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let case = Case::named("spin-lld");
    let mut command =
        command(&case.folder, &["serve", "--no-open", "--no-background", "--quiet", "perf.data"]);
    command.env("HOME", &home);
    let mut served = Served::of(command, 0, folder.clone());
    let why = "can be written by others (mode 777); results are kept until the service ends";
    assert_eq!(served.line_of_stderr(), format!("{} {why}", folder.display()));
    let id = served.id("perf.data");
    assert_eq!(served.follow(&analyze(&served, &id))["state"], "done");
    assert_eq!(served.get(&format!("/api/v1/recordings/{id}/columns")).status, 200);
    assert_eq!(listing(&folder), Vec::<String>::new());
}
