//! Aggregated stacks, named later by files with the stated build-ids.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};

use crate::support::cases::{Case, copy_folder, sysroot};
use crate::support::run::{Ran, empty_folder, run};

/// Build-id of the program of the case `syscalls`, and its path.
const PROGRAM: (&str, &str) =
    ("a445eac3025fdf72bda27382195051963447ff4a", "/tmp/unwind-perf-testdata/syscalls/syscalls");
/// Build-id of the kernel of that case.
const KERNEL: &str = "48dc540c8b76393804ca8088dbfa7d42911a9444";

/// Writes the stacks of a case to a new folder; returns the file.
fn stacks_of(case: &Case) -> PathBuf {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let file = empty_folder(&format!("stacks-{}-{call}", case.name)).join("stacks.parquet");
    let path = file.to_str().expect("UTF-8");
    case.run(&["-q", "-f", "parquet", "--stacks", "-o", path]).expect_status(0);
    file
}

/// Names stacks with the files of a case.
fn symbolize(case: &Case, file: &Path, arguments: &[&str]) -> Ran {
    let file = file.to_str().expect("UTF-8");
    let mut all = vec!["symbolize", file, "--sysroot", "../../sysroot"];
    if case.folder.join("kallsyms").is_file() {
        all.extend(["--kallsyms", "kallsyms"]);
    }
    all.extend(arguments);
    run(&case.folder, &all)
}

fn rows(bytes: Vec<u8>) -> Vec<Row> {
    let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file");
    reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect()
}

/// Returns the value of a column; empty if there is no such column.
fn cell(row: &Row, name: &str) -> String {
    let mut columns = row.get_column_iter().filter(|(column, _)| *column == name);
    columns.next().map(|(_, field)| field.to_string()).unwrap_or_default()
}

fn frames(row: &Row) -> Vec<Row> {
    let mut columns = row.get_column_iter().filter(|(column, _)| *column == "frames");
    let Some((_, Field::ListInternal(list))) = columns.next() else { panic!("no frames") };
    let frame = |field: &Field| match field {
        Field::Group(row) => row.clone(),
        other => panic!("{other:?} is no frame"),
    };
    list.elements().iter().map(frame).collect()
}

/// The number of samples and the weight of each stack of names and lines. Functions of files without a build-id have
/// their names only.
fn weights(rows: &[Row]) -> BTreeMap<String, (u64, u64)> {
    let mut weights: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let mut key = ["event", "process", "comm", "end"].map(|name| cell(row, name)).join(" ");
        for frame in frames(row) {
            let is_portable =
                cell(&frame, "build_id") != "null" && cell(&frame, "kernel") == "false";
            if !is_portable && cell(&frame, "inlined") == "true" {
                continue;
            }
            let names: &[&str] = if is_portable {
                &["module", "build_id", "offset", "function_offset", "file", "line", "inlined"]
            } else {
                &["module"]
            };
            for name in names.iter().chain(&["function", "found_by", "kernel"]) {
                key.push(' ');
                key.push_str(&cell(&frame, name));
            }
            key.push('\n');
        }
        let number = |name| cell(row, name).parse::<u64>().ok();
        let sums = weights.entry(key).or_default();
        sums.0 += number("samples").unwrap_or(1);
        sums.1 += number("weight").expect("a weight");
    }
    weights
}

#[test]
fn names_are_those_of_a_run() {
    let cases = [
        "anon",
        "deep",
        "exceptions",
        "inlines-clang-lld",
        "inlines-gcc",
        "jit",
        "off-cpu",
        "recursion-rs",
        "spin-lld-build-id",
        "spin-lld",
        "syscalls",
        "tailcall",
    ];
    for name in cases {
        let case = Case::named(name);
        let file = stacks_of(&case);
        let named = symbolize(&case, &file, &["-q", "-f", "parquet"]).expect_status(0).stdout;
        let usual = case.run(&["-q", "-f", "parquet"]).expect_status(0).stdout;
        let (named, usual) = (rows(named), rows(usual));
        assert_eq!(weights(&named), weights(&usual), "{name}");
        for options in [&[][..], &["--weight", "period"], &["--reverse", "--kernel-suffix"]] {
            let named = symbolize(&case, &file, &[&["-q"], options].concat()).expect_status(0);
            let usual = case.run(&[&["-q", "-f", "folded"], options].concat()).expect_status(0);
            assert_eq!(named.text(), usual.text(), "{name} {options:?}");
        }
        for format in ["speedscope", "callgrind"] {
            let named = symbolize(&case, &file, &["-q", "-f", format]).expect_status(0);
            assert!(!named.stdout.is_empty(), "{name} {format}");
        }
    }
}

#[test]
fn rows_are_distinct_stacks_without_names() {
    let rows = rows(fs::read(stacks_of(&Case::named("inlines-gcc"))).expect("stacks"));
    let sum = |name: &str| {
        rows.iter().map(|row| cell(row, name).parse::<u64>().expect("a number")).sum::<u64>()
    };
    assert_eq!((rows.len(), sum("samples"), sum("weight")), (29, 35, 152_838_420));
    let first = rows.first().expect("a row");
    let facts = ["event", "process", "comm", "end", "complete"].map(|name| cell(first, name));
    assert_eq!(facts.join(" "), "\"cpu-clock:u\" \"inlines-gcc\" \"inlines-gcc\" \"root\" true");
    let frame = frames(first).first().expect("a frame").to_string();
    assert_eq!(
        frame,
        "{module: \"/tmp/unwind-perf-testdata/inlines-gcc/inlines-gcc\", \
         build_id: \"77ecbf57bb8690aa5de6d5104da1f11966e7809b\", offset: 6721, function: null, \
         found_by: \"sampled\", kernel: false, whole: false}"
    );
}

#[test]
fn a_missing_file_is_a_finding_and_gives_no_name() {
    let case = Case::named("syscalls");
    let file = stacks_of(&case);
    let folder = empty_folder("stacks-missing");
    let path = file.to_str().expect("UTF-8");
    let root = folder.to_str().expect("UTF-8");
    let ran = run(&folder, &["symbolize", path, "--sysroot", root]).expect_status(1);
    let (id, program) = PROGRAM;
    let expected = format!(
        "14 stacks of 48 samples; 3 of 26 addresses have names\n\
         no store has the file of build-id {KERNEL}: [kernel.kallsyms]_text\n\
         no store has the file of build-id {id}: {program}\n\
         kernel functions have no names: the symbols of the running kernel are not used with a sysroot\n"
    );
    assert_eq!(ran.stderr, expected);
    let lines: Vec<&str> = ran.text().lines().collect();
    let start = "syscalls;[syscalls];__libc_start_main;libc.so.6+0x271d0;[syscalls];[syscalls]";
    let kernel = ";[kernel.kallsyms]".repeat(6);
    assert_eq!(lines, [format!("{start} 20"), format!("{start};read{kernel} 28")]);
    let quiet = run(&folder, &["symbolize", "-q", path, "--sysroot", root]).expect_status(1);
    assert_eq!(
        quiet.stderr,
        "unwind-perf: names or lines are missing; run without --quiet for details\n"
    );
    assert_eq!(quiet.stdout, ran.stdout);
    // A file with another build-id at the recorded path.
    let other = folder.join(program.trim_start_matches('/'));
    fs::create_dir_all(other.parent().expect("a folder")).expect("a folder");
    let build = sysroot().join("tmp/unwind-perf-testdata/spin-bfd/spin-bfd");
    fs::copy(build, &other).expect("another build");
    let refused = run(&folder, &["symbolize", path, "--sysroot", root]).expect_status(1);
    assert_eq!(refused.stdout, ran.stdout);
    assert!(refused.stderr.contains(&format!("build-id {id}: {program}\n")), "{}", refused.stderr);
    assert!(
        refused
            .stderr
            .contains("has build-id d306bc3c364ba5e040fc25266da671a4cc3928b3, the recorded one is"),
        "{}",
        refused.stderr
    );
}

/// A store has the program by its build-id, and the list of the kernel's symbols at other addresses.
#[test]
fn files_are_found_in_a_store() {
    let case = Case::named("syscalls");
    let file = stacks_of(&case);
    let folder = empty_folder("stacks-store");
    let (id, program) = PROGRAM;
    let (start, rest) = id.split_at(2);
    let of_program = folder.join(".build-id").join(start).join(rest);
    fs::create_dir_all(&of_program).expect("a folder");
    let recorded = sysroot().join(program.trim_start_matches('/'));
    fs::copy(recorded, of_program.join("elf")).expect("the program");
    let of_kernel = folder.join("[kernel.kallsyms]").join(KERNEL);
    fs::create_dir_all(&of_kernel).expect("a folder");
    let list = fs::read_to_string(case.folder.join("kallsyms")).expect("a list");
    let moved: String = list.lines().map(|line| moved(line, 0x1_2345_6000)).collect();
    fs::write(of_kernel.join("kallsyms"), moved).expect("a list");
    let (file, store) = (file.to_str().expect("UTF-8"), folder.to_str().expect("UTF-8"));
    let ran = run(&folder, &["symbolize", file, "--buildid-dir", store, "--no-cache"]);
    let usual = case.run(&["-q", "-f", "folded"]).expect_status(0);
    let ran = ran.expect_status(0);
    assert_eq!(ran.text(), usual.text());
    assert_eq!(ran.stderr, "14 stacks of 48 samples; 26 of 26 addresses have names\n");
}

/// Returns a line of a list of symbols with an address of another boot.
fn moved(line: &str, distance: u64) -> String {
    let (address, rest) = line.split_once(' ').expect("an address");
    let address = u64::from_str_radix(address, 16).expect("digits");
    format!("{:016x} {rest}\n", address.wrapping_add(distance))
}

#[test]
fn stacks_of_several_files_are_added_up() {
    let case = Case::named("two-events");
    let file = stacks_of(&case);
    let again = file.with_file_name("again.parquet");
    fs::copy(&file, &again).expect("a copy");
    let again = again.to_str().expect("UTF-8");
    let twice = symbolize(&case, &file, &[again, "-q"]).expect_status(0);
    let usual = case.run(&["-q", "-f", "folded"]).expect_status(0);
    let doubled = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        format!("{stack} {}\n", 2 * weight.parse::<u64>().expect("a number"))
    };
    assert_eq!(twice.text(), usual.text().lines().map(doubled).collect::<String>());
    let json = case.run(&["-q"]).expect_status(0).json();
    let name = json["events"]["name"][1].as_u64().expect("a string's number") as usize;
    let second = json["strings"][name].as_str().expect("a name").to_owned();
    let of_second = symbolize(&case, &file, &["-q", "--event", &second]).expect_status(0);
    let usual = case.run(&["-q", "-f", "folded", "--event", &second]).expect_status(0);
    assert_eq!(of_second.text(), usual.text());
    let unknown = symbolize(&case, &file, &["--event", "no"]).expect_status(2);
    assert!(unknown.stderr.contains("--event no: no stack has that event; known are"));
}

#[test]
fn other_files_are_refused() {
    let case = Case::named("plt");
    let folder = empty_folder("stacks-refused");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    let rows = case.run(&["-q", "-f", "parquet"]).expect_status(0).stdout;
    let named = symbolize(&case, &stacks_of(&case), &["-q", "-f", "parquet"]).expect_status(0);
    let expected =
        "expected unwind-perf-stacks, as `unwind-perf -f parquet --stacks` writes them\n";
    for (file, message) in [
        (write("text", b"no table"), "not a Parquet file, or a damaged one: "),
        (write("empty", b""), "not a Parquet file, or a damaged one: "),
        (write("rows", &rows), &*format!("its rows are unwind-perf-samples; {expected}")),
        (
            write("named", &named.stdout),
            &*format!("its rows are unwind-perf-named-stacks; {expected}"),
        ),
        (folder.join("nothing"), "No such file or directory"),
    ] {
        let ran = symbolize(&case, &file, &[]).expect_status(2);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
        assert_eq!(ran.text(), "");
    }
}

#[test]
fn options_without_an_effect_are_refused() {
    let case = Case::named("plt");
    for (arguments, message) in [
        (&["-f", "arrow", "--stacks"][..], "--stacks has no effect on the format arrow"),
        (&["--stacks", "-f", "json"], "--stacks has no effect on the format json"),
        (
            &["-f", "parquet", "--stacks", "--no-inline"],
            "--no-inline has no effect on the stacks of --stacks; add it to unwind-perf symbolize",
        ),
        (
            &["-f", "parquet", "--stacks", "--focus", "main"],
            "the filters of functions have no effect on the stacks of --stacks, which have no names; \
             filter the result of unwind-perf symbolize",
        ),
        (
            &["-f", "parquet", "--stacks", "--with-fields", "all"],
            "--with-fields or with_fields has no effect on the stacks of --stacks; \
             print fields with unwind-perf -f ndjson",
        ),
    ] {
        let ran = case.run(arguments).expect_status(2);
        assert_eq!(ran.stderr, format!("unwind-perf: {message}\n"));
    }
    let file = stacks_of(&case);
    for (arguments, message) in [
        (&["--no-symbols"][..], "--no-symbols has no effect on aggregated stacks"),
        (&["--trust-perf-maps"], "--trust-perf-maps has no effect on aggregated stacks"),
        (&["-f", "parquet", "--weight", "period"], "--weight has no effect on the format parquet"),
        (
            &["-f", "report"],
            "aggregated stacks have neither times nor threads, which the format report needs; choose \
             folded, flamegraph, speedscope, callgrind, pprof, json or parquet",
        ),
    ] {
        let ran = symbolize(&case, &file, arguments).expect_status(2);
        assert_eq!(ran.stderr, format!("unwind-perf: {message}\n"));
    }
}

/// Stacks are written without files as well: names of code in memory stay, others come later.
#[test]
fn stacks_need_no_files() {
    let case = Case::named("spin-lld-build-id");
    let folder = empty_folder("stacks-without-files");
    copy_folder(&case.folder, &folder);
    let nothing = folder.join("root");
    fs::create_dir(&nothing).expect("a folder");
    let arguments = ["perf.data", "-q", "--sysroot", "root", "-f", "parquet", "--stacks"];
    let ran = run(&folder, &[&arguments[..], &["-o", "stacks.parquet"]].concat()).expect_status(0);
    assert_eq!(ran.text(), "");
    let named = symbolize(&case, &folder.join("stacks.parquet"), &["-q"]).expect_status(0);
    assert_eq!(named.text(), "spin-lld-build-;[truncated];inner;spin 51\n");
}
