//! Connections that others hold open do not lock out a client with the token.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::client::Served;
use crate::support::cases::Case;

/// Opens 100 connections that send `text`, and then neither send more nor read.
fn hold(served: &Served, text: &str) -> Vec<TcpStream> {
    let connect = |_| {
        let mut stream = TcpStream::connect(&served.address).expect("a connection");
        stream.set_write_timeout(Some(Duration::from_millis(50))).expect("a limit");
        // The rest is not sent.
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    (0..100).map(connect).collect()
}

fn check(served: &Served) {
    let begin = Instant::now();
    assert_eq!(served.get("/healthz").status, 200);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(served.get("/api/v1/status").status, 200);
}

#[test]
fn who_has_the_token_gets_in() {
    let served = Served::start("held", &Case::named("norm").folder, &["perf.data"]);
    let host = format!("Host: {}\r\n", served.address);
    let body = format!(
        "POST /session HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    );
    let stalled = hold(&served, &body);
    check(&served);
    let unread =
        hold(&served, &format!("GET /assets/style.css HTTP/1.1\r\n{host}\r\n").repeat(300));
    for _ in 0..10 {
        check(&served);
    }
    drop((stalled, unread));
    check(&served);
}

#[test]
fn a_target_of_another_service_and_a_body_that_is_too_large_are_refused_at_once() {
    let served = Served::start("targets", &Case::named("norm").folder, &["perf.data"]);
    let host = format!("Host: {}", served.address);
    let token = format!("Authorization: Bearer {}", served.token);
    let lines = [&*host, &*token];
    let status = |target: &str| served.send("GET", target, &lines, b"").status;
    assert_eq!(status(&format!("http://{}/api/v1/status", served.address)), 200);
    assert_eq!(status("http://evil.example/api/v1/status"), 403);
    assert_eq!(status("http://evil.example/healthz"), 403);
    // No byte of the body is sent.
    let kind = "Content-Type: application/json\r\nContent-Length: 70000\r\nConnection: close";
    let begin = Instant::now();
    let text = format!("POST /api/v1/recordings HTTP/1.1\r\n{host}\r\n{token}\r\n{kind}\r\n\r\n");
    assert_eq!(served.say(text.as_bytes()).problem(), "too-large");
    assert!(begin.elapsed() < Duration::from_secs(5));
}
