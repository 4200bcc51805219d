//! Interruptions: recordings are replaced, workers are killed at any moment, clients disconnect or are slow.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::client::{Served, wait_until};
use crate::support::cases::{Case, sysroot};
use crate::support::run::{empty_folder, results};

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id");
    // It may be gone already.
    let _ = kill_process(pid, signal);
}

/// Starts a service over a copy of a case.
fn served(test: &str) -> (Served, PathBuf) {
    let folder = empty_folder(&format!("service-{test}-root"));
    let recording = folder.join("a.data");
    std::fs::copy(Case::named("inlines-gcc").folder.join("perf.data"), &recording).expect("a copy");
    let sysroot = sysroot();
    let arguments = ["a.data", "--sysroot", sysroot.to_str().expect("UTF-8")];
    (Served::start(test, &folder, &arguments), recording)
}

fn analyze(served: &Served, id: &str) -> Value {
    let body = json!({ "id": id, "fresh": true });
    served.ask("POST", "/api/v1/recordings", Some(&body)).json()
}

/// Returns the number of the front's descriptors.
fn descriptors(served: &Served) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", served.pid())).map_or(0, Iterator::count)
}

#[test]
fn a_recording_that_is_replaced_while_it_is_read_is_never_taken_for_the_new_one() {
    let (served, path) = served("replaced");
    let id = served.id("a.data");
    let columns = format!("/api/v1/recordings/{id}/columns");
    let folded =
        |case: &str| std::fs::read(Case::named(case).folder.join("expected.folded")).unwrap();
    let export = format!("/api/v1/recordings/{id}/export?format=folded");
    assert_eq!(served.get(&export).body, folded("inlines-gcc"));
    let worker = served.workers()[0];
    signal(worker, Signal::STOP);
    let job = analyze(&served, &id);
    wait_until("the job runs", || served.get("/api/v1/status").json()["jobs"]["running"] == 1);
    let other = path.with_file_name("other");
    std::fs::copy(Case::named("spin-lld").folder.join("perf.data"), &other).unwrap();
    std::fs::rename(&other, &path).unwrap();
    signal(worker, Signal::CONT);
    // The descriptor still refers to the old one, and its result belongs to no current recording.
    assert_eq!(served.follow(&job)["state"], "done");
    assert_eq!(served.get(&columns).problem(), "gone");
    assert_eq!(served.get(&format!("/api/v1/recordings/{id}")).json()["state"], "new");
    assert_eq!(served.get(&export).body, folded("spin-lld"));
    assert_eq!(served.follow(&analyze(&served, &id))["state"], "done");
    assert_eq!(served.get(&columns).status, 200);
}

#[test]
fn a_recording_that_is_cut_short_while_it_is_read_has_no_result() {
    let (served, path) = served("cut-short");
    let id = served.id("a.data");
    let worker = served.workers()[0];
    for left in [100_000, 1000, 0] {
        signal(worker, Signal::STOP);
        let job = analyze(&served, &id);
        wait_until("the job runs", || served.get("/api/v1/status").json()["jobs"]["running"] == 1);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_len(left).unwrap();
        signal(worker, Signal::CONT);
        let job = served.follow(&job);
        let kind = job["problem"]["type"].as_str().unwrap_or("done");
        let known = ["done", "urn:unwind-perf:not-a-recording", "urn:unwind-perf:changed"];
        assert!(known.contains(&kind), "{left}: {job}");
        // Data read from the old file are not used for the current one.
        let columns = served.get(&format!("/api/v1/recordings/{id}/columns"));
        assert_eq!(columns.problem(), "gone", "{left}");
    }
    assert_eq!(served.workers(), [worker]);
    std::fs::copy(Case::named("norm").folder.join("perf.data"), &path).unwrap();
    assert_eq!(served.follow(&analyze(&served, &id))["state"], "done");
}

#[test]
fn a_worker_that_is_killed_at_any_moment_leaves_nothing_half_done() {
    let (served, _) = served("any-moment");
    let id = served.id("a.data");
    let mut ends = [0, 0];
    for step in 0..40 {
        let job = analyze(&served, &id);
        // From before it reads the first byte to after it wrote the last.
        std::thread::sleep(Duration::from_micros(500 * step));
        for worker in served.workers() {
            signal(worker, Signal::KILL);
        }
        let job = served.follow(&job);
        let columns = served.get(&format!("/api/v1/recordings/{id}/columns")).status;
        if job["state"] == "done" {
            ends[0] += 1;
            assert_eq!(columns, 200);
        } else {
            ends[1] += 1;
            assert_eq!(job["problem"]["type"], "urn:unwind-perf:worker-ended", "{job}");
            assert_eq!(columns, 410);
            assert_eq!(results(&served.store), Vec::<String>::new(), "{job}");
        }
    }
    assert_eq!(ends[0] + ends[1], 40);
    assert_eq!(served.follow(&analyze(&served, &id))["state"], "done");
    assert_eq!(results(&served.store).len(), 2);
}

#[test]
fn clients_that_go_in_the_middle_of_an_answer_leave_nothing_behind() {
    let (served, _) = served("gone");
    let id = served.id("a.data");
    let path = format!("/api/v1/recordings/{id}/export?format=report");
    let whole = served.get(&path);
    assert_eq!(whole.status, 200);
    wait_until("the first answer is over", || results(&served.store).is_empty());
    let before = descriptors(&served);
    for _ in 0..20 {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        let text = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            served.address, served.token
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut some = [0; 1000];
        stream.read_exact(&mut some).unwrap();
        // Closed with unread bytes, which resets the connection.
    }
    wait_until("descriptors are given back", || descriptors(&served) <= before);
    wait_until("scratch files are given back", || results(&served.store).is_empty());
    assert!(served.get(&path).body == whole.body);
}

#[test]
fn a_slow_client_gets_all_of_it_while_others_are_answered() {
    let (served, _) = served("slowly");
    let id = served.id("a.data");
    let path = format!("/api/v1/recordings/{id}/export?format=report");
    let whole = served.get(&path).body;
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let text = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        served.address, served.token
    );
    // The request arrives in pieces as well.
    for piece in text.as_bytes().chunks(7) {
        stream.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut all = Vec::new();
    let mut piece = vec![0; whole.len() / 50];
    loop {
        let got = stream.read(&mut piece).unwrap();
        if got == 0 {
            break;
        }
        all.extend_from_slice(&piece[..got]);
        assert_eq!(served.get("/healthz").status, 200);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(all.ends_with(&whole));
}
