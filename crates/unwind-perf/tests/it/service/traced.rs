//! Files that the service opens for untrusted recordings, according to strace. Without strace, the test is skipped.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use synth::{
    Endian, EventAttr, Feature, MmapFile, PerfDataBuilder, Record, SampleBuilder, SampleId,
    attr_flag, sample_type,
};

use super::client::Served;
use crate::support::run::empty_folder;

/// Returns paths that an attacker would like to have opened.
pub(crate) fn targets(folder: &Path) -> Vec<String> {
    let below = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let fixed = ["/etc/passwd", "/etc/shadow", "/dev/zero", "/proc/self/mem", "/proc/1/maps"];
    let more = ["../../etc/hostname", "/tmp/perf-7.map", "/tmp/jit-7.dump", "/sys/kernel/notes"];
    let mut all: Vec<String> = fixed.into_iter().chain(more).map(str::to_owned).collect();
    all.extend([below("fifo"), below("program"), below("link")]);
    all
}

/// Returns a recording with a mapping and a sample in it for each path, with build-ids and without.
pub(crate) fn recording(paths: &[String]) -> Vec<u8> {
    let mut data = PerfDataBuilder::new(Endian::Little);
    let sample_type =
        sample_type::IDENTIFIER | sample_type::IP | sample_type::TID | sample_type::TIME;
    let attr = EventAttr { sample_type, flags: attr_flag::SAMPLE_ID_ALL, ..EventAttr::default() };
    data.event("cycles", attr, &[7]);
    data.describe_events();
    data.feature(&Feature::Arch("x86_64"));
    let files = [
        MmapFile::Inode { major: 8, minor: 1, inode: 9, generation: 0 },
        MmapFile::BuildId(&[0xab; 20]),
    ];
    let maps = paths.iter().flat_map(|path| files.map(|file| (path, file)));
    for ((path, file), number) in maps.zip(1..) {
        let addr = number << 20;
        let map = Record::Mmap2 {
            pid: 7,
            tid: 7,
            addr,
            len: 0x1000,
            pgoff: 0,
            file,
            prot: 5,
            flags: 2,
            name: path.as_bytes(),
        };
        data.record_at(&map, SampleId { id: 7, ..SampleId::at(7, 7, number) });
        let sample = SampleBuilder::at(addr + 0x10, 7, 7, 1000 + number);
        data.sample(&SampleBuilder { id: 7, ..sample });
    }
    data.build()
}

/// Returns true if strace works.
pub(crate) fn can_trace() -> bool {
    let mut attempt = Command::new("strace");
    attempt.args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::null());
    attempt.status().is_ok_and(|status| status.success())
}

#[test]
fn nothing_that_an_upload_names_is_looked_at() {
    if !can_trace() {
        return;
    }
    let folder = empty_folder("service-traced-root");
    std::fs::create_dir(folder.join("uploads")).unwrap();
    std::fs::write(folder.join("program"), b"\x7fELF and so on").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
    let fifo = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.is_ok_and(|status| status.success()));
    let paths = targets(&folder);
    let log = folder.join("log");
    let store = empty_folder("service-traced");
    let mut command = Command::new("strace");
    command.args(["-D", "-f", "-qq", "-s", "4096", "-e", "trace=%file,connect,execve", "-o"]);
    command.arg(&log).arg(env!("CARGO_BIN_EXE_unwind-perf"));
    command.args([
        "serve",
        "--no-open",
        "--no-background",
        "--quiet",
        "--uploads",
        "uploads",
        "--store",
    ]);
    command.arg(&store).current_dir(&folder).env_clear();
    let served = Served::of(command, 0, store);
    let host = format!("Host: {}", served.address);
    let token = format!("Authorization: Bearer {}", served.token);
    let kind = "Content-Type: application/octet-stream";
    let bytes = recording(&paths);
    let answer = served.send("POST", "/api/v1/recordings?name=x", &[&host, &token, kind], &bytes);
    assert_eq!(answer.status, 202, "{answer:?}");
    let job = served.follow(&answer.json());
    assert_eq!(job["state"], "done", "{job}");
    let id = job["recording"].as_str().unwrap();
    let row = served.get(&format!("/api/v1/recordings/{id}")).json();
    assert_eq!(row["about"]["samples"], 2 * paths.len());
    for path in &paths {
        let source = served.get(&format!("/api/v1/recordings/{id}/source?file={path}"));
        assert_eq!(source.problem(), "does-not-fit", "{path}");
        let code = served.get(&format!("/api/v1/recordings/{id}/asm?module={path}&address=0x10"));
        assert_eq!(code.status, 422, "{path}: {code:?}");
    }
    for format in ["json", "report", "hotspot"] {
        let export = served.get(&format!("/api/v1/recordings/{id}/export?format={format}"));
        assert_eq!(export.status, 200);
    }
    // Files are not found by build-id either, which a recording of this machine might have.
    let body = json!({ "modules": [{ "build_id": "ab".repeat(20) }], "addresses": [[0, 16]] });
    let named = served.ask("POST", "/api/v1/symbolize", Some(&body)).json();
    assert_eq!(named["modules"][0]["found"], false);
    drop(served);
    check(&std::fs::read_to_string(&log).unwrap(), &paths);
}

/// Checks that the service accessed none of these files.
fn check(log: &str, paths: &[String]) {
    assert!(log.contains("uploads"), "strace saw nothing");
    for path in paths {
        let name = format!("\"{path}\"");
        let seen: Vec<&str> = log.lines().filter(|line| line.contains(&name)).collect();
        assert_eq!(seen, Vec::<&str>::new(), "{path}");
    }
    let others =
        ["connect(", "/passwd", "/shadow", "perf-7.map", "jit-7.dump", "/proc/7/", "etc/hostname"];
    for word in others {
        let seen: Vec<&str> = log.lines().filter(|line| line.contains(word)).collect();
        assert_eq!(seen, Vec::<&str>::new(), "{word}");
    }
    // The only started programs are the service and its worker.
    let started = log.lines().filter(|line| line.contains("execve(") && line.ends_with("= 0"));
    assert!(started.clone().all(|line| line.contains("unwind-perf")), "{log}");
}
