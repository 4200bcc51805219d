//! A service that is started for a test, and a client that sends exactly the bytes that the test specifies.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::run::{Ran, command, empty_folder};

/// Maximum time for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running service, which ends when the value is dropped.
#[derive(Debug)]
pub(super) struct Served {
    child: Child,
    /// Host and port.
    pub(super) address: String,
    pub(super) token: String,
    /// Lines that it printed after its address.
    pub(super) more: Vec<String>,
    /// Folder of its results.
    pub(super) store: PathBuf,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The head as received, in lower case.
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the kind of the problem.
    pub(super) fn problem(&self) -> String {
        let kind = self.json()["type"].as_str().unwrap_or_default().to_owned();
        kind.trim_start_matches("urn:unwind-perf:").to_owned()
    }
}

impl Served {
    /// Starts a service for a test of that name, in `folder`.
    pub(super) fn start(test: &str, folder: &Path, arguments: &[&str]) -> Self {
        Self::over(empty_folder(&format!("service-{test}")), folder, arguments)
    }

    /// Same as [`Self::start`], with a folder that may already contain results.
    pub(super) fn over(store: PathBuf, folder: &Path, arguments: &[&str]) -> Self {
        let store_text = store.to_str().expect("UTF-8").to_owned();
        let mut all =
            vec!["serve", "--no-open", "--no-background", "--quiet", "--store", &store_text];
        all.extend(arguments);
        let doors = ["--firefox", "--debuginfod-server"];
        let doors = arguments.iter().filter(|it| doors.contains(it)).count();
        Self::of(command(folder, &all), doors, store)
    }

    /// Starts a service that shows the stream written into the returned pipe.
    pub(super) fn live(test: &str, folder: &Path, arguments: &[&str]) -> (Self, ChildStdin) {
        let store = empty_folder(&format!("service-{test}"));
        let store_text = store.to_str().expect("UTF-8").to_owned();
        let mut all = vec!["live", "--no-open", "--quiet", "--store", &store_text];
        all.extend(arguments);
        let mut command = command(folder, &all);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the service starts");
        let input = child.stdin.take().expect("its input");
        (Self::ready(child, 0, store), input)
    }

    /// Starts a service by a command that prints `more` lines after its address.
    pub(super) fn of(mut command: Command, more: usize, store: PathBuf) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::ready(command.spawn().expect("the service starts"), more, store)
    }

    /// Waits for the address, and for `more` lines after it.
    fn ready(mut child: Child, more: usize, store: PathBuf) -> Self {
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.as_mut().expect("standard output"));
        out.read_line(&mut line).expect("the address");
        let more = out.lines().take(more).map(|line| line.expect("a line")).collect();
        let (address, token) = (String::new(), String::new());
        let mut served = Self { child, address, token, more, store };
        let Some((address, token)) = line.trim_end().split_once("#token=") else {
            let mut text = String::new();
            let stderr = served.child.stderr.take();
            stderr.expect("standard error").read_to_string(&mut text).expect("text");
            panic!("no address: {line}{text}");
        };
        let address = address.trim_start_matches("http://");
        served.address = address.split('/').next().unwrap_or_default().to_owned();
        served.token = token.to_owned();
        served
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the next line that it writes to standard error.
    pub(super) fn line_of_stderr(&mut self) -> String {
        let mut line = Vec::new();
        let stderr = self.child.stderr.as_mut().expect("standard error");
        // Reads nothing after the line.
        let mut byte = [0];
        while stderr.read(&mut byte).expect("a byte") > 0 && byte != *b"\n" {
            line.push(byte[0]);
        }
        String::from_utf8(line).expect("UTF-8")
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Ran {
        let stdout = self.child.stdout.take();
        let stderr = self.child.stderr.take();
        let status = self.child.wait().expect("its end").code().expect("a status");
        let text = |pipe: Option<Box<dyn std::io::Read>>| {
            let mut text = String::new();
            pipe.expect("a pipe").read_to_string(&mut text).expect("text");
            text
        };
        let stdout = text(stdout.map(|pipe| Box::new(pipe) as _)).into_bytes();
        Ran { status, stdout, stderr: text(stderr.map(|pipe| Box::new(pipe) as _)) }
    }

    /// Sends exactly `text`, and returns the response until the service closes the connection.
    pub(super) fn say(&self, text: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        // A service that refuses may close before it has read everything.
        let _ = stream.write_all(text);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        parsed(&all)
    }

    /// Sends a request with these header lines.
    pub(super) fn send(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for line in lines {
            text.push_str(line);
            text.push_str("\r\n");
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        self.say(&[text.as_bytes(), body].concat())
    }

    /// Sends a request with the token.
    pub(super) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let host = format!("Host: {}", self.address);
        let token = format!("Authorization: Bearer {}", self.token);
        let mut lines = vec![&*host, &*token, "Accept-Encoding: gzip"];
        let text = body.map(Value::to_string).unwrap_or_default();
        if body.is_some() {
            lines.push("Content-Type: application/json");
        }
        self.send(method, path, &lines, text.as_bytes())
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, None)
    }

    /// Returns the recordings of the list.
    pub(super) fn recordings(&self) -> Vec<Value> {
        let answer = self.get("/api/v1/recordings").json();
        answer["recordings"].as_array().expect("a list").clone()
    }

    /// Returns the id of the recording of that name.
    pub(super) fn id(&self, name: &str) -> String {
        let all = self.recordings();
        let found = all.iter().find(|row| row["name"] == name);
        let found = found.unwrap_or_else(|| panic!("no {name} in {all:?}"));
        found["id"].as_str().expect("an id").to_owned()
    }

    /// Follows a job to its end.
    pub(super) fn follow(&self, job: &Value) -> Value {
        let path = format!("/api/v1/jobs/{}", job["id"].as_str().expect("an id"));
        let begin = Instant::now();
        loop {
            let now = self.get(&path).json();
            if now["state"] == "done" || now["state"] == "failed" {
                return now;
            }
            assert!(begin.elapsed() < PATIENCE, "{now}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the processes that it started.
    pub(super) fn workers(&self) -> Vec<u32> {
        let path = format!("/proc/{0}/task/{0}/children", self.pid());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split_whitespace().map(|pid| pid.parse().expect("a process id")).collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a condition holds.
pub(super) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn parsed(all: &[u8]) -> Answer {
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(all.len());
    let head = String::from_utf8_lossy(&all[..end]).to_lowercase();
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let rest = all.get(end + 4..).unwrap_or_default();
    let is_chunked = head.contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(rest) } else { rest.to_vec() };
    Answer { status, head, body }
}

/// Source: RFC 9112, "Chunked Transfer Coding".
fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n").expect("the length of a chunk");
        let length = std::str::from_utf8(&rest[..end]).expect("digits");
        let length = usize::from_str_radix(length, 16).expect("digits");
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 4 + length..];
    }
}
