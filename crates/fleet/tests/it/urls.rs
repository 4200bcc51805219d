//! Downloads, unchanged objects, failures, and secrets.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use fleet::{Converted, Converter, NamedOptions, Remote, Runner, Status, Tree};
use options::Options;

use super::server::{Answer, Server};

const ETAG: &str = "ETag: \"1\"\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\n";
/// Stands for the program: the rows are the recording. Notes the path of the recording and its folder's mode.
const PROGRAM: &str = r#"#!/bin/sh
cat "$5" > "$3"
here=$(dirname "$0")
echo "$5" >> "$here/recordings"
stat -c %a "$(dirname "$(dirname "$5")")" > "$here/mode"
case "$(cat "$5")" in bad*) echo "{\"error\":\"not-a-recording\",\"message\":\"$5: bad\"}" >&2; exit 2;; esac
echo '{"message":"","samples":1,"complete_share":1.0,"findings":[],"modules":[],"start_utc_ns":null}'
"#;

/// A folder with a tree.
struct Fleet {
    folder: PathBuf,
    converter: Converter,
}

impl Fleet {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("fleet-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        let program = folder.join("program");
        std::fs::write(&program, PROGRAM).expect("a file");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("a file");
        let remote = Remote::with_retries(0);
        let converter = Converter {
            tree: Tree::open(&folder.join("out"), &remote).expect("a tree"),
            runner: Runner { program, options: "{}".to_owned(), retries: 0, timeout: None },
            options: NamedOptions::new(&Options::default(), "0"),
            version: "0".to_owned(),
            redo: Vec::new(),
            remote,
        };
        Self { folder, converter }
    }

    fn convert(&self, url: &str) -> Converted {
        self.converter.convert(Path::new(url)).expect("a manifest")
    }

    /// Returns the paths of the recordings that the program read.
    fn recordings(&self) -> Vec<PathBuf> {
        let text = std::fs::read_to_string(self.folder.join("recordings")).unwrap_or_default();
        text.lines().map(PathBuf::from).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn a_recording_is_downloaded_to_a_private_file() {
    let fleet = Fleet::new("private");
    let server = Server::start(Answer::new("200 OK", ETAG, b"recording"));
    let url = format!("http://127.0.0.1:{}/x/a%20b.data?sig=secret", server.port);
    let Converted { manifest, is_new } = fleet.convert(&url);
    assert_eq!((manifest.status, is_new, manifest.bytes), (Status::Ok, true, Some(9)));
    assert_eq!(manifest.path, format!("http://127.0.0.1:{}/x/a%20b.data", server.port));
    assert_eq!(manifest.date.as_deref(), Some("2023-11-14"));
    let part = fleet.folder.join("out").join(manifest.part.expect("a part"));
    assert_eq!(std::fs::read(part).expect("rows"), b"recording");
    let requests = server.requests();
    assert!(requests[0].starts_with("get /x/a%20b.data?sig=secret http/1.1\n"), "{requests:?}");
    let recordings = fleet.recordings();
    assert_eq!(recordings[0].file_name(), Some("a b.data".as_ref()));
    assert!(!recordings[0].exists());
    assert_eq!(std::fs::read_to_string(fleet.folder.join("mode")).expect("a mode"), "700\n");
    // The query can choose another object: it is downloaded again, but not converted.
    assert!(!fleet.convert(&url).is_new);
    assert!(!server.requests()[0].contains("if-none-match"));
    assert_eq!(fleet.recordings().len(), 1);
}

#[test]
fn an_unchanged_object_is_not_downloaded_again() {
    let fleet = Fleet::new("unchanged");
    let server = Server::start(Answer::new("200 OK", ETAG, b"recording"));
    let url = format!("http://127.0.0.1:{}/a", server.port);
    let first = fleet.convert(&url);
    server.requests();
    server.answer(Answer::new("304 Not Modified", ETAG, b""));
    let again = fleet.convert(&url);
    assert_eq!((again.manifest, again.is_new), (first.manifest, false));
    assert!(server.requests()[0].contains("\nif-none-match: \"1\"\n"));
    let changed = "ETag: \"2\"\r\nLast-Modified: Tue, 14 Nov 2023 22:13:21 GMT\r\n";
    server.answer(Answer::new("200 OK", changed, b"other"));
    let other = fleet.convert(&url);
    assert_eq!((other.manifest.bytes, other.is_new), (Some(5), true));
    // The body of an answer with the same state is not read: here, it is too short.
    let date = "Last-Modified: Tue, 14 Nov 2023 22:13:21 GMT\r\n";
    let url = format!("http://127.0.0.1:{}/b", server.port);
    server.answer(Answer::new("200 OK", date, b"dated"));
    assert!(fleet.convert(&url).is_new);
    server.answer(Answer { body: Vec::new(), ..Answer::new("200 OK", date, b"dated") });
    assert!(!fleet.convert(&url).is_new);
    // Without a state, every call downloads.
    let url = format!("http://127.0.0.1:{}/c", server.port);
    server.answer(Answer::new("200 OK", "", b"first"));
    assert!(fleet.convert(&url).is_new);
    server.answer(Answer::new("200 OK", "", b"later"));
    assert!(fleet.convert(&url).is_new);
}

#[test]
fn failures_are_tried_again() {
    let fleet = Fleet::new("failures");
    let server = Server::start(Answer::new("404 Not Found", "", b"secret"));
    let url = format!("http://127.0.0.1:{}/a?sig=secret", server.port);
    let shown = format!("http://127.0.0.1:{}/a", server.port);
    for (answer, status, message) in [
        ("404 Not Found", Status::Unreadable, "there is no such object"),
        ("403 Forbidden", Status::Unreadable, "access denied (403 Forbidden)"),
        ("401 Unauthorized", Status::Unreadable, "access denied (401 Unauthorized)"),
    ] {
        server.answer(Answer::new(answer, "", b"secret"));
        let Converted { manifest, is_new } = fleet.convert(&url);
        assert_eq!((manifest.status, is_new), (status, true));
        assert_eq!(manifest.message, format!("cannot read {shown}: {message}"));
        assert_eq!(manifest.recording_sha256, None);
    }
    server.answer(Answer::new("503 Slow Down", "", b"secret"));
    let manifest = fleet.convert(&url).manifest;
    assert_eq!(manifest.status, Status::GaveUp);
    assert!(manifest.message.ends_with("status code: 503 Service Unavailable"), "{manifest:?}");
    server.answer(Answer { stated: 100, ..Answer::new("200 OK", ETAG, b"a part") });
    let manifest = fleet.convert(&url).manifest;
    assert_eq!(manifest.status, Status::GaveUp);
    assert!(!manifest.message.contains("secret"), "{manifest:?}");
    server.answer(Answer { stated: 1 << 62, ..Answer::new("200 OK", ETAG, b"") });
    let manifest = fleet.convert(&url).manifest;
    assert_eq!(manifest.status, Status::GaveUp);
    assert!(manifest.message.contains(": no space: "), "{manifest:?}");
    server.answer(Answer::new("200 OK", ETAG, b"recording"));
    assert_eq!(fleet.convert(&url).manifest.status, Status::Ok);
    assert_eq!(fleet.recordings().len(), 1);
}

#[test]
fn a_server_that_is_not_there_is_a_failure_of_the_network() {
    let fleet = Fleet::new("network");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let manifest = fleet.convert(&format!("http://127.0.0.1:{port}/a?b=secret")).manifest;
    assert_eq!(manifest.status, Status::GaveUp);
    assert!(manifest.message.ends_with("Connection refused (os error 111)"), "{manifest:?}");
    assert!(!manifest.message.contains("secret"), "{manifest:?}");
}

#[test]
fn messages_name_the_url_instead_of_the_private_file() {
    let fleet = Fleet::new("messages");
    let server = Server::start(Answer::new("200 OK", ETAG, b"bad"));
    let url = format!("http://127.0.0.1:{}/a", server.port);
    let manifest = fleet.convert(&url).manifest;
    assert_eq!(manifest.status, Status::NotARecording);
    assert_eq!(manifest.message, format!("{url}: bad"));
    let manifest = fleet.convert("s3://key:secret@b/k").manifest;
    assert_eq!((manifest.status, &*manifest.path), (Status::Unreadable, "s3://b/k"));
    assert!(!manifest.message.contains("secret"), "{manifest:?}");
}
