//! A live recording: its published state, its end, and the stored copy.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use synth::{Endian, EventAttr, PerfDataBuilder, PipeLayout, SampleBuilder, UserRecord};

use super::client::Served;
use crate::support::cases::Case;
use crate::support::run::{empty_folder, listing, run};

const PATIENCE: Duration = Duration::from_secs(60);

/// Number of samples of a stream.
const SAMPLES: u64 = 48;

/// Returns a recorder's stream: one sample per round.
fn stream() -> Vec<u8> {
    let mut recording = PerfDataBuilder::new(Endian::Little);
    recording.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    recording.describe_events();
    for number in 0..SAMPLES {
        let (address, time) = (0x40_1000 + number % 5 * 16, 20 + number * 100_000_000);
        recording.sample(&SampleBuilder::at(address, 7, 7, time));
        recording.user_record(&UserRecord::FinishedRound);
    }
    recording.build_pipe(&PipeLayout::default())
}

fn place(folder: &Path) -> String {
    folder.join("keep.perf").to_str().expect("UTF-8").to_owned()
}

/// Waits until the published state of the recording meets a condition.
fn wait(served: &Served, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let now = served.get("/api/v1/live").json();
        if is_so(&now) {
            return now;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: {now}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn has_ended(view: &Value) -> bool {
    view["state"] == "ended"
}

/// Returns the head of uncompressed tables.
fn head(bytes: &[u8]) -> Value {
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    serde_json::from_slice(&bytes[8..8 + length as usize]).expect("JSON")
}

fn columns(served: &Served) -> Value {
    let host = format!("Host: {}", served.address);
    let token = format!("Authorization: Bearer {}", served.token);
    let answer = served.send("GET", "/api/v1/live/columns", &[&host, &token], b"");
    assert_eq!(answer.status, 200, "{answer:?}");
    head(&answer.body)
}

/// Returns the number of rows of a column.
fn rows(head: &Value, name: &str) -> u64 {
    let all = head["columns"].as_array().expect("rows");
    all.iter().find(|row| row[0] == name).expect("a column")[2].as_u64().expect("a number")
}

/// Server-sent events: their kinds, ids and data.
struct Events(BufReader<TcpStream>);

impl Events {
    fn open(served: &Served, query: &str, lines: &str) -> Self {
        let mut stream = TcpStream::connect(&served.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let text = format!(
            "GET /api/v1/live/events{query} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{lines}\r\n",
            served.address, served.token
        );
        stream.write_all(text.as_bytes()).expect("sent");
        Self(BufReader::new(stream))
    }

    fn next(&mut self) -> (String, String, Value) {
        let (mut kind, mut id) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("a line") > 0, "the stream is over");
            let Some((name, value)) = line.trim_end().split_once(": ") else { continue };
            match name {
                "event" => kind = value.to_owned(),
                "id" => id = value.to_owned(),
                "data" => return (kind, id, serde_json::from_str(value).expect("JSON")),
                _ => {}
            }
        }
    }

    /// Returns the next event other than `state`.
    fn news(&mut self) -> (String, String, Value) {
        loop {
            let event = self.next();
            if event.0 != "state" {
                return event;
            }
        }
    }
}

#[test]
fn what_comes_is_told_and_at_the_end_it_is_a_recording() {
    let folder = empty_folder("live-told");
    let keep = place(&folder);
    let arguments = ["-o", &keep, "--jobs", "1"];
    let (served, mut input) = Served::live("live-told", &folder, &arguments);
    assert_eq!(served.get("/api/v1/live").json()["state"], "waiting");
    assert_eq!(served.get("/api/v1/live/columns").problem(), "gone");
    assert_eq!(served.get("/api/v1/recordings/live").problem(), "gone");
    // A client without data is notified when there are some.
    let mut events = Events::open(&served, "", "");
    assert_eq!(events.next().0, "state");
    let bytes = stream();
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    input.write_all(first).unwrap();
    let view = wait(&served, "samples come", |view| view["kept"].as_u64() > Some(0));
    assert_eq!(view["state"], "running");
    assert_eq!(events.news().0, "anew");
    let before = columns(&served);
    let tick = before["live"].as_u64().unwrap();
    let mut events = Events::open(&served, &format!("?after={tick}"), "");
    input.write_all(rest).unwrap();
    drop(input);
    // Each tick follows the previous one, and has the rows after it.
    let (mut have, mut samples) = (tick, rows(&before, "time"));
    let view = loop {
        let (kind, id, data) = events.news();
        if kind == "end" {
            break data;
        }
        have += 1;
        assert_eq!((&*kind, id), ("tick", have.to_string()));
        let step = base64_head(data["rows"].as_str().unwrap());
        assert_eq!(step["first"][4].as_u64(), Some(samples));
        samples += rows(&step, "time");
    };
    assert_eq!((&view["state"], view["samples"].as_u64()), (&"ended".into(), Some(SAMPLES)));
    assert_eq!((samples, view["tick"].as_u64()), (SAMPLES, Some(have)));
    // A disconnected client resumes at its tick; a client with an unknown tick starts again.
    let mut again = Events::open(&served, "", &format!("Last-Event-ID: {tick}\r\n"));
    assert_eq!(again.next().1, (tick + 1).to_string());
    assert_eq!(Events::open(&served, "?after=999", "").next().0, "anew");
    let after = columns(&served);
    assert_eq!((rows(&after, "time"), after["live"].as_u64()), (SAMPLES, Some(have)));
    // It is an ordinary recording.
    assert_eq!(std::fs::read(&keep).unwrap(), bytes);
    let id = view["recording"].as_str().unwrap();
    for id in [id, "live"] {
        let export = served.get(&format!("/api/v1/recordings/{id}/export?format=folded"));
        let words = ["keep.perf", "-q", "-f", "folded"];
        assert_eq!(export.body, run(&folder, &words).expect_status(0).stdout);
    }
}

/// Returns the head of the tables in an event.
fn base64_head(text: &str) -> Value {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let value = |letter: &u8| LETTERS.iter().position(|it| it == letter).unwrap_or(0) as u32;
        let word = four.iter().fold(0, |word, letter| word << 6 | value(letter));
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    head(&bytes)
}

#[test]
fn what_is_not_kept_stays_in_its_tables_alone() {
    let folder = empty_folder("live-tables");
    let (served, mut input) = Served::live("live-tables", &folder, &[]);
    input.write_all(&stream()).unwrap();
    drop(input);
    let view = wait(&served, "the end", has_ended);
    assert!(view.get("recording").is_none());
    assert_eq!(rows(&columns(&served), "time"), view["samples"].as_u64().unwrap());
    assert_eq!(view["about"]["samples"], view["samples"]);
    for path in ["", "/columns", "/export?format=json"] {
        let answer = served.get(&format!("/api/v1/recordings/live{path}"));
        assert_eq!((answer.status, &*answer.problem()), (410, "gone"));
        assert!(answer.json()["hint"].as_str().unwrap().contains("-o KEEP.perf"));
    }
}

#[test]
fn what_is_watched_is_told_to_who_has_the_token() {
    let folder = empty_folder("live-token");
    let (served, _input) = Served::live("live-token", &folder, &[]);
    let host = format!("Host: {}", served.address);
    for path in ["", "/events", "/columns"] {
        let path = format!("/api/v1/live{path}");
        assert_eq!(served.send("GET", &path, &[&host], b"").problem(), "no-token");
        let wrong = served.get(&format!("{path}?since=1"));
        assert_eq!(wrong.problem(), "bad-request", "{path}");
    }
    assert_eq!(served.get("/api/v1/live/events?after=x").problem(), "bad-request");
    assert_eq!(served.send("GET", "/live", &[&host], b"").status, 200);
    let other = Served::start("live-none", &Case::named("norm").folder, &["perf.data"]);
    assert_eq!(other.get("/api/v1/live").problem(), "not-found");
}

#[test]
fn what_is_no_recording_ends_it_with_a_message() {
    for (number, bytes) in [&b""[..], b"hello", &[0; 4096]].into_iter().enumerate() {
        let folder = empty_folder(&format!("live-none-{number}"));
        let (served, mut input) = Served::live(&format!("live-none-{number}"), &folder, &[]);
        input.write_all(bytes).unwrap();
        drop(input);
        let ran = served.finish();
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("This is not a readable recording"), "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("the stream is empty"), bytes.is_empty(), "{}", ran.stderr);
    }
}

#[test]
fn what_is_damaged_is_said_to_be() {
    let folder = empty_folder("live-damaged");
    let (served, mut input) = Served::live("live-damaged", &folder, &[]);
    let bytes = stream();
    let middle = bytes.len() * 2 / 3;
    input.write_all(&bytes[..middle]).unwrap();
    wait(&served, "samples come", |view| view["kept"].as_u64() > Some(0));
    input.write_all(&[0xff; 64]).unwrap();
    // A service that stops reading closes the pipe.
    let _ = input.write_all(&bytes[middle..]);
    drop(input);
    let view = wait(&served, "the end", has_ended);
    assert_eq!(view["about"]["damaged"], true);
    assert!(!view["about"]["findings"].as_array().unwrap().is_empty(), "{view}");
}

fn kill(served: &Served, signal: Signal) {
    let pid = Pid::from_raw(served.pid().cast_signed()).expect("a process id");
    kill_process(pid, signal).expect("a signal is sent");
}

#[test]
fn an_interrupt_is_for_the_recorder_and_other_signals_end_it() {
    let folder = empty_folder("live-signals");
    let keep = place(&folder);
    let bytes = stream();
    let begun = |test: &str| {
        let (served, mut input) = Served::live(test, &folder, &["-o", &keep]);
        input.write_all(&bytes[..bytes.len() / 2]).unwrap();
        wait(&served, "samples come", |view| view["kept"].as_u64() > Some(0));
        (served, input)
    };
    let (served, mut input) = begun("live-interrupt");
    kill(&served, Signal::INT);
    input.write_all(&bytes[bytes.len() / 2..]).unwrap();
    drop(input);
    wait(&served, "the end", has_ended);
    assert_eq!(std::fs::read(&keep).unwrap(), bytes);
    kill(&served, Signal::INT);
    let ran = served.finish();
    assert_eq!((ran.status, ran.stderr.contains("a second interrupt")), (0, true));
    std::fs::remove_file(&keep).unwrap();
    for (test, signals) in
        [("live-term", &[Signal::TERM][..]), ("live-twice", &[Signal::INT, Signal::INT])]
    {
        let (served, _input) = begun(test);
        for &signal in signals {
            kill(&served, signal);
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(served.finish().status, 0);
        assert!(bytes.starts_with(&std::fs::read(&keep).unwrap()));
        std::fs::remove_file(&keep).unwrap();
    }
}

#[test]
fn a_fifo_is_waited_for_and_a_broken_worker_breaks_no_copy() {
    let folder = empty_folder("live-fifo");
    let (fifo, keep) = (folder.join("fifo"), place(&folder));
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let (served, _) = Served::live("live-fifo", &folder, &["fifo", "-o", &keep]);
    let bytes = stream();
    let mut input: std::fs::File = std::fs::File::options().write(true).open(&fifo).unwrap();
    input.write_all(&bytes[..bytes.len() / 2]).unwrap();
    let view = wait(&served, "samples come", |view| view["kept"].as_u64() > Some(0));
    let worker = view["processes"][1].as_u64().unwrap();
    let pid = Pid::from_raw(i32::try_from(worker).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    wait(&served, "the problem is told", |view| !view["problem"].is_null());
    input.write_all(&bytes[bytes.len() / 2..]).unwrap();
    drop(input);
    let view = wait(&served, "the end", |view| view["state"] == "failed");
    assert_eq!(view["problem"]["type"], "urn:unwind-perf:worker-ended");
    assert_eq!(std::fs::read(PathBuf::from(keep)).unwrap(), bytes);
    assert!(view["recording"].is_string());
}

/// The bytes up to that time are stored under the announced name.
#[test]
fn a_killed_service_leaves_a_readable_copy() {
    let folder = empty_folder("live-killed");
    let keep = place(&folder);
    let bytes = stream();
    for part in ["keep.perf.part", "keep.perf.part-2"] {
        let (mut served, mut input) = Served::live("live-killed", &folder, &["-o", &keep]);
        input.write_all(&bytes[..bytes.len() / 2]).unwrap();
        wait(&served, "samples come", |view| view["kept"].as_u64() > Some(0));
        let told = format!("unwind-perf: the copy is {0}/{part} during", folder.display());
        let line = served.line_of_stderr();
        assert!(line.starts_with(&told), "{line}");
        kill(&served, Signal::KILL);
        drop(served);
        let copy = std::fs::read(folder.join(part)).unwrap();
        assert!(!copy.is_empty() && bytes.starts_with(&copy));
        let shown = run(&folder, &[part, "-q", "-f", "folded"]);
        assert!(shown.status <= 1 && !shown.stdout.is_empty(), "{}", shown.stderr);
    }
    assert_eq!(listing(&folder), ["keep.perf.part", "keep.perf.part-2"]);
}
