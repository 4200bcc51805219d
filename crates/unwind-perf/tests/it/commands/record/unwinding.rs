//! `record --unwind`, with a script in place of perf that obeys its control FIFO and writes a stream.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use synth::RecordingParts;

use crate::support::cases::Case;
use crate::support::pty::on_terminal;
use crate::support::run::{Ran, command, empty_folder, finish, listing, run};

/// Begins once it is enabled, and ends once it is stopped. `started` is what it does between.
fn perf(started: &str) -> String {
    format!(
        r#"#!/bin/sh
[ "$1 $2" = "record -h" ] && exit
[ "$1" = version ] && exit
for word; do
    case "$word" in fifo:*) fifos=${{word#fifo:}} ;; esac
done
exec 3<>"${{fifos%,*}}" 4<>"${{fifos#*,}}"
cat "${{0%/*}}/stream"
read -r command <&3
[ "$command" = enable ] || exit 9
echo ack >&4
echo Events enabled >&2
{started}
read -r command <&3
[ "$command" = stop ] || exit 9
"#
    )
}

/// Creates a folder with a script for perf and the stream that it writes: that of a case, as a pipe.
fn folder(name: &str, case: &str, started: &str) -> PathBuf {
    let folder = empty_folder(name);
    fs::write(folder.join("perf"), perf(started)).expect("a script");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join("perf"), mode).expect("executable");
    let case = Case::named(case);
    let stream = RecordingParts::read(&case.bytes()).expect("a plain file").pipe();
    fs::write(folder.join("stream"), stream).expect("a stream");
    folder
}

fn record(folder: &Path, arguments: &[&str]) -> Ran {
    let all =
        [&["record", "--unwind", "--no-store", "--perf", "./perf", "-o", "r.data"], arguments];
    finish(command(folder, &all.concat()).env("HOME", folder).spawn().expect("the command starts"))
}

fn samples(folder: &Path, input: &str) -> String {
    run(folder, &[input, "-q", "-f", "ndjson"]).text().to_owned()
}

#[test]
fn the_recording_has_the_stacks_of_the_stream() {
    let folder = folder("record-unwind", "recursion-rs", "");
    fs::write(folder.join("r.data"), "former").expect("written");
    let ran = record(&folder, &["--", "/bin/sh", "-c", "echo out; exit 7"]);
    assert_eq!((ran.status, ran.text()), (7, "out\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("41 samples, "), "{}", ran.stderr);
    assert!(!ran.stderr.contains("Events enabled"), "{}", ran.stderr);
    assert_eq!(samples(&folder, "r.data"), samples(&folder, "stream"));
    assert_eq!(fs::read(folder.join("r.data.old")).expect("the former one"), b"former");
    let info = run(&folder, &["info", "r.data"]).expect_status(0).text().to_owned();
    let command = "command line: ./perf record -e cpu-clock -F 997 --call-graph dwarf,16384 -o r.data \
                   -- /bin/sh -c echo out; exit 7\n";
    assert!(info.contains(command), "{info}");
    let size = |name: &str| fs::metadata(folder.join(name)).expect("a file").len();
    let compressed = size("r.data");
    let ran = record(&folder, &["-q", "--no-compress", "--", "/bin/sh", "-c", "exit 0"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_eq!(samples(&folder, "r.data"), samples(&folder, "stream"));
    assert!(compressed < size("r.data") && size("r.data") * 5 < size("stream"));
}

#[test]
fn switches_stay() {
    let folder = folder("record-unwind-switches", "off-cpu", "");
    let ran = record(&folder, &["-q", "--", "/bin/sh", "-c", "exit 0"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let waits = |input: &str| {
        let words = ["top", input, "-q", "--weight", "off-cpu", "--by", "thread", "-f", "csv"];
        run(&folder, &words).expect_status(0).text().to_owned()
    };
    let found = waits("r.data");
    assert!(found.lines().count() > 1, "{found}");
    assert_eq!(found, waits("stream"));
}

#[test]
fn the_page_follows_on_a_terminal() {
    let folder = folder("record-unwind-open", "recursion-rs", "");
    let words =
        ["record", "--unwind", "--open", "--no-store", "--perf", "./perf", "-q", "/bin/true"];
    let ran = on_terminal(&folder, &words, 80, false);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.text.starts_with("Wrote perf.data.html ("), "{}", ran.text);
    assert_eq!(listing(&folder), ["perf", "perf.data", "perf.data.html", "stream"]);
    let refused = run(&folder, &words);
    let message =
        "unwind-perf: --open needs a terminal; write the page with unwind-perf report -o FILE\n";
    assert_eq!((refused.status, refused.stderr.as_str()), (125, message));
}

#[test]
fn faults_of_the_recorder_do_not_reach_the_program() {
    let folder = folder("record-unwind-killed", "recursion-rs", "kill -9 $$");
    let ran = record(&folder, &["--", "/bin/sh", "-c", "sleep 0.3; echo done; exit 3"]);
    assert_eq!((ran.status, ran.text()), (3, "done\n"), "{}", ran.stderr);
    let ended = "perf ended early (signal: 9 (SIGKILL)); the recording ends there";
    assert!(ran.stderr.contains(ended), "{}", ran.stderr);
    assert_eq!(samples(&folder, "r.data"), samples(&folder, "stream"));
}

#[test]
fn without_a_recording_the_former_one_stays() {
    let folder = folder("record-unwind-none", "recursion-rs", "");
    fs::write(folder.join("stream"), "").expect("written");
    fs::write(folder.join("r.data"), "former").expect("written");
    let ran = record(&folder, &["-q", "--", "./missing"]);
    assert_eq!(ran.status, 127, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot start ./missing: No such file"), "{}", ran.stderr);
    fs::write(folder.join("perf"), "#!/bin/sh\nexit 129\n").expect("a script");
    let ran = record(&folder, &["-q", "--", "/bin/sh", "-c", "echo started"]);
    assert_eq!((ran.status, ran.text()), (125, ""), "{}", ran.stderr);
    let message =
        "perf did not start to record (exit status: 129); --unwind needs perf 5.10 or later";
    assert!(ran.stderr.contains(message), "{}", ran.stderr);
    assert_eq!(fs::read(folder.join("r.data")).expect("the former one"), b"former");
    assert_eq!(listing(&folder), ["perf", "r.data", "stream"]);
}
