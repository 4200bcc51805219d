//! The debuginfod server, queried in the way of its clients.

use std::path::PathBuf;

use super::client::{Answer, Served};
use super::symbols::{Place, analyze, places, served};
use crate::support::cases::{Case, sysroot};
use crate::support::run::empty_folder;

/// Returns the path of the server.
fn door(served: &Served) -> String {
    let line = served.more.first().expect("the server");
    let url = line.strip_prefix("DEBUGINFOD_URLS=").expect("its address");
    url.strip_prefix(&format!("http://{}", served.address)).expect("this service's").to_owned()
}

fn ask(served: &Served, method: &str, path: &str, more: &[&str]) -> Answer {
    let host = format!("Host: {}", served.address);
    let lines = [&[&*host, "User-Agent: elfutils/0.188"], more].concat();
    served.send(method, &format!("{}{path}", door(served)), &lines, b"")
}

/// Returns the file of a place.
fn file_of(place: &Place) -> PathBuf {
    sysroot().join(place.path.trim_start_matches('/'))
}

#[test]
fn files_of_recordings_are_handed_out_by_build_id() {
    let served = served("debuginfod", &["--debuginfod-server"]);
    let places = places(&served);
    let place = places.iter().find(|it| it.path.ends_with("/inlines-gcc")).expect("the program");
    let executable = format!("/buildid/{}/executable", place.build_id);
    // The recording was not analysed yet.
    assert_eq!(ask(&served, "GET", &executable, &[]).problem(), "not-found");
    analyze(&served);
    let bytes = std::fs::read(file_of(place)).unwrap();
    let debuginfo = format!("/buildid/{}/debuginfo", place.build_id.to_uppercase());
    for path in [&executable, &debuginfo] {
        let answer = ask(&served, "GET", path, &[]);
        assert!(answer.status == 200 && answer.body == bytes, "{path}: {}", answer.head);
        let size = bytes.len().to_string();
        assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
        for header in ["content-length", "x-debuginfod-size"] {
            assert_eq!(answer.header(header), Some(&*size));
        }
        assert!(answer.header("x-debuginfod-file").unwrap().ends_with("/inlines-gcc"));
        let head = ask(&served, "HEAD", path, &[]);
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("x-debuginfod-size"), Some(&*size));
    }
    let part = ask(&served, "GET", &executable, &["Range: bytes=1-3"]);
    assert_eq!((part.status, &*part.body), (206, &b"ELF"[..]));
    let range = format!("bytes 1-3/{}", bytes.len());
    assert_eq!(part.header("content-range"), Some(&*range));
    let outside = format!("Range: bytes={}-", bytes.len());
    assert_eq!(ask(&served, "GET", &executable, &[&outside]).problem(), "wrong-range");
    // A stripped library has no debug information.
    // The recording has no build-id for it, but the file has.
    const LIBRARY: &str = "93ac61ec5a8eb1396f9fbd350e3169a558528a40";
    let library = sysroot().join("usr/lib/x86_64-linux-gnu/libc.so.6");
    let path = format!("/buildid/{LIBRARY}/executable");
    assert_eq!(ask(&served, "GET", &path, &[]).body, std::fs::read(library).unwrap());
    for path in [
        format!("/buildid/{LIBRARY}/debuginfo"),
        format!("/buildid/{}/source/etc/passwd", place.build_id),
        format!("/buildid/{}/section/.bss", place.build_id),
        format!("/buildid/{}/section/.nothing", place.build_id),
        format!("/buildid/{}/section/.text", "ab".repeat(20)),
        format!("/buildid/{}/executable", "ab".repeat(20)),
        "/buildid/../../etc/passwd/executable".to_owned(),
        "/buildid/%2e%2e%2f%2e%2e/executable".to_owned(),
        "/metrics".to_owned(),
    ] {
        assert_eq!(ask(&served, "GET", &path, &[]).problem(), "not-found", "{path}");
    }
}

#[test]
fn sections_are_handed_out_as_they_are_in_the_file() {
    let served = served("debuginfod-section", &["--debuginfod-server"]);
    analyze(&served);
    let places = places(&served);
    let place = places.iter().find(|it| it.path.ends_with("/inlines-gcc")).expect("the program");
    let path = format!("/buildid/{}/section/.note.gnu.build-id", place.build_id);
    let digits = |at: usize| place.build_id.get(at..at + 2);
    let id: Vec<u8> = (0..place.build_id.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(digits(at).unwrap(), 16).unwrap())
        .collect();
    // A note: the sizes of its name and its content, its type, and both.
    let words = [4, id.len() as u32, 3].map(u32::to_le_bytes).concat();
    let note = [&words[..], b"GNU\0", &id].concat();
    let answer = ask(&served, "GET", &path, &[]);
    assert_eq!((answer.status, &answer.body), (200, &note));
    let size = note.len().to_string();
    for header in ["content-length", "x-debuginfod-size"] {
        assert_eq!(answer.header(header), Some(&*size));
    }
    assert!(answer.header("x-debuginfod-file").unwrap().ends_with("/inlines-gcc"));
    let part = ask(&served, "GET", &path, &["Range: bytes=12-15"]);
    assert_eq!((part.status, &*part.body), (206, &b"GNU\0"[..]));
    assert_eq!(part.header("content-range"), Some(&*format!("bytes 12-15/{size}")));
}

#[test]
fn the_door_has_a_token_of_its_own() {
    let served = served("debuginfod-door", &["--debuginfod-server"]);
    analyze(&served);
    let place = places(&served).swap_remove(0);
    let path = format!("/buildid/{}/executable", place.build_id);
    let host = format!("Host: {}", served.address);
    let door = door(&served);
    let (prefix, token) = door.rsplit_once('/').unwrap();
    for wrong in [&*served.token, "", "0"] {
        let wrong = format!("{prefix}/{wrong}{path}");
        assert_eq!(served.send("GET", &wrong, &[&host], b"").problem(), "no-token");
    }
    let bearer = format!("Authorization: Bearer {}", served.token);
    assert_eq!(served.send("GET", &path, &[&host, &bearer], b"").problem(), "not-found");
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(served.send("GET", "/api/v1/status", &[&host, &bearer], b"").problem(), "no-token");
    assert_eq!(ask(&served, "GET", &path, &[]).status, 200);
    assert_eq!(ask(&served, "POST", &path, &[]).problem(), "wrong-method");
    for strange in ["Origin: https://profiler.firefox.com", "Sec-Fetch-Site: cross-site"] {
        assert_eq!(ask(&served, "GET", &path, &[strange]).problem(), "wrong-origin", "{strange}");
    }
    let rebound = served.send("GET", &format!("{door}{path}"), &["Host: evil.example"], b"");
    assert_eq!(rebound.problem(), "wrong-host");
}

#[test]
fn a_file_that_is_another_one_now_is_not_handed_out() {
    let folder = empty_folder("service-debuginfod-changed-root");
    let case = Case::named("inlines-gcc");
    std::fs::copy(case.folder.join("perf.data"), folder.join("perf.data")).unwrap();
    let program = folder.join("tmp/unwind-perf-testdata/inlines-gcc");
    std::fs::create_dir_all(&program).unwrap();
    let program = program.join("inlines-gcc");
    let original = sysroot().join("tmp/unwind-perf-testdata/inlines-gcc/inlines-gcc");
    std::fs::copy(&original, &program).unwrap();
    let arguments = ["perf.data", "--sysroot", ".", "--debuginfod-server"];
    let served = Served::start("debuginfod-changed", &folder, &arguments);
    analyze(&served);
    let all = places(&served);
    let place = all.iter().find(|it| it.path.ends_with("/inlines-gcc")).expect("the program");
    let path = format!("/buildid/{}/executable", place.build_id);
    assert_eq!(ask(&served, "GET", &path, &[]).status, 200);
    for bytes in [&b"secret"[..], &std::fs::read("/proc/self/exe").unwrap()] {
        std::fs::write(&program, bytes).unwrap();
        assert_eq!(ask(&served, "GET", &path, &[]).problem(), "not-found");
    }
    std::fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &program).unwrap();
    assert_eq!(ask(&served, "GET", &path, &[]).problem(), "not-found");
    std::fs::remove_file(&program).unwrap();
    std::fs::copy(&original, &program).unwrap();
    assert_eq!(ask(&served, "GET", &path, &[]).status, 200);
}
