//! A run is the same in every container and in both byte orders: converted real recordings give the same lines.

use std::path::Path;
use std::process::Stdio;

use synth::{RecordingParts, big_endian_copy};

use crate::support::cases::{Case, sysroot};
use crate::support::run::{command, empty_folder, finish, run};

/// Processes and threads, exec and fork, kernel frames, two events, broken chains, late-loaded libraries.
const SOME: &[&str] =
    &["anon", "dlopen", "exceptions", "fork", "recursion-rs", "signal", "syscalls", "two-events"];

/// Size of chunks, which split records at any byte.
const CHUNK: usize = 5000;

fn arguments(case: &Case, input: &str) -> Vec<String> {
    let mut all = vec![input.to_owned(), "--sysroot".to_owned(), sysroot().display().to_string()];
    let kallsyms = case.folder.join("kallsyms");
    if kallsyms.is_file() {
        all.extend(["--kallsyms".to_owned(), kallsyms.display().to_string()]);
    }
    all.extend(["--quiet".to_owned(), "--format".to_owned(), "ndjson".to_owned()]);
    all
}

/// Returns the lines for a file or directory in `folder`.
fn lines(case: &Case, folder: &Path, input: &str) -> Vec<u8> {
    let arguments = arguments(case, input);
    run(folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).expect_status(0).stdout
}

/// Returns the lines for a file on standard input.
fn lines_of_input(case: &Case, file: &Path) -> Vec<u8> {
    let arguments = arguments(case, "-");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = command(Path::new("."), &arguments);
    command.stdin(Stdio::from(std::fs::File::open(file).expect("a file")));
    finish(command.spawn().expect("the command starts")).expect_status(0).stdout
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("a file");
}

#[test]
fn every_container_gives_the_same_lines() {
    for case in SOME.iter().map(|name| Case::named(name)) {
        let folder = empty_folder(&format!("containers-{}", case.name));
        let parts = RecordingParts::read(&case.bytes()).expect("a plain file");
        let expected = lines(&case, &case.folder, "perf.data");
        for (name, bytes) in [
            ("plain", parts.file()),
            ("compressed", parts.compressed(CHUNK)),
            ("pipe", parts.pipe()),
            ("compressed-pipe", parts.compressed_pipe(CHUNK)),
        ] {
            write(&folder.join(name), &bytes);
            assert!(lines(&case, &folder, name) == expected, "{} as {name}", case.name);
            let input = lines_of_input(&case, &folder.join(name));
            assert!(input == expected, "{} as {name} on standard input", case.name);
        }
        for (name, chunk) in [("directory", None), ("compressed-directory", Some(CHUNK))] {
            let (data, files) = parts.directory(3, chunk);
            let directory = folder.join(name);
            std::fs::create_dir(&directory).expect("a folder");
            write(&directory.join("data"), &data);
            for (number, file) in files.iter().enumerate() {
                write(&directory.join(format!("data.{number}")), file);
            }
            write(&directory.join("data.3"), b"");
            assert!(lines(&case, &folder, name) == expected, "{} as {name}", case.name);
        }
    }
}

/// `perf record --kcore` creates a directory without further files, and puts the kernel's symbols into it.
#[test]
fn a_directory_has_the_symbols_of_its_kernel() {
    let case = Case::named("syscalls");
    let folder = empty_folder("kcore");
    let (data, files) =
        RecordingParts::read(&case.bytes()).expect("a plain file").directory(0, None);
    assert_eq!(files, Vec::<Vec<u8>>::new());
    std::fs::create_dir_all(folder.join("perf.data/kcore_dir")).expect("folders");
    write(&folder.join("perf.data/data"), &data);
    let kallsyms = std::fs::read(case.folder.join("kallsyms")).expect("a list");
    write(&folder.join("perf.data/kcore_dir/kallsyms"), &kallsyms);
    let sysroot = sysroot().display().to_string();
    let arguments = ["perf.data", "--sysroot", &sysroot, "--quiet", "--format", "ndjson"];
    let found = run(&folder, &arguments).expect_status(0).stdout;
    assert!(found == lines(&case, &case.folder, "perf.data"));
}

#[test]
fn data_without_its_directory_is_said() {
    let folder = empty_folder("data-alone");
    let parts = RecordingParts::read(&Case::named("fork").bytes()).expect("a plain file");
    write(&folder.join("data"), &parts.directory(2, None).0);
    let ran = run(&folder, &["data", "--format", "folded"]).expect_status(1);
    assert_eq!(ran.text(), "");
    assert!(
        ran.stderr.contains("directory-recording: "),
        "it is said that the samples are elsewhere: {}",
        ran.stderr
    );
}

#[test]
fn the_other_byte_order_gives_the_same_lines() {
    for case in SOME.iter().map(|name| Case::named(name)) {
        let folder = empty_folder(&format!("byte-swapped-{}", case.name));
        let swapped = big_endian_copy(&case.bytes());
        write(
            &folder.join("byte-swapped"),
            &swapped.unwrap_or_else(|why| panic!("{}: {why}", case.name)),
        );
        let expected = lines(&case, &case.folder, "perf.data");
        let found = lines(&case, &folder, "byte-swapped");
        assert!(found == expected, "{} in the other byte order", case.name);
    }
}
