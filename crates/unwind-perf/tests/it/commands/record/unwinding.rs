//! `record --unwind`, with a script in place of perf that obeys its control FIFO and writes a stream.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use synth::{
    Endian, EventAttr, PerfDataBuilder, PipeLayout, RecordingParts, SampleBuilder, UserRecord,
};

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
    let message = "unwind-perf: perf did not start to record (exit status: 129)\n";
    assert_eq!(ran.stderr, message);
    let ran = record(&folder, &["-q", "--every", "1m", "--", "/bin/sh", "-c", "echo started"]);
    assert_eq!((ran.status, ran.text()), (125, ""), "{}", ran.stderr);
    assert_eq!(fs::read(folder.join("r.data")).expect("the former one"), b"former");
    assert_eq!(listing(&folder), ["perf", "r.data", "stream"]);
}

/// Replaces the stream by one of 200 samples in two seconds, most of which a reader gets before its end.
fn synthesize(folder: &Path) {
    let mut records = PerfDataBuilder::new(Endian::Little);
    records.event("cycles:u", EventAttr::dwarf(0xff_0fff), &[1]);
    records.describe_events();
    for number in 0..200 {
        let time = 1_000_000_000 + number * 10_000_000;
        records.sample(&SampleBuilder::at(0x40_0000 + number, 7, 7, time));
        if number % 10 == 9 {
            records.user_record(&UserRecord::FinishedRound);
        }
    }
    fs::write(folder.join("stream"), records.build_pipe(&PipeLayout::default())).expect("written");
}

/// Returns the number of samples of a recording.
fn count(folder: &Path, input: &str) -> usize {
    samples(folder, input).matches("\"time_ns\"").count()
}

/// Returns the files of a recording that are named by a time, in their order.
fn dated(folder: &Path) -> Vec<String> {
    listing(folder).into_iter().filter(|name| name.starts_with("r.data.2")).collect()
}

/// Shell code that sets `unwinder` to the process that unwinds, once it is confined.
const FIND_UNWINDER: &str = r#"
until [ "$unwinder" ]; do
    for process in /proc/[0-9]*; do
        if grep -q "^PPid:.$PPID$" $process/status && grep -qz unwind-recording $process/cmdline &&
            grep -q "^Seccomp:.2$" $process/status
        then unwinder=${process#/proc/}
        fi 2>/dev/null
    done
done
"#;

#[test]
fn the_unwinder_has_few_rights() {
    let folder = folder("record-unwind-rights", "recursion-rs", "");
    let show = "grep -E '^(Uid|CapPrm|CapEff|NoNewPrivs):' /proc/$unwinder/status";
    let program = format!("{FIND_UNWINDER}{show}");
    let ran = record(&folder, &["-q", "--", "/bin/sh", "-c", &program]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let user = match rustix::process::geteuid().as_raw() {
        0 => 65_534,
        user => user,
    };
    let none = "0000000000000000";
    let expected = format!(
        "Uid:\t{user}\t{user}\t{user}\t{user}\nCapPrm:\t{none}\nCapEff:\t{none}\nNoNewPrivs:\t1\n"
    );
    assert_eq!(ran.text(), expected);
    assert_eq!(samples(&folder, "r.data"), samples(&folder, "stream"));
}

#[test]
fn a_killed_unwinder_leaves_the_samples_before() {
    let folder = folder("record-unwind-unwinder", "recursion-rs", "");
    synthesize(&folder);
    let program = format!("{FIND_UNWINDER} sleep 1.5; kill -9 $unwinder; echo done; exit 5");
    let ran = record(&folder, &["--", "/bin/sh", "-c", &program]);
    assert_eq!((ran.status, ran.text()), (5, "done\n"), "{}", ran.stderr);
    let ended = "the unwinder ended early (signal: 9 (SIGKILL)); the recording ends there";
    assert!(ran.stderr.contains(ended), "{}", ran.stderr);
    let kept = count(&folder, "r.data");
    assert!((150..=200).contains(&kept), "{kept}");
}

#[test]
fn files_follow_each_other() {
    let folder = folder("record-unwind-every", "recursion-rs", "");
    synthesize(&folder);
    // The program ends after it has seen a third file.
    let program = "until set -- r.data.2* && [ -e \"$3\" ]; do sleep 0.05; done";
    let ran = record(&folder, &["--every", "0.1s", "--", "/bin/sh", "-c", program]);
    let ran = ran.expect_status(0);
    let pid = ran.stderr.split("kill -USR2 ").nth(1).and_then(|rest| rest.split(' ').next());
    assert!(pid.is_some_and(|pid| pid.parse::<u32>().is_ok()), "{}", ran.stderr);
    assert!(ran.stderr.contains(" begins the next file\n"), "{}", ran.stderr);
    let files = dated(&folder);
    assert!(files.len() >= 3 && !folder.join("r.data").exists(), "{files:?}");
    let counts: Vec<usize> = files.iter().map(|name| count(&folder, name)).collect();
    assert_eq!(counts.iter().sum::<usize>(), 200, "{counts:?}");
    assert!(counts.iter().filter(|&&samples| samples > 0).count() > 1, "{counts:?}");
    for name in &files[..files.len() - 1] {
        assert!(ran.stderr.contains(&format!("recorded: {name}, ")), "{name} in {}", ran.stderr);
    }
    let next = format!("next: unwind-perf top {}, or", files[files.len() - 1]);
    assert!(ran.stderr.contains(&next), "{}", ran.stderr);

    let program = "sleep 2";
    let ran = record(&folder, &["--every", "0.1s", "--keep", "2", "/bin/sh", "-c", program]);
    let ran = ran.expect_status(0);
    assert!(ran.stderr.contains("removed: r.data.2"), "{}", ran.stderr);
    assert!(dated(&folder).len() <= files.len() + 2, "the former files stay");
}

#[test]
fn the_last_samples_become_a_file() {
    let folder = folder("record-unwind-last", "recursion-rs", "");
    synthesize(&folder);
    // The program requests a file from its parent, and ends once it exists.
    let request = "until kill -USR2 $PPID; set -- r.data.2*; [ -e \"$1\" ]; do sleep 0.05; done";
    let ran = record(&folder, &["--last", "1h", "--", "/bin/sh", "-c", request]).expect_status(0);
    assert!(ran.stderr.contains(" writes a file\n"), "{}", ran.stderr);
    assert_eq!(count(&folder, "r.data"), 200);
    let files = dated(&folder);
    let requested = count(&folder, &files[0]);
    assert!((150..=200).contains(&requested), "{requested} in {files:?}");
    assert!(ran.stderr.contains(&format!("recorded: {}, ", files[0])), "{}", ran.stderr);
    // Half a second of samples, and up to a sixteenth of it.
    let ran = record(&folder, &["-q", "--last", "0.5s", "--", "/bin/true"]).expect_status(0);
    assert_eq!(ran.stderr, "");
    let kept = count(&folder, "r.data");
    assert!((50..=56).contains(&kept), "{kept}");
}

#[test]
fn a_recording_ends_at_its_size() {
    let folder = folder("record-unwind-size", "recursion-rs", "");
    let program = ["--max-size", "1K", "--", "/bin/sh", "-c", "sleep 1; exit 4"];
    let ran = record(&folder, &program).expect_status(4);
    assert!(ran.stderr.contains("the recording has reached 1.0 kB and ends\n"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("ended early"), "{}", ran.stderr);
    assert_eq!(samples(&folder, "r.data"), samples(&folder, "stream"));
    for words in [&["--keep", "2"][..], &["--every", "1m", "--last", "1m"], &["--every", "0"]] {
        assert_eq!(record(&folder, words).status, 125, "{words:?}");
    }
    let ran = record(&folder, &["--every", "1m", "-o", "x.upb", "/bin/true"]);
    assert_eq!(ran.status, 125);
}

#[test]
fn the_size_of_stacks_is_found_with_one_stream_only() {
    let folder = folder("record-unwind-auto", "recursion-rs", "");
    let ran = record(&folder, &["--stack-size", "auto", "--", "/bin/true"]).expect_status(0);
    assert!(ran.stderr.contains(" --call-graph dwarf,65528 "), "{}", ran.stderr);
    assert_eq!(samples(&folder, "r.data"), samples(&folder, "stream"));
    // Too few samples to decide.
    let ran = record(&folder, &["-a", "--stack-size", "auto", "--", "/bin/true"]).expect_status(0);
    assert!(!ran.stderr.contains("from now on"), "{}", ran.stderr);
    assert_eq!(samples(&folder, "r.data"), samples(&folder, "stream"));
    let words = ["record", "--perf", "./perf", "--stack-size", "auto", "/bin/true"];
    let refused = run(&folder, &words);
    let message = "unwind-perf: --stack-size auto needs --unwind, which measures the stacks while it records\n";
    assert_eq!((refused.status, refused.stderr.as_str()), (125, message));
}

#[cfg(feature = "service")]
#[test]
fn a_recording_is_shown_while_it_is_made() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};

    let folder = folder("record-unwind-live", "recursion-rs", "");
    synthesize(&folder);
    let program = "until [ -e seen ]; do sleep 0.05; done";
    let words = ["record", "--unwind", "--live", "-q", "--no-store", "--perf", "./perf"];
    let words = [&words[..], &["-o", "r.data", "--", "/bin/sh", "-c", program]].concat();
    let mut child =
        command(&folder, &words).env("HOME", &folder).spawn().expect("the command starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("its messages"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("an address");
    let address = line.trim().strip_prefix("http://").expect("an address");
    let (host, _) = address.split_once('/').expect("a path");
    let mut page = std::net::TcpStream::connect(host).expect("the service answers");
    write!(page, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    page.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    fs::write(folder.join("seen"), "").expect("written");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(count(&folder, "r.data"), 200);
    std::net::TcpStream::connect(host).expect_err("the view has ended");
}
