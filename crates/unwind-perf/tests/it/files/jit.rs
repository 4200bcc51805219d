//! JIT code with a jitdump: it is unwound by the dump's own call frame information, has names and lines, is followed
//! when it moves, and is distinguished from later code at its address. The same after `inject`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use synth::RecordingParts;

use crate::support::cases::{Case, copy_folder, sysroot};
use crate::support::run::{Ran, empty_folder, run};

/// Returns function, line and page of the JIT frame and its caller's found-by, with the number of samples.
fn kinds(ran: Ran) -> Vec<(String, u64)> {
    let mut kinds = BTreeMap::new();
    for sample in ran.expect_status(0).lines() {
        assert_eq!(sample["end"], "root", "{sample}");
        let frames = sample["frames"].as_array().expect("frames");
        let names: Vec<&str> =
            frames.iter().filter_map(|frame| frame["function"].as_str()).collect();
        let at = names.iter().position(|name| *name == "target").expect("what JIT code calls") + 1;
        assert_eq!(names.get(at + 1..at + 3), Some(&["run", "main"][..]), "{sample}");
        let text = |frame: &Value, field: &str| frame[field].as_str().unwrap_or("?").to_owned();
        let (frame, caller) = (&frames[at], &frames[at + 1]);
        let address = text(frame, "addr");
        let kind = format!(
            "{} {}:{} in page {} by {}",
            text(frame, "function"),
            text(frame, "file"),
            frame["line"],
            &address[address.len() - 4..address.len() - 3],
            text(caller, "found_by")
        );
        *kinds.entry(kind).or_default() += 1;
    }
    kinds.into_iter().collect()
}

fn check(found: &[(String, u64)]) {
    let expected = [
        ("first /src/program.script:11 in page e by cfi", 7),
        ("first /src/program.script:11 in page f by cfi", 7),
        ("second /src/program.script:21 in page e by cfi", 7),
    ];
    let expected = expected.map(|(kind, count): (&str, u64)| (kind.to_owned(), count));
    assert_eq!(found, expected);
}

#[test]
fn a_jitdump_is_read_directly() {
    check(&kinds(Case::named("jit").run(&["-q", "-f", "ndjson"])));
}

/// A file with a damaged head is not a dump any more, and a chain without it is reported as incomplete.
#[test]
fn files_whose_heads_or_ends_are_lost_are_told() {
    let case = Case::named("jit");
    let folder = empty_folder("lost-jit");
    copy_folder(&sysroot(), &folder);
    let sysroot = folder.to_str().expect("text");
    let damaged = |name: &str, damage: &dyn Fn(&mut Vec<u8>)| {
        let path = folder.join("tmp/unwind-perf-testdata/jit").join(name);
        let whole = std::fs::read(&path).expect("a file");
        let mut bytes = whole.clone();
        damage(&mut bytes);
        std::fs::write(&path, bytes).expect("written");
        let arguments = ["-f", "folded", "perf.data", "--sysroot", sysroot];
        let ran = run(&case.folder, &arguments).expect_status(1);
        std::fs::write(&path, whole).expect("written");
        ran.stderr
    };
    let dump = damaged("jit-371.dump", &|bytes| bytes[0] ^= 0xff);
    let said = "jitdump-damaged: jitdump /tmp/unwind-perf-testdata/jit/jit-371.dump has no valid header; its code has no names\n";
    assert!(dump.contains(said), "{dump}");
    let program = damaged("jit", &|bytes| bytes.truncate(bytes.len() / 8));
    let said = "is a damaged or truncated ELF file; replace it by an intact copy\n";
    assert!(program.contains(said) && program.contains("file-unusable: "), "{program}");
}

#[test]
fn a_jitdump_that_is_cut_is_told() {
    let case = Case::named("jit");
    let folder = empty_folder("cut-jit");
    copy_folder(&sysroot(), &folder);
    let dump = folder.join("tmp/unwind-perf-testdata/jit/jit-371.dump");
    let bytes = std::fs::read(&dump).expect("the dump");
    std::fs::write(&dump, &bytes[..bytes.len() - 40]).expect("written");
    let root = folder.to_str().expect("UTF-8");
    let ran = run(&case.folder, &["perf.data", "--sysroot", root]).expect_status(1);
    let finding = "jitdump /tmp/unwind-perf-testdata/jit/jit-371.dump ends with a partial record (its last 40 bytes); later \
                   code has no names";
    let json = ran.json();
    let findings = json["summary"]["findings"].as_array().expect("findings");
    let found: Vec<_> =
        findings.iter().filter(|finding| finding["kind"] == "jitdump-damaged").collect();
    assert_eq!((found.len(), &found[0]["count"]), (1, &Value::from(1)), "{findings:?}");
    assert_eq!(found[0]["message"], finding);
    assert!(ran.stderr.contains(&format!("jitdump-damaged: {finding}\n")), "{}", ran.stderr);
}

#[test]
fn injected_code_is_found_without_the_dump() {
    let case = Case::named("jit");
    let folder = empty_folder("inject-jit");
    let output = folder.join("perf.data");
    let output = output.to_str().expect("UTF-8");
    let reported = case_inject(&case, output);
    assert!(
        reported.stderr.ends_with("3 further map records, 1 files of JIT code\n"),
        "{}",
        reported.stderr
    );
    // The dump is gone; the program and the libraries are unchanged.
    let root = folder.join("root");
    copy_without_dumps(&sysroot().join("tmp"), &root.join("tmp"));
    copy_folder(&sysroot().join("usr"), &root.join("usr"));
    let code = folder.join("perf.data.jit-0.so");
    let arguments = ["perf.data", "-q", "-f", "ndjson", "--sysroot", "root", "--module"];
    let code = code.to_str().expect("UTF-8");
    check(&kinds(run(&folder, &[&arguments[..], &[code]].concat())));
}

#[test]
fn compressed_recordings_are_expanded() {
    let case = Case::named("jit");
    let folder = empty_folder("inject-compressed");
    let parts = RecordingParts::read(&case.bytes()).expect("a plain file");
    std::fs::write(folder.join("packed.data"), parts.compressed(1000)).expect("written");
    let output = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let plain = case_inject(&case, &output("original"));
    let files = sysroot();
    let files = ["--sysroot", files.to_str().expect("UTF-8"), "-o", "expanded"];
    let ran = run(&folder, &[&["inject", "packed.data"][..], &files].concat()).expect_status(0);
    assert_eq!(ran.stderr, plain.stderr);
    // The kind, the time and the fields of each record.
    let records = |name: &str| {
        let text = run(&folder, &["dump", name]).expect_status(0).text().to_owned();
        text.replace("original.jit", "expanded.jit")
    };
    let expected = records("original");
    assert!(expected.lines().count() > 50, "{expected}");
    assert_eq!(records("expanded"), expected);
}

fn case_inject(case: &Case, output: &str) -> Ran {
    let arguments = ["inject", "perf.data", "--sysroot", "../../sysroot", "-o", output];
    run(&case.folder, &arguments).expect_status(0)
}

fn copy_without_dumps(from: &Path, to: &Path) {
    let program = Path::new("unwind-perf-testdata/jit/jit");
    let to = to.join(program);
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    std::fs::copy(from.join(program), to).expect("the program");
}
