//! Failures of the worker, of clients and of files, after which the front continues.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::client::Served;
use crate::support::cases::Case;
use crate::support::run::{command, empty_folder, finish};

fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id");
    kill_process(pid, signal).expect("a signal is sent");
}

#[test]
fn a_killed_worker_is_started_again() {
    let served = Served::start("killed", &Case::named("norm").folder, &["perf.data"]);
    let id = served.id("perf.data");
    let export = format!("/api/v1/recordings/{id}/export?format=folded");
    let before = served.get(&export);
    assert_eq!(before.status, 200);
    for _ in 0..3 {
        let workers = served.workers();
        assert_eq!(workers.len(), 1);
        kill(workers[0], Signal::KILL);
        let after = served.get(&export);
        assert_eq!((after.status, after.body == before.body), (200, true));
        assert_ne!(served.workers(), workers);
    }
}

#[test]
fn a_stopped_worker_is_ended_at_the_deadline() {
    let arguments = ["perf.data", "--deadline", "1"];
    let served = Served::start("deadline", &Case::named("norm").folder, &arguments);
    let id = served.id("perf.data");
    kill(served.workers()[0], Signal::STOP);
    let answer = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    let job = served.follow(&answer.json());
    assert_eq!(job["problem"]["type"], "urn:unwind-perf:deadline", "{job}");
    // The next job gets a new worker, which may be slow to start.
    let begin = Instant::now();
    loop {
        let again = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
        if served.follow(&again.json())["state"] == "done" {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn cancelled_jobs_say_so_and_others_get_the_next_worker() {
    let served = Served::start("cancelled", &Case::named("norm").folder, &["perf.data"]);
    let id = served.id("perf.data");
    let worker = served.workers()[0];
    kill(worker, Signal::STOP);
    let begin = || served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id }))).json();
    let first = begin();
    let path = format!("/api/v1/jobs/{}", first["id"].as_str().unwrap());
    assert_eq!(served.ask("DELETE", &path, None).status, 202);
    assert_eq!(served.follow(&first)["problem"]["type"], "urn:unwind-perf:cancelled");
    // A job that waits for a worker that ends before starting it gets the next worker.
    let second = begin();
    std::thread::sleep(Duration::from_millis(50));
    kill(worker, Signal::KILL);
    assert_eq!(served.follow(&second)["state"], "done");
}

#[test]
fn clients_that_say_nothing_or_go_away_do_no_harm() {
    let served = Served::start("slow", &Case::named("norm").folder, &["perf.data"]);
    let id = served.id("perf.data");
    let mut idle = Vec::new();
    for number in 0..40 {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        // Half a head, and no more.
        stream.write_all(&b"GET / HTTP/1.1\r\nHost: 127"[..number % 25]).unwrap();
        idle.push(stream);
    }
    for _ in 0..20 {
        // An answer without a reader.
        let mut stream = TcpStream::connect(&served.address).unwrap();
        let text = format!(
            "GET /api/v1/recordings/{id}/export?format=report HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            served.address, served.token
        );
        stream.write_all(text.as_bytes()).unwrap();
    }
    let begin = Instant::now();
    assert_eq!(served.get("/api/v1/status").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_folder_without_space_is_a_clear_answer() {
    let served = Served::start("space", &Case::named("norm").folder, &["perf.data"]);
    let id = served.id("perf.data");
    // For the service, the folder of results is gone.
    std::fs::remove_dir_all(&served.store).unwrap();
    let answer = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    let job = served.follow(&answer.json());
    assert_eq!(job["problem"]["type"], "urn:unwind-perf:no-space", "{job}");
    std::fs::create_dir(&served.store).unwrap();
    let answer = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    assert_eq!(served.follow(&answer.json())["state"], "done");
}

#[test]
fn a_signal_ends_the_service_and_its_worker() {
    let folder = Case::named("norm").folder;
    for signal in [Signal::TERM, Signal::INT] {
        let store = empty_folder("service-signal");
        let arguments = ["serve", "perf.data", "--no-open", "--store", store.to_str().unwrap()];
        let mut child = command(&folder, &arguments).spawn().unwrap();
        let mut line = String::new();
        let out = child.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        kill(child.id(), signal);
        let ran = finish(child);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    }
}

#[test]
fn a_socket_of_the_file_system_is_for_its_owner() {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixStream;

    let store = empty_folder("service-unix");
    let socket = store.join("socket");
    let listen = format!("unix:{}", socket.display());
    let arguments = ["serve", "perf.data", "--no-open", "--store", store.to_str().unwrap()];
    let arguments = [&arguments[..], &["--listen", &listen]].concat();
    let mut child = command(&Case::named("norm").folder, &arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let token = line.trim_end().rsplit('=').next().unwrap().to_owned();
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut stream = UnixStream::connect(&socket).unwrap();
    let text = format!(
        "GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    kill(child.id(), Signal::TERM);
    assert_eq!(finish(child).status, 0);
    assert!(!socket.exists());
}
