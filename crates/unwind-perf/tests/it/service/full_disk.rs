//! Full disks: a separate small file system for the service, if this system permits mounting one.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::client::{Served, wait_until};
use crate::support::cases::{Case, sysroot};
use crate::support::run::{empty_folder, results};

/// Options of `unshare` for a mount namespace: as the superuser, else with a user namespace.
const WAYS: [&[&str]; 2] = [&["--mount"], &["--mount", "--user", "--map-root-user"]];

/// Mounts a file system at the first argument, and executes the program that follows. A file at the path of the cache
/// of names prevents it, since the cache would use some of the space.
const SCRIPT: &str = "mount -t tmpfs -o size=16k tmpfs \"$0\" && mkdir \"$0/store\" \"$0/uploads\" && \
     : > \"$0/store/names\" && exec \"$@\"";

/// Returns a service with results and uploads on a disk of 16 KiB; `None` if it cannot be mounted.
fn served(test: &str) -> Option<Served> {
    let disk = empty_folder(&format!("service-{test}-disk"));
    let disk = disk.to_str().expect("UTF-8");
    let quiet = |way: &&&[&str]| {
        let mut command = Command::new("unshare");
        command.args(**way).args(["sh", "-c", SCRIPT, disk, "true"]);
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let way = WAYS.iter().find(quiet)?;
    let (store, uploads) = (format!("{disk}/store"), format!("{disk}/uploads"));
    let sysroot = sysroot();
    let mut command = Command::new("unshare");
    command.args(*way).args(["sh", "-c", SCRIPT, disk, env!("CARGO_BIN_EXE_unwind-perf")]);
    command.args([
        "serve",
        "--no-open",
        "--no-background",
        "--quiet",
        "perf.data",
        "--store",
        &store,
    ]);
    command.args(["--uploads", &uploads, "--sysroot", sysroot.to_str().expect("UTF-8")]);
    command.current_dir(Case::named("norm").folder);
    Some(Served::of(command, 0, store.into()))
}

#[test]
fn a_full_disk_is_a_clear_answer_and_the_front_goes_on() {
    let Some(served) = served("full-disk") else { return };
    let id = served.id("perf.data");
    let host = format!("Host: {}", served.address);
    let token = format!("Authorization: Bearer {}", served.token);
    let kind = "Content-Type: application/octet-stream";
    let recording = Case::named("norm").bytes();
    // The disk as the service sees it.
    let folder = format!("/proc/{}/root{}", served.pid(), served.store.display());
    let left = || results(Path::new(&folder));
    for _ in 0..3 {
        let upload =
            served.send("POST", "/api/v1/recordings?name=x", &[&host, &token, kind], &recording);
        assert_eq!((upload.status, upload.problem()), (507, "no-space".to_owned()));
        let export = served.get(&format!("/api/v1/recordings/{id}/export?format=report"));
        assert_eq!((export.status, export.problem()), (507, "no-space".to_owned()));
        // Data that did not fit are removed, and take no space.
        assert_eq!(left(), Vec::<String>::new());
        // A small answer still fits.
        let export = served.get(&format!("/api/v1/recordings/{id}/export?format=folded"));
        assert_eq!(export.status, 200);
        wait_until("the answer is over", || left().is_empty());
    }
    // The space of an answer is free once its last reader is gone.
    let others = format!("{folder}/others");
    wait_until("there is space", || std::fs::write(&others, vec![0; 14 << 10]).is_ok());
    let answer = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    let job = served.follow(&answer.json());
    assert_eq!(job["problem"]["type"], "urn:unwind-perf:no-space", "{job}");
    assert_eq!(left(), ["others"]);
    // There is space again.
    std::fs::remove_file(format!("{folder}/others")).unwrap();
    let answer = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    assert_eq!(served.follow(&answer.json())["state"], "done");
    assert_eq!(served.get(&format!("/api/v1/recordings/{id}/columns")).status, 200);
}
