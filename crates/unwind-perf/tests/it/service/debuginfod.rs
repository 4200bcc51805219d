//! The debuginfod server, queried in the way of its clients.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::client::{Answer, Served};
use super::symbols::{Place, analyze, places, served};
use crate::support::cases::{Case, root, sysroot};
use crate::support::run::{empty_folder, run};

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

/// The build-id of the program `inlines-gcc`.
const PROGRAM: &str = "77ecbf57bb8690aa5de6d5104da1f11966e7809b";

#[test]
fn recordings_need_no_analysis() {
    let served = served("debuginfod-at-once", &["--debuginfod-server"]);
    let program = sysroot().join("tmp/unwind-perf-testdata/inlines-gcc/inlines-gcc");
    let path = format!("/buildid/{PROGRAM}/executable");
    let answer = ask(&served, "GET", &path, &[]);
    assert_eq!((answer.status, &answer.body), (200, &std::fs::read(program).unwrap()));
    let status = served.get("/api/v1/status").json();
    assert_eq!(status["jobs"]["done"], 0, "{status}");
}

#[test]
fn named_stores_need_no_recording() {
    let folder = empty_folder("service-debuginfod-stores");
    let program = sysroot().join("tmp/unwind-perf-testdata/inlines-gcc/inlines-gcc");
    let (first, rest) = PROGRAM.split_at(2);
    let entry = folder.join(format!("debug/.build-id/{first}"));
    std::fs::create_dir_all(&entry).unwrap();
    std::fs::copy(&program, entry.join(format!("{rest}.debug"))).unwrap();
    let cache = folder.join(format!("cache/.build-id/{first}/{rest}"));
    std::fs::create_dir_all(&cache).unwrap();
    std::fs::copy(&program, cache.join("elf")).unwrap();
    std::fs::create_dir_all(folder.join("none")).unwrap();
    let bytes = std::fs::read(&program).unwrap();
    let answers = |test: &str, more: &[&str]| {
        let arguments = [&["none", "--sysroot", "none", "--debuginfod-server"], more].concat();
        let served = Served::start(test, &folder, &arguments);
        ["executable", "debuginfo"].map(|kind| {
            let answer = ask(&served, "GET", &format!("/buildid/{PROGRAM}/{kind}"), &[]);
            assert!(answer.status != 200 || answer.body == bytes, "{}", answer.head);
            answer.status
        })
    };
    assert_eq!(answers("debuginfod-no-store", &[]), [404, 404]);
    assert_eq!(answers("debuginfod-cache", &["--buildid-dir", "cache"]), [200, 200]);
    assert_eq!(answers("debuginfod-debug", &["--debug-dir", "debug"])[1], 200);
}

#[test]
fn the_operator_can_choose_the_token() {
    let folder = empty_folder("debuginfod-tokens");
    let (token, file) = ("fleet-token_0123456789abcdef0123456789", folder.join("token"));
    let write = |text: &str, mode: u32| {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    };
    write(&format!("{token}\n"), 0o600);
    let name = file.to_str().expect("UTF-8");
    let arguments = ["--debuginfod-server", "--debuginfod-token", name];
    for test in ["debuginfod-token", "debuginfod-token-again"] {
        let served = served(test, &arguments);
        assert_eq!(door(&served), format!("/debuginfod/{token}"));
        let path = format!("/buildid/{PROGRAM}/executable");
        assert_eq!(ask(&served, "GET", &path, &[]).status, 200);
    }
    for (text, mode, why) in [
        (token, 0o644, "other users can read it; chmod o-rw it"),
        ("short", 0o600, "it is not one line of 32 to 128 letters, digits, - and _"),
        (&format!("{token}/../x"), 0o600, "it is not one line of 32 to 128"),
        (&format!("{token}\n{token}"), 0o600, "it is not one line of 32 to 128"),
    ] {
        write(text, mode);
        let ran = run(&folder, &[&["serve", ".", "--store", "results"], &arguments[..]].concat())
            .expect_status(2);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    }
    let alone = ["serve", ".", "--debuginfod-token", name];
    assert!(run(&folder, &alone).expect_status(2).stderr.contains("--debuginfod-server"));
}

/// Only files that the debug information names, and only below folders that the operator named.
#[test]
fn sources_are_below_named_folders() {
    let programs = root().join("testdata/programs");
    let programs = programs.to_str().expect("UTF-8");
    let served = served("debuginfod-source", &["--debuginfod-server", "--source-dir", programs]);
    let get = |path: &str| {
        let path = format!("/buildid/{PROGRAM}/source{path}");
        ask(&served, "GET", &path, &[])
    };
    let text = std::fs::read(format!("{programs}/inlines.cpp")).unwrap();
    for path in [
        "/tmp/unwind-perf-testdata/inlines-gcc/inlines.cpp",
        "//tmp/unwind-perf-testdata/inlines-gcc/inlines.cpp",
        "/tmp/x/../unwind-perf-testdata/./inlines-gcc/inlines.cpp",
        "/tmp%2Funwind-perf-testdata%2Finlines-gcc%2Finlines.cpp",
    ] {
        let answer = get(path);
        assert_eq!((answer.status, &answer.body), (200, &text), "{path}");
        assert_eq!(answer.header("x-debuginfod-size"), Some(&*text.len().to_string()));
    }
    for path in [
        // Files of the folder that the program was not made of.
        "/tmp/unwind-perf-testdata/inlines-gcc/anon.c",
        "/anon.c",
        "/inlines.cpp",
        // A file of the program that is in no named folder.
        "/usr/include/c++/12/bits/random.tcc",
        "/etc/passwd",
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/",
    ] {
        assert_eq!(get(path).problem(), "not-found", "{path}");
    }
    let other = format!("/buildid/{}/source/tmp/x.c", "ab".repeat(20));
    assert_eq!(ask(&served, "GET", &other, &[]).problem(), "not-found");
}
