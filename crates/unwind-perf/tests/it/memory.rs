//! What is mapped: the listing, map hints, and recordings that are written anew with what is known beyond them.

use serde_json::Value;

use crate::cases::Case;
use crate::run::{empty_folder, run};

/// The executable piece of the program itself, from the listing.
fn text_piece(case: &Case) -> Value {
    let listed = run(&case.folder, &["maps", "perf.data", "--sysroot", "../../sysroot", "--json"]);
    let rows = listed.expect_status(0).lines();
    let is_text = |row: &Value| {
        row["executable"] == true
            && row["path"].as_str().is_some_and(|path| path.contains(&case.name))
    };
    rows.into_iter().find(is_text).expect("the program's text")
}

fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap_or_else(|| panic!("{field} in {row}"))
}

fn number(row: &Value, field: &str) -> u64 {
    u64::from_str_radix(&text(row, field)[2..], 16).expect("a number")
}

#[test]
fn the_listing_shows_pieces_files_and_refusals() {
    let case = Case::named("spin-lld");
    let piece = text_piece(&case);
    // lld puts the text one page further in memory than in the file: the bias is not start less offset.
    assert_eq!(number(&piece, "start") - number(&piece, "bias"), 0x1000, "{piece}");
    assert_eq!(number(&piece, "offset"), 0);
    assert_eq!(text(&piece, "build_id"), "3bc184b5ddfcd01b");
    assert_eq!(text(&piece, "unwind"), "eh_frame");
    assert_eq!(piece["symbols"], serde_json::json!(["symtab", "dynsym", "dwarf"]));
    let pid = piece["pid"].to_string();
    let nowhere = empty_folder("maps-nowhere");
    let refused =
        ["maps", "perf.data", "--pid", &pid, "--sysroot", nowhere.to_str().expect("UTF-8")];
    let refused = run(&case.folder, &refused).expect_status(0);
    let line = refused.text().lines().find(|line| line.contains("/spin-lld")).expect("the program");
    assert!(line.ends_with("refused: file not found"), "{line}");
    let early = run(&case.folder, &["maps", "perf.data", "--at", "0.000000001"]).expect_status(0);
    assert!(!early.text().contains("/spin-lld"), "{}", early.text());
}

#[test]
fn a_hint_serves_as_a_mapping_does() {
    let case = Case::named("spin-lld");
    let piece = text_piece(&case);
    let (pid, start) = (piece["pid"].to_string(), text(&piece, "start").to_owned());
    let len = number(&piece, "end") - number(&piece, "start");
    let plain = case.run(&["--format", "folded"]).expect_status(0);
    for scope in [pid.as_str(), "*", "comm:spin-lld"] {
        // The file is not where it was recorded, but where the user says; without it no chain would be complete.
        let hint = format!("{}@{scope},{start},{len}", text(&piece, "file"));
        let told = run(
            &case.folder,
            &["perf.data", "--sysroot", "../../sysroot", "--map", &hint, "--format", "folded"],
        );
        assert_eq!(told.expect_status(0).text(), plain.text(), "{hint}");
    }
    let folder = empty_folder("map-file");
    let list = folder.join("hints");
    let line = format!("# what is there\n\n{}@{pid},{start},{len:#x},0\n", text(&piece, "file"));
    std::fs::write(&list, line).expect("a list of hints");
    let list = list.to_str().expect("UTF-8");
    let told = case.run(&["--map-file", list, "--format", "folded"]).expect_status(0);
    assert_eq!(told.text(), plain.text());
}

#[test]
fn hints_that_cannot_be_used_are_refused() {
    let case = Case::named("spin-lld");
    let file = text_piece(&case)["file"].as_str().expect("a path").to_owned();
    let refused = |hints: &[&str]| {
        let mut arguments = vec!["perf.data"];
        hints.iter().for_each(|hint| arguments.extend(["--map", hint]));
        run(&case.folder, &arguments).expect_status(2).stderr
    };
    let (one, two) = (format!("{file}@1,0x1000,0x1000"), format!("{file}@1,0x1800,16"));
    let overlap = refused(&[&one, &two]);
    assert!(overlap.contains("0x1000,0x1000") && overlap.contains("0x1800,0x10"), "{overlap}");
    assert!(refused(&["x@1"]).contains("expected OBJECT@PID,START,LEN[,OFFSET]"));
    assert!(refused(&["nowhere@1,2,3"]).contains("cannot read nowhere"));
}

#[test]
fn memory_without_file_is_named_with_the_hint_to_complete() {
    let told = Case::named("anon").run(&["--format", "folded"]).expect_status(0);
    let hint = "--map OBJECT@28352,0x7f1a8a0ce000,0x1000,OFFSET";
    assert!(told.stderr.contains(hint), "{}", told.stderr);
}

#[test]
fn a_recording_that_is_written_anew_says_the_same() {
    for name in ["spin-lld", "fork", "dlopen"] {
        let case = Case::named(name);
        let folder = empty_folder(&format!("inject-{name}"));
        let output = folder.join("perf.data");
        let output = output.to_str().expect("UTF-8");
        run(&case.folder, &["inject", "perf.data", "-o", output]).expect_status(0);
        let plain = case.run(&["--format", "ndjson"]).expect_status(0);
        let sysroot = case.folder.join("../../sysroot");
        let sysroot = sysroot.to_str().expect("UTF-8");
        let anew = run(&folder, &["perf.data", "--sysroot", sysroot, "--format", "ndjson"])
            .expect_status(0);
        assert_eq!(anew.lines().len(), plain.lines().len());
        let frames = |line: &Value| -> Vec<(String, String)> {
            let frames = line["frames"].as_array().expect("frames").iter();
            frames.map(|frame| (frame["addr"].to_string(), frame["function"].to_string())).collect()
        };
        for (anew, plain) in anew.lines().iter().zip(&plain.lines()) {
            assert_eq!(frames(anew), frames(plain), "{name}");
        }
    }
}

#[test]
fn a_hint_is_written_as_a_map_record() {
    let case = Case::named("spin-lld");
    let piece = text_piece(&case);
    let folder = empty_folder("inject-hint");
    let output = folder.join("perf.data");
    let output = output.to_str().expect("UTF-8");
    let len = number(&piece, "end") - number(&piece, "start");
    let hint = format!("{}@{},{},{len}", text(&piece, "file"), piece["pid"], text(&piece, "start"));
    run(&case.folder, &["inject", "perf.data", "-o", output, "--map", &hint]).expect_status(0);
    let listed = run(&folder, &["maps", "perf.data", "--json"]).expect_status(0).lines();
    let told = listed.iter().find(|row| row["start"] == piece["start"]).expect("the piece");
    assert!(
        text(told, "path").ends_with("/sysroot/tmp/unwind-perf-testdata/spin-lld/spin-lld"),
        "{told}"
    );
    assert_eq!(told["recorded_build_id"], piece["build_id"]);
}

/// A library's code was copied into memory without a file, and a child runs the copy. The summary names the range and
/// prints a hint; completed, it gives every frame its name and line, in the child, which inherits it.
#[test]
fn code_that_was_copied_and_is_run_by_a_child() {
    let case = Case::named("copied");
    let told = case.run(&["--format", "folded"]).expect_status(0);
    let nameless =
        told.text().lines().any(|line| line.starts_with("copied;[truncated];[unknown];target;"));
    assert!(nameless, "{}", told.text());
    let line = told.stderr.lines().find(|line| line.starts_with("memory-without-file: "));
    let (range, hint) = line.and_then(|line| line.split_once("--map ")).expect("a hint");
    let start = hint.split(',').nth(1).expect("a start");
    assert!(range.contains(&format!("ran code without a name at {start}-")), "{range}");
    let file = "../../sysroot/tmp/unwind-perf-testdata/copied/libcopied.so";
    let hint = hint.replace("OBJECT", file).replace("OFFSET", "0x1000");

    let mut kinds = std::collections::BTreeMap::<(bool, String), u64>::new();
    let parent = hint.split(['@', ',']).nth(1).expect("a process").to_owned();
    for sample in case.run(&["-q", "-f", "ndjson", "--map", &hint]).expect_status(0).lines() {
        assert_eq!(sample["end"], "root", "{sample}");
        let frames = sample["frames"].as_array().expect("frames");
        let of_child = sample["pid"].as_u64() != parent.parse().ok();
        let place = |frame: &Value| {
            let file = text(frame, "file").rsplit('/').next().expect("a name").to_owned();
            format!("{} {file}:{}", text(frame, "function"), frame["line"])
        };
        let own = |frame: &&Value| text(frame, "module").contains("copied");
        let chain: Vec<String> = frames.iter().filter(own).take(5).map(place).collect();
        assert_eq!(frames.last().map(|frame| text(frame, "function")), Some("_start"));
        *kinds.entry((of_child, chain.get(2..).unwrap_or_default().join(" < "))).or_default() += 1;
    }
    let copy = "inner copied_lib.c:11 < copied_work copied_lib.c:19 < run copied.c:35";
    let original = "inner copied_lib.c:11 < copied_work copied_lib.c:19 < main copied.c:46";
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        [((false, original.to_owned()), 13), ((true, copy.to_owned()), 31)]
    );
}
