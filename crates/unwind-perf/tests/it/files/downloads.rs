//! Named servers that delay a run: no longer than the environment allows, once each, and with a message.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::cases::{Case, sysroot};
use crate::support::run::{Ran, command, empty_folder, finish, run};

/// A server's answer to a request.
#[derive(Clone)]
enum Answer {
    /// Sends nothing and keeps the connection open.
    Nothing,
    /// Reports that the file does not exist.
    NotFound,
    /// Sends the head, then a byte every 50 milliseconds.
    Trickle,
    /// Sends the file.
    File(Arc<Vec<u8>>),
}

/// A server on this machine.
struct Server {
    url: String,
    /// Last two components of each requested path.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server that answers by the number of the request and its path.
    fn start(answer: impl Fn(usize, &str) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        std::thread::spawn(move || {
            for (number, mut peer) in listener.incoming().map_while(Result::ok).enumerate() {
                let path = read_request(&mut peer);
                let answer = answer(number, &path);
                seen.lock().expect("the requests").push(path);
                std::thread::spawn(move || send(peer, &answer));
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("the requests").clone()
    }
}

/// Reads the head of a request; returns the end of its path, build-id and kind.
fn read_request(peer: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && peer.read(&mut byte).is_ok_and(|n| n == 1) {
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("a request");
    let path = head.split(' ').nth(1).expect("a path");
    path.strip_prefix("/buildid/").expect("a path of debuginfod").to_owned()
}

fn send(mut peer: TcpStream, answer: &Answer) {
    let mut head = |status: &str, length: usize| {
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        // A client may close the connection when it has the data it needs.
        let _ = peer.write_all(head.as_bytes());
    };
    match answer {
        // Until the client closes the connection.
        Answer::Nothing => drop(peer.read(&mut [0])),
        Answer::NotFound => head("404 Not Found", 0),
        Answer::Trickle => {
            head("200 OK", 1 << 20);
            let mut bytes = b"\x7fELF".iter().copied().chain(std::iter::repeat(0));
            while peer.write_all(&[bytes.next().unwrap_or(0)]).is_ok() {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Answer::File(file) => {
            head("200 OK", file.len());
            let _ = peer.write_all(file);
        }
    }
}

/// A recording with samples in several files.
const SEVERAL: &str = "exceptions";
/// A recording of one program.
const ONE: &str = "spin-lld-build-id";

/// Unwinds the recording of a case without local files, with these servers and variables; returns the time as well.
fn unwind(case: &str, servers: &[&Server], variables: &[(&str, &str)]) -> (Ran, Duration) {
    let server = servers.first().map_or("", |server| &server.url);
    let folder = empty_folder(&format!("downloads-{}", server.rsplit(':').next().unwrap_or("")));
    let urls: Vec<&str> = servers.iter().map(|server| server.url.as_str()).collect();
    let case = Case::named(case);
    let sysroot = folder.to_str().expect("a path");
    let arguments = ["perf.data", "--sysroot", sysroot, "--debuginfod", "-f", "folded"];
    let mut command = command(&case.folder, &arguments);
    command.env("HOME", &folder).env("DEBUGINFOD_URLS", urls.join(" "));
    command.envs(variables.iter().copied());
    let begin = Instant::now();
    let ran = finish(command.spawn().expect("the command starts"));
    (ran, begin.elapsed())
}

/// Returns the program of the recording, and its build-id.
fn program() -> (PathBuf, String) {
    let case = Case::named(ONE);
    let program = sysroot().join("tmp/unwind-perf-testdata/spin-lld-build-id/spin-lld-build-id");
    let list = run(&case.folder, &["buildid-list", "perf.data"]).expect_status(0);
    let line = list.text().lines().find(|line| line.ends_with("spin-lld-build-id"));
    let id = line.and_then(|line| line.split(' ').next()).expect("a build-id").to_owned();
    (program, id)
}

/// Returns the lines on standard error about waits.
fn waits(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.starts_with("waiting for ")).collect()
}

// Names are missing if a server failed, so the exit status is 1.

/// Far above the time of a run with waits of a second or two, even on a busy machine.
const BOUND: Duration = Duration::from_secs(20);

#[test]
fn a_server_that_never_answers_is_waited_for_once() {
    let server = Server::start(|_, _| Answer::Nothing);
    let variables = [("DEBUGINFOD_TIMEOUT", "2")];
    let (ran, time) = unwind(SEVERAL, &[&server], &variables);
    let ran = ran.expect_status(1);
    let requests = server.requests();
    let [request] = requests.as_slice() else { panic!("asked for {requests:?}") };
    let (id, kind) = request.split_once('/').expect("id and kind");
    let Server { url, .. } = &server;
    let line = format!("waiting for {url}: {kind} {id}; it has 2 s to answer (DEBUGINFOD_TIMEOUT)");
    assert_eq!(waits(&ran), [line]);
    let finding = format!(
        "{url} failed: it sent nothing for 2 s; it was not queried again; files may be missing"
    );
    assert!(ran.stderr.contains(&finding), "{}", ran.stderr);
    assert!(time < BOUND, "{time:?}");
}

#[test]
fn the_other_servers_are_still_asked() {
    let (program, id) = program();
    let file = Arc::new(std::fs::read(program).expect("the program"));
    let silent = Server::start(|_, _| Answer::Nothing);
    let wanted = format!("{id}/executable");
    let path = wanted.clone();
    let helpful =
        Server::start(
            move |_, asked| {
                if asked == path { Answer::File(file.clone()) } else { Answer::NotFound }
            },
        );
    let variables = [("DEBUGINFOD_TIMEOUT", "1")];
    let (ran, time) = unwind(ONE, &[&silent, &helpful], &variables);
    let ran = ran.expect_status(1);
    assert_eq!(silent.requests().len(), 1);
    assert!(helpful.requests().contains(&wanted), "{:?}", helpful.requests());
    assert!(helpful.requests().len() > 1, "{:?}", helpful.requests());
    assert!(ran.text().contains(";spin "), "what was fetched has names: {}", ran.text());
    assert!(time < BOUND, "{time:?}");
}

#[test]
fn a_server_that_hangs_for_the_first_file_is_not_asked_for_others() {
    let server =
        Server::start(|number, _| if number == 0 { Answer::Nothing } else { Answer::NotFound });
    let (ran, time) = unwind(SEVERAL, &[&server], &[("DEBUGINFOD_TIMEOUT", "1")]);
    let ran = ran.expect_status(1);
    assert_eq!(server.requests().len(), 1);
    assert!(
        ran.stderr.contains("it sent nothing for 1 s; it was not queried again"),
        "{}",
        ran.stderr
    );
    assert!(time < BOUND, "{time:?}");
}

#[test]
fn a_server_that_trickles_is_too_slow() {
    let server = Server::start(|_, _| Answer::Trickle);
    let variables = [("DEBUGINFOD_TIMEOUT", "1")];
    let (ran, time) = unwind(SEVERAL, &[&server], &variables);
    let ran = ran.expect_status(1);
    assert_eq!(server.requests().len(), 1);
    let finding = "it sent less than 100 KiB in 1 s; it was not queried again";
    assert!(ran.stderr.contains(finding), "{}", ran.stderr);
    assert!(time < BOUND, "{time:?}");
}

#[test]
fn a_file_has_the_time_that_is_allowed() {
    let server = Server::start(|_, _| Answer::Trickle);
    let variables = [("DEBUGINFOD_TIMEOUT", "0"), ("DEBUGINFOD_MAXTIME", "1")];
    let (ran, time) = unwind(SEVERAL, &[&server], &variables);
    let ran = ran.expect_status(1);
    // A server that fails three times is not queried again.
    assert_eq!(server.requests().len(), 3);
    let finding = "a file did not come within 1 s (DEBUGINFOD_MAXTIME); files may be missing";
    assert!(ran.stderr.contains(finding), "{}", ran.stderr);
    assert!(time < BOUND, "{time:?}");
}

#[test]
fn a_file_has_the_size_that_is_allowed() {
    let (program, _) = program();
    let file = Arc::new(std::fs::read(program).expect("the program"));
    // Each of several files is refused in the same way.
    let length = file.len();
    let server = Server::start(move |_, _| Answer::File(file.clone()));
    let variables = [("DEBUGINFOD_MAXSIZE", "1000")];
    let (ran, _) = unwind(SEVERAL, &[&server], &variables);
    let ran = ran.expect_status(1);
    let finding =
        format!("it has {length} bytes, and DEBUGINFOD_MAXSIZE is 1000; files may be missing");
    assert!(ran.stderr.contains(&finding), "{}", ran.stderr);
    // This is not a failure of the server.
    assert!(server.requests().len() > 3, "{:?}", server.requests());
}

#[test]
fn servers_that_answer_are_not_mentioned() {
    let server = Server::start(|_, _| Answer::NotFound);
    let (ran, _) = unwind(SEVERAL, &[&server], &[]);
    let ran = ran.expect_status(0);
    assert_eq!(waits(&ran), [""; 0]);
    assert!(!ran.stderr.contains(" failed: "), "{}", ran.stderr);
}

#[test]
fn limits_that_are_no_numbers_are_an_error() {
    let server = Server::start(|_, _| Answer::NotFound);
    let (ran, _) = unwind(SEVERAL, &[&server], &[("DEBUGINFOD_TIMEOUT", "soon")]);
    let ran = ran.expect_status(2);
    let message = "DEBUGINFOD_TIMEOUT=soon: expected a whole number of seconds (0: no limit)";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(server.requests(), [""; 0]);
}
