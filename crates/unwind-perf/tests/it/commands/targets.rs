//! Targets of the output: never an input, the target of a link instead of the link, and devices only if they are named.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use synth::RecordingParts;

use crate::support::cases::{Case, formats, sysroot};
use crate::support::run::{Ran, command, empty_folder, finish, listing, run, started_as};

/// Creates a folder with a recording, `perf.data`.
fn folder_with_recording(name: &str) -> (PathBuf, Vec<u8>) {
    let folder = empty_folder(name);
    let bytes = Case::named("plt").bytes();
    fs::write(folder.join("perf.data"), &bytes).expect("written");
    (folder, bytes)
}

/// Checks that the run was refused with this line, and that the recording is unchanged.
#[track_caller]
fn refused(ran: Ran, message: &str, recording: &Path, bytes: &[u8]) {
    let ran = ran.expect_status(2);
    assert_eq!((ran.text(), ran.stderr.as_str()), ("", format!("{message}\n").as_str()));
    assert!(fs::read(recording).expect("the recording") == bytes, "{message}: it was overwritten");
}

#[test]
fn the_recording_is_overwritten_under_none_of_its_names() {
    let (folder, bytes) = folder_with_recording("targets-names");
    let recording = folder.join("perf.data");
    symlink("perf.data", folder.join("symlink")).expect("a link");
    symlink("symlink", folder.join("link-of-link")).expect("a link");
    fs::hard_link(&recording, folder.join("hard-link")).expect("a link");
    fs::create_dir(folder.join("sub")).expect("a folder");
    let whole = recording.to_str().expect("UTF-8");
    let before = listing(&folder);
    for name in ["perf.data", "./sub/../perf.data", "symlink", "link-of-link", "hard-link", whole] {
        let message = format!("unwind-perf: {name} is the recording itself; name another file");
        for arguments in [
            &["perf.data", "-o", name][..],
            &["symlink", "-o", name],
            &["perf.data", "-f", "hotspot", "-o", name],
            &["flamegraph", "perf.data", "-o", name],
            &["report", "perf.data", "-o", name],
            &["inject", "perf.data", "-o", name],
            &["inject", "hard-link", "-o", name],
        ] {
            refused(run(&folder, arguments), &message, &recording, &bytes);
        }
    }
    let message = "unwind-perf: perf.data is the recording itself; name another file";
    for format in formats() {
        let ran = run(&folder, &["perf.data", "-f", &format, "-o", "perf.data"]);
        refused(ran, message, &recording, &bytes);
    }
    assert_eq!(listing(&folder), before);
}

#[test]
fn other_programs_names_overwrite_it_neither() {
    let (folder, bytes) = folder_with_recording("targets-programs");
    let recording = folder.join("perf.data");
    symlink("perf.data", folder.join("link")).expect("a link");
    for (program, name, arguments) in [
        (
            started_as("hotspot-perfparser"),
            "hotspot-perfparser",
            &["--input", "perf.data", "--output", "link"][..],
        ),
        (
            started_as("hotspot-perfparser"),
            "hotspot-perfparser",
            &["--input", "perf.data", "--print-stats", "--output", "link"],
        ),
        (
            started_as("perf_to_profile"),
            "perf_to_profile",
            &["-i", "perf.data", "-f", "-o", "link"],
        ),
    ] {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&folder).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = finish(command.spawn().expect("the command starts"));
        let message = format!("{name}: link is the recording itself; name another file");
        refused(ran, &message, &recording, &bytes);
    }
}

/// Inputs are also recognized as redirected standard input and output.
#[test]
fn a_redirected_recording_is_recognized() {
    let (folder, bytes) = folder_with_recording("targets-redirected");
    let recording = folder.join("perf.data");
    let mut reads = command(&folder, &["-", "-o", "perf.data"]);
    reads.stdin(fs::File::open(&recording).expect("the recording"));
    let message = "unwind-perf: perf.data is the recording itself; name another file";
    let ran = finish(reads.spawn().expect("the command starts"));
    refused(ran, message, &recording, &bytes);

    let mut appends = command(&folder, &["perf.data"]);
    appends.stdout(fs::File::options().append(true).open(&recording).expect("the recording"));
    let message = "unwind-perf: standard output is the recording itself; name another file";
    let ran = finish(appends.spawn().expect("the command starts"));
    refused(ran, message, &recording, &bytes);
}

#[test]
fn files_of_a_directory_are_the_recording() {
    let folder = empty_folder("targets-directory");
    let parts = RecordingParts::read(&Case::named("fork").bytes()).expect("a plain file");
    let (data, files) = parts.directory(2, None);
    let directory = folder.join("perf.dir");
    fs::create_dir(&directory).expect("a folder");
    fs::write(directory.join("data"), &data).expect("written");
    for (number, file) in files.iter().enumerate() {
        fs::write(directory.join(format!("data.{number}")), file).expect("written");
    }
    for (name, bytes) in [("data", &data), ("data.1", &files[1])] {
        let path = format!("perf.dir/{name}");
        let message = format!("unwind-perf: {path} is the recording itself; name another file");
        let ran = run(&folder, &["perf.dir", "-o", &path]);
        refused(ran, &message, &folder.join(&path), bytes);
    }
    // The recording has several files, so there is no single file to write.
    let message = "unwind-perf: perf.dir is a directory: recordings of perf record --threads are \
                   read, but cannot be rewritten as one file";
    let ran = run(&folder, &["inject", "perf.dir", "-o", "new"]);
    refused(ran, message, &directory.join("data"), &data);
    assert_eq!(listing(&folder), ["perf.dir"]);
    assert_eq!(listing(&directory), ["data", "data.0", "data.1"]);
}

#[test]
fn other_inputs_are_not_overwritten() {
    let (folder, _) = folder_with_recording("targets-inputs");
    let other = folder.join("other");
    let text = "# other\n";
    fs::write(&other, text).expect("written");
    fs::write(folder.join("hints"), "other@*,0x1000,0x10\n").expect("written");
    let object = "other@*,0x1000,0x10";
    for arguments in [
        &["perf.data", "--kallsyms", "other"][..],
        &["perf.data", "--module", "other"],
        &["perf.data", "--map-file", "other"],
        &["perf.data", "--map", object],
        &["perf.data", "--map-file", "hints"],
        &["perf.data", "--buildid-dir", "other"],
        &["perf.data", "-f", "hotspot", "--map", object],
        &["inject", "perf.data", "--module", "other"],
    ] {
        let ran = run(&folder, &[arguments, &["-o", "other"]].concat());
        let message = "unwind-perf: other is read by this run; name another file";
        refused(ran, message, &other, text.as_bytes());
    }
}

/// The target of a link is replaced or created; the link stays.
#[test]
fn links_are_followed() {
    let (folder, _) = folder_with_recording("targets-links");
    let elsewhere = folder.join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("there"), "old").expect("written");
    let root = sysroot();
    let root = root.to_str().expect("UTF-8");
    let common = ["perf.data", "--sysroot", root];
    let expected = run(&folder, &[&common[..], &["-q"]].concat()).expect_status(0).stdout;
    for (link, target) in [("a", "elsewhere/there"), ("b", "elsewhere/new"), ("c", "b")] {
        symlink(target, folder.join(link)).expect("a link");
        run(&folder, &[&common[..], &["-q", "-f", "json", "-o", link]].concat()).expect_status(0);
        assert_eq!(fs::read_link(folder.join(link)).expect("a link"), Path::new(target));
        assert!(fs::read(folder.join(link)).expect("the output") == expected, "{link}");
    }
    fs::write(elsewhere.join("there"), "old").expect("written");
    run(&folder, &[&["inject"], &common[..], &["-o", "a"]].concat()).expect_status(0);
    assert_eq!(fs::read_link(folder.join("a")).expect("a link"), Path::new("elsewhere/there"));
    let magic = fs::read(elsewhere.join("there")).expect("the recording")[..8].to_vec();
    assert_eq!(magic, b"PERFILE2");
    assert_eq!(listing(&elsewhere), ["new", "there"]);
    assert_eq!(listing(&folder), ["a", "b", "c", "elsewhere", "perf.data"]);

    symlink("loop", folder.join("loop")).expect("a link");
    let ran = run(&folder, &["perf.data", "-o", "loop"]).expect_status(2);
    let message = "unwind-perf: cannot write loop: Too many levels of symbolic links";
    assert_eq!(ran.stderr, format!("{message} (os error 40)\n"));
}

/// No other user decides which file is written.
#[test]
fn links_of_others_and_to_their_files_are_not_followed() {
    let (folder, bytes) = folder_with_recording("targets-foreign");
    symlink("new", folder.join("link")).expect("a link");
    symlink("theirs", folder.join("mine")).expect("a link");
    fs::write(folder.join("theirs"), "theirs").expect("written");
    // Only the superuser can change the owner.
    if lchown(folder.join("link"), Some(12_345), None).is_err() {
        return;
    }
    lchown(folder.join("theirs"), Some(12_345), None).expect("given");
    let before = listing(&folder);
    let recording = folder.join("perf.data");
    for (name, why) in [
        ("link", "link is a symbolic link of another user (uid 12345)"),
        ("mine", "theirs belongs to another user (uid 12345)"),
    ] {
        let message = format!("unwind-perf: cannot write {name}: {why}; name the file itself");
        for arguments in [&["perf.data", "-o", name][..], &["inject", "perf.data", "-o", name]] {
            refused(run(&folder, arguments), &message, &recording, &bytes);
        }
    }
    assert_eq!(listing(&folder), before);
    assert_eq!(fs::read(folder.join("theirs")).expect("a file"), b"theirs");
}

/// A recording needs a file; a FIFO is not replaced by one.
#[test]
fn a_rewritten_recording_replaces_only_files() {
    let (folder, bytes) = folder_with_recording("targets-fifo");
    let recording = folder.join("perf.data");
    let fifo = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    // Without a program that creates FIFOs, this part is skipped.
    if made.is_ok_and(|status| status.success()) {
        let ran = run(&folder, &["inject", "perf.data", "-o", "fifo"]);
        refused(ran, "unwind-perf: cannot write fifo: not a regular file", &recording, &bytes);
        assert!(fs::metadata(&fifo).expect("the FIFO").file_type().is_fifo());
    }
    fs::create_dir(folder.join("folder")).expect("a folder");
    let ran = run(&folder, &["inject", "perf.data", "-o", "folder"]);
    refused(ran, "unwind-perf: cannot write folder: not a regular file", &recording, &bytes);
}
