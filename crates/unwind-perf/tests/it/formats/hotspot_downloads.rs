//! Files from a server that hotspot's user named: their download is reported in the stream.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use crate::formats::hotspot::messages;
use crate::support::cases::{Case, sysroot};
use crate::support::run::{empty_folder, finish, run, started_as};

/// Serves that file under that id; all other requests get "not found".
fn serve(listener: TcpListener, id: String, file: Vec<u8>) {
    std::thread::spawn(move || {
        for mut peer in listener.incoming().map_while(Result::ok) {
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && peer.read(&mut byte).is_ok_and(|n| n == 1) {
                request.push(byte[0]);
            }
            let wanted = format!("GET /buildid/{id}/executable ");
            let (status, body): (_, &[u8]) = if request.starts_with(wanted.as_bytes()) {
                ("200 OK", &file)
            } else {
                ("404 Not Found", b"")
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            // A client may close the connection when it has the data it needs.
            let _ = peer.write_all(head.as_bytes()).and_then(|()| peer.write_all(body));
        }
    });
}

#[test]
fn downloads_are_told() {
    let case = Case::named("spin-lld-build-id");
    let program = sysroot().join("tmp/unwind-perf-testdata/spin-lld-build-id/spin-lld-build-id");
    let file = std::fs::read(program).expect("the program");
    let list = run(&case.folder, &["buildid-list", "perf.data"]).expect_status(0);
    let line = list.text().lines().find(|line| line.ends_with("spin-lld-build-id"));
    let id = line.and_then(|line| line.split(' ').next()).expect("a build-id").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = format!("http://{}", listener.local_addr().expect("an address"));
    serve(listener, id.clone(), file.clone());

    let folder = empty_folder("hotspot-downloads");
    let mut command = Command::new(started_as("hotspot-perfparser"));
    command.args(["--input", "perf.data", "--sysroot"]).arg(&folder).current_dir(&case.folder);
    command.env_clear().env("HOME", &folder).env("DEBUGINFOD_URLS", &server);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    let ran = finish(command.spawn().expect("the command starts")).expect_status(0);

    let strings: Vec<&[u8]> =
        messages(&ran.stdout).iter().filter(|it| it.0 == 5).map(|it| &it.1[8..]).collect();
    assert!(strings.contains(&&b"spin"[..]), "what was fetched has names");
    let reported: Vec<(String, String, u64, u64)> = messages(&ran.stdout)
        .iter()
        .filter(|it| it.0 == 15)
        .map(|(_, fields)| {
            let word = |at: usize| u32::from_be_bytes(*fields[at..].first_chunk().expect("four"));
            let long = |at: usize| u64::from_be_bytes(*fields[at..].first_chunk().expect("eight"));
            let text = |at| String::from_utf8_lossy(strings[word(at) as usize]).into_owned();
            (text(0), text(4), long(8), long(16))
        })
        .collect();
    let length = file.len() as u64;
    let url = format!("{server}/buildid/{id}/executable");
    assert_eq!(reported, [(format!("executable {id}"), url, length, length)]);
}
