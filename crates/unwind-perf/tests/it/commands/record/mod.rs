//! `record`, with a script in place of perf: the exit status, previous recordings, and the stored files.

mod preconditions;
mod probes;
mod targets;
mod unwinding;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use synth::MmapFile;

use crate::support::mapped::{Map, RX, Recording, layout_files};
use crate::support::run::{Ran, command, empty_folder, finish, listing, run};

/// Build-id of the recorded program.
const BUILD_ID: [u8; 20] =
    *b"\x7d\xd9\xb7\xb8\x74\x31\x2d\xbb\xb3\xfc\x99\xdd\xdb\xcb\xe2\xb2\xef\xc8\xc4\xf3";
const LOAD: u64 = 0x5555_5555_0000;
/// Offset of a function in it.
const KNOWN: u64 = 0x1000;

/// Handles recordings as perf does: the last one becomes `FILE.old`, the new one exists before the program starts, and
/// the exit status is that of the program. If the program cannot be executed, it leaves an incomplete recording.
const PERF: &str = r#"#!/bin/sh
[ "$1 $2" = "record -h" ] && exit
[ "$1" = version ] && exit
while [ $# -gt 0 ]; do
    case "$1" in
        -o) out=$2; shift 2 ;;
        --) shift; break ;;
        nonsense*) exit 129 ;;
        *) shift ;;
    esac
done
[ -e "$out" ] && /bin/mv "$out" "$out.old"
if [ -x "$1" ]; then
    /bin/cp "${0%/*}/recorded" "$out"
    [ "$1" = ./killed ] && kill -9 $$
    exec "$@"
fi
/bin/cp "${0%/*}/failed" "$out"
exit 255
"#;

/// Creates a folder with the program `app`, a recording of it, and the script for perf.
fn folder(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    fs::copy(layout_files().join("bfd-separate"), folder.join("app")).expect("the build");
    let app = folder.join("app");
    let path = app.to_str().expect("UTF-8");
    let mut recording = Recording::new();
    let file = MmapFile::BuildId(&BUILD_ID);
    let head = Map { start: LOAD, len: 0x1000, offset: 0, prot: 1, file, path };
    recording.map(1, head);
    recording.map(1, Map { start: LOAD + 0x1000, offset: 0x1000, prot: RX, ..head });
    recording.sample(1, LOAD + KNOWN);
    fs::write(folder.join("recorded"), recording.data.build()).expect("a recording");
    let mut unfinished = Recording::new().data.build();
    unfinished[48..56].fill(0);
    fs::write(folder.join("failed"), unfinished).expect("a recording");
    for (name, text) in [("perf", PERF), ("killed", "#!/bin/sh\n")] {
        fs::write(folder.join(name), text).expect("a program");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join(name), mode).expect("executable");
    }
    folder
}

/// Runs `record` in a folder, which is also the user's home.
fn record(folder: &Path, arguments: &[&str]) -> Ran {
    let all = [&["record", "--perf", "./perf"], arguments].concat();
    let child = command(folder, &all).env("HOME", folder).spawn().expect("the command starts");
    finish(child)
}

fn functions(folder: &Path, arguments: &[&str]) -> String {
    let all = [&["-q", "--no-cache", "-f", "folded"], arguments].concat();
    let child = command(folder, &all).env("HOME", folder).spawn().expect("the command starts");
    finish(child).expect_status(0).text().to_owned()
}

/// Returns the recordings and bundles in a folder.
fn recordings(folder: &Path) -> Vec<String> {
    let is_one = |name: &String| name.starts_with("r.") || name.starts_with("unwind-perf");
    listing(folder).into_iter().filter(is_one).collect()
}

/// The program is rebuilt before the recording is read.
#[test]
fn a_recording_outlives_its_program() {
    for (store, arguments) in
        [(".cache/unwind-perf/files", &[][..]), ("mine", &["--buildid-dir", "mine"])]
    {
        let folder = folder(&format!("record-outlives-{}", arguments.len()));
        let ran = record(
            &folder,
            &[&["--store-size", "1M", "-o", "r.data"], arguments, &["--", "/bin/true"]].concat(),
        );
        let place = if store == "mine" { "mine".to_owned() } else { format!("~/{store}") };
        let app = fs::read(folder.join("app")).expect("the program");
        let stored = format!(
            "stored: 1 file, {:.1} kB, in {place} (limit 1 MiB; --no-store keeps none)\n",
            app.len() as f64 / 1e3
        );
        assert!(ran.expect_status(0).stderr.contains(&stored), "{stored}");
        fs::remove_file(folder.join("app")).expect("removed");
        fs::copy(layout_files().join("bfd-noseparate"), folder.join("app")).expect("another build");
        assert_eq!(
            functions(&folder, &[arguments, &["r.data"]].concat()),
            "[unknown];[truncated];known 1\n"
        );
        let entry = folder.join(store).join(".build-id/7d/d9b7b874312dbbb3fc99dddbcbe2b2efc8c4f3");
        assert!(fs::read(entry.join("elf")).expect("stored") == app);
        assert_eq!(listing(&entry), ["elf", "unwind-perf"]);
        if arguments.is_empty() {
            let cache = |what: &str| {
                let child = command(&folder, &["cache", what]).env("HOME", &folder).spawn();
                finish(child.expect("the command starts")).expect_status(0).text().to_owned()
            };
            let bytes = app.len();
            let path = folder.join(store);
            let expected = |n: u64, bytes: usize| {
                let path = path.display();
                format!(
                    "recorded files, in {path}\nrecorded files: {n}, bytes: {bytes}, of programs and libraries: {n}\n"
                )
            };
            assert_eq!(cache("info"), expected(1, bytes));
            assert_eq!(cache("clear"), format!("removed files: 1, bytes: {bytes}\n"));
            assert_eq!(cache("info"), expected(0, 0));
        }
        // Without a stored copy, the message names the command that would have stored one.
        fs::remove_dir_all(folder.join(store)).expect("removed");
        let ran = run(&folder, &["-v", "-f", "folded", "r.data"]).expect_status(0);
        assert!(ran.stderr.contains("unwind-perf record stores such files"), "{}", ran.stderr);
    }
}

#[test]
fn nothing_is_stored_that_the_user_does_not_want_or_has_no_place_for() {
    let folder = folder("record-no-store");
    let line = |arguments: &[&str]| {
        let ran = record(&folder, &[arguments, &["-o", "r.data", "--", "/bin/true"]].concat());
        let stderr = ran.expect_status(0).stderr;
        stderr.lines().find(|line| line.starts_with("stored")).unwrap_or_default().to_owned()
    };
    assert_eq!(line(&["--no-store"]), "");
    assert_eq!(
        line(&["--store-size", "1K"]),
        "stored: no file in ~/.cache/unwind-perf/files (limit 1.0 kB; --no-store keeps none); not stored: 1 over the limit \
         (--store-size)"
    );
    assert_eq!(
        line(&["--buildid-dir", "app"]),
        "stored: no file: app: Not a directory (os error 20); --buildid-dir DIR names another folder"
    );
    let words = ["record", "--perf", "./perf", "-o", "r.data", "--", "/bin/true"];
    let ran = run(&folder, &words).expect_status(0);
    let why = "stored: no file: neither HOME nor XDG_CACHE_HOME is set; --buildid-dir DIR names a folder\n";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    fs::remove_file(folder.join("app")).expect("removed");
    assert_eq!(
        line(&["--store-size", "1M"]),
        "stored: no file in ~/.cache/unwind-perf/files (limit 1 MiB; --no-store keeps none); not stored: 1 no longer \
         found"
    );
    let ran = record(&folder, &["-q", "-o", "r.data", "--", "/bin/true"]).expect_status(0);
    assert_eq!(ran.stderr, "");
    assert!(!folder.join(".cache").exists());
}

#[test]
fn the_status_is_that_of_the_program() {
    let folder = folder("record-status");
    let status = |arguments: &[&str]| {
        record(&folder, &[&["-q", "-o", "r.data", "--"], arguments].concat()).status
    };
    assert_eq!(status(&["/bin/sh", "-c", "exit 3"]), 3);
    assert_eq!(status(&["/bin/sh", "-c", "exit 255"]), 255);
    assert_eq!(status(&["./killed"]), 137);
    assert_eq!((status(&["./no-such-program"]), status(&["./recorded"])), (127, 126));
    for (arguments, message) in [
        (&["-e", "nonsense", "--", "/bin/true"][..], "perf wrote no recording (exit status: 129)"),
        (&["--perf", "./none", "--", "/bin/true"], "cannot start ./none"),
        (&["-o", "-", "--", "/bin/true"], "-o - is not supported"),
        (&["--no-such-option", "--", "/bin/true"], "record has no option --no-such-option"),
        (
            &[],
            "name a command (record -- COMMAND), processes (-p PID, --cgroup, --container) or all (-a)",
        ),
        (&["-a", "--cgroup", "x"], "'--all-cpus' cannot be used with '--cgroup <NAME>'"),
        (
            &["-p", "1", "--container", "x"],
            "'--pid <PID,…>' cannot be used with '--container <NAME>'",
        ),
        (&["--store-size", "many", "--", "/bin/true"], "invalid value 'many'"),
    ] {
        let all = [&["record"][..], arguments].concat();
        let all = if arguments.contains(&"--perf") {
            all
        } else {
            [&all[..1], &["--perf", "./perf"], &all[1..]].concat()
        };
        let ran = run(&folder, &all).expect_status(125);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    // Damage is only a message.
    let whole = fs::read(folder.join("recorded")).expect("a recording");
    fs::write(folder.join("recorded"), &whole[..whole.len() - 9]).expect("cut");
    let ran = record(&folder, &["-q", "-o", "r.data", "--", "/bin/sh", "-c", "exit 3"]);
    assert!(ran.stderr.contains("the recording is damaged"), "{}", ran.stderr);
    assert_eq!(ran.status, 3);
}

#[test]
fn a_failure_leaves_the_recordings_of_before() {
    let folder = folder("record-failure");
    let of =
        |arguments: &[&str]| record(&folder, &[&["-q", "-o", "r.data"], arguments].concat()).status;
    let texts = || {
        let text = |name: &String| {
            String::from_utf8_lossy(&fs::read(folder.join(name)).expect("a file")).into_owned()
        };
        recordings(&folder).iter().map(|name| (name.clone(), text(name))).collect::<Vec<_>>()
    };
    let failures = [&["--", "./no-such-program"][..], &["-e", "nonsense", "--", "/bin/true"]];
    for failure in failures {
        assert_ne!(of(failure), 0);
        assert_eq!(recordings(&folder), Vec::<String>::new());
    }
    fs::write(folder.join("r.data"), "first").expect("a file");
    fs::write(folder.join("r.data.old"), "older").expect("a file");
    let before = texts();
    for failure in failures {
        assert_ne!(of(failure), 0);
        assert_eq!(texts(), before);
    }
    assert_eq!(of(&["--", "/bin/true"]), 0);
    assert_eq!(recordings(&folder), ["r.data", "r.data.old"]);
    assert_eq!(fs::read(folder.join("r.data.old")).expect("a file"), b"first");
}

#[test]
fn a_bundle_takes_the_place_of_the_recording() {
    let folder = folder("record-bundle");
    for output in ["r.data", "r.upb"] {
        let ran = record(&folder, &["--bundle", "-o", output, "--", "/bin/sh", "-c", "exit 3"]);
        assert!(ran.expect_status(3).stderr.contains("next: unwind-perf top r.upb"));
        assert_eq!(recordings(&folder), ["r.upb"]);
    }
    assert!(!folder.join(".cache").exists());
    let mode = fs::metadata(folder.join("r.upb")).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    fs::remove_file(folder.join("app")).expect("removed");
    assert_eq!(functions(&folder, &["r.upb"]), "[unknown];[truncated];known 1\n");
    assert_eq!(record(&folder, &["-q", "--bundle", "-o", "r.data", "--", "./none"]).status, 127);
    assert_eq!(recordings(&folder), ["r.upb"]);
    // The recording is not lost if it cannot be bundled.
    fs::remove_file(folder.join("r.upb")).expect("removed");
    fs::create_dir(folder.join("r.upb")).expect("a folder");
    let ran = record(&folder, &["--bundle", "-o", "r.data", "--", "/bin/true"]).expect_status(125);
    assert!(ran.stderr.contains("cannot be bundled; the recording is in r.data"), "{}", ran.stderr);
    assert_eq!(recordings(&folder), ["r.data", "r.upb"]);
}

/// Other users could have put files there, such as another program under the build-id.
#[test]
fn a_default_store_that_others_can_write_is_not_used() {
    let folder = folder("record-shared");
    let arguments = ["-o", "r.data", "--", "/bin/true"];
    record(&folder, &arguments).expect_status(0);
    fs::remove_file(folder.join("app")).expect("removed");
    assert_eq!(functions(&folder, &["r.data"]), "[unknown];[truncated];known 1\n");
    let store = folder.join(".cache/unwind-perf/files");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o777)).expect("set");
    let child = command(&folder, &["-f", "json", "r.data"]).env("HOME", &folder).spawn();
    let json = finish(child.expect("the command starts")).expect_status(0).json();
    let findings = json["summary"]["findings"].as_array().expect("findings");
    let why = format!("{} can be written by others (mode 777)", store.display());
    let message = format!("{why}; its files are not used");
    let found = findings.iter().find(|it| it["kind"] == "folder-not-trusted").expect("one");
    assert_eq!(found["message"], message.as_str());
    assert!(!functions(&folder, &["r.data"]).contains("known 1"));
    let ran = record(&folder, &arguments).expect_status(0);
    let line = format!("stored: no file: {why}; --buildid-dir DIR names a folder\n");
    assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    // For a named store this is an error before anything is recorded.
    let store = store.to_str().expect("UTF-8");
    let named = ["--buildid-dir", store, "-o", "r.new", "--", "/bin/true"];
    let line = format!(
        "unwind-perf: --buildid-dir {store}: {why}; name a folder that only you can write (chmod go-w)\n"
    );
    assert_eq!(record(&folder, &named).expect_status(125).stderr, line);
    assert!(!folder.join("r.new").exists());
}
