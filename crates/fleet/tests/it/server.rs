//! A web server with fixed answers, one connection for each request.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Answer to a request.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: &'static str,
    /// Lines of the header without `Content-Length`.
    pub(crate) header: &'static str,
    pub(crate) body: Vec<u8>,
    /// Value of `Content-Length`, in bytes.
    pub(crate) stated: usize,
}

impl Answer {
    pub(crate) fn new(status: &'static str, header: &'static str, body: &[u8]) -> Self {
        Self { status, header, body: body.to_vec(), stated: body.len() }
    }
}

/// The server, its current answer, and the requests so far.
pub(crate) struct Server {
    pub(crate) port: u16,
    answer: Arc<Mutex<Answer>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (answer, requests) = (Arc::new(Mutex::new(answer)), Arc::default());
        let server = Self { port, answer, requests };
        let (answer, requests) = (Arc::clone(&server.answer), Arc::clone(&server.requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                requests.lock().expect("requests").push(request(&stream));
                let answer = answer.lock().expect("an answer").clone();
                let Answer { status, header, body, stated } = answer;
                let head = format!(
                    "HTTP/1.1 {status}\r\n{header}Content-Length: {stated}\r\nConnection: close\r\n\r\n"
                );
                // The client can close the connection before it has read all.
                let _ = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        server
    }

    pub(crate) fn answer(&self, answer: Answer) {
        *self.answer.lock().expect("an answer") = answer;
    }

    /// Returns the requests since the last call, in lower case.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().expect("requests"))
    }
}

/// Returns the lines of a request without a body.
fn request(stream: &TcpStream) -> String {
    let mut text = String::new();
    for line in BufReader::new(stream).lines() {
        let line = line.expect("a line");
        if line.is_empty() {
            break;
        }
        text.push_str(&line.to_ascii_lowercase());
        text.push('\n');
    }
    text
}
