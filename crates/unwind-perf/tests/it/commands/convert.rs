//! `inject --convert-callchain`: the callchains are those of the stacks.

use std::path::Path;

use serde_json::Value;

use crate::support::cases::{Case, sysroot};
use crate::support::run::{Ran, empty_folder, run};

/// Converts the recording of a case into `folder`.
fn convert(case: &Case, folder: &Path) -> Ran {
    let (input, files) = (case.folder.join("perf.data"), sysroot());
    let (input, files) = (input.to_str().expect("UTF-8"), files.to_str().expect("UTF-8"));
    let output = format!("{}.data", case.name);
    let words = ["inject", "--convert-callchain", input, "-o", &output, "--sysroot", files];
    run(folder, &words)
}

/// Returns an output of the recording of a case, and of the converted one.
fn both(case: &Case, folder: &Path, format: &str) -> [Vec<u8>; 2] {
    let (input, files) = (case.folder.join("perf.data"), sysroot());
    let (input, files) = (input.to_str().expect("UTF-8"), files.to_str().expect("UTF-8"));
    let output = format!("{}.data", case.name);
    [input, &output].map(|path| {
        let words = [path, "-q", "-f", format, "--sysroot", files];
        run(folder, &words).expect_status(0).stdout
    })
}

#[test]
fn converted_recordings_have_the_stacks_of_the_original() {
    let folder = empty_folder("convert");
    let mut converted = 0;
    for case in Case::all() {
        // Kernel symbols and JIT code of a case need further arguments, which are not the subject here.
        let ran = convert(&case, &folder).expect_status(0);
        assert!(ran.stderr.contains(" samples have callchains, "), "{}: {}", case.name, ran.stderr);
        let [before, after] = both(&case, &folder, "ndjson");
        assert!(before == after, "{}: other samples", case.name);
        let size = |path: &Path| std::fs::metadata(path).expect("a file").len();
        let output = folder.join(format!("{}.data", case.name));
        let [large, small] = [&case.folder.join("perf.data"), &output].map(|it| size(it));
        assert!(small < large, "{}: {small} of {large} bytes", case.name);
        converted += 1;
    }
    assert!(converted > 40, "{converted}");
}

/// Ids of frames that were added to walked chains follow another order; all else is equal but for the needed stack.
#[test]
fn the_json_differs_in_the_needed_stack() {
    let folder = empty_folder("convert-json");
    let case = Case::named("recursion-rs");
    convert(&case, &folder).expect_status(0);
    let [before, mut after] = both(&case, &folder, "json")
        .map(|bytes| serde_json::from_slice::<Value>(&bytes).expect("JSON"));
    assert_eq!(before["summary"]["stack_needs"]["recorded"], 4096);
    assert_eq!(after["summary"]["stack_needs"]["recorded"], 0);
    after["summary"]["stack_needs"] = before["summary"]["stack_needs"].clone();
    assert!(before == after);
}

#[test]
fn options_of_the_unwinder_are_refused() {
    let folder = empty_folder("convert-options");
    convert(&Case::named("plt"), &folder).expect_status(0);
    for (words, option) in [
        (&["--no-join"][..], "--join"),
        (&["--join", "exact"], "--join"),
        (&["--no-tail-calls"], "--no-tail-calls"),
        (&["--max-frames", "3"], "--max-frames"),
    ] {
        let ran = run(&folder, &[&["plt.data", "-f", "json"], words].concat()).expect_status(2);
        let expected = format!(
            "unwind-perf: {option} is for recordings with stacks, and this one has finished callchains; apply it to the \
             recording that they were made from\n"
        );
        assert_eq!(ran.stderr, expected);
    }
}

/// Evidence that does not fit its sample is left out: the callchain then counts as one of a recorder.
#[test]
fn evidence_for_other_callchains_is_not_used() {
    let folder = empty_folder("convert-damaged");
    convert(&Case::named("plt"), &folder).expect_status(0);
    let path = folder.join("plt.data");
    let whole = std::fs::read(&path).expect("a recording");
    let keyword = whole.windows(12).rposition(|it| it == b"root-across-").expect("the section");
    // Samples with the end `recorded`, and whether the section was ignored.
    let recorded = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let ran = run(&folder, &["plt.data", "-q", "-f", "json"]);
        let document = ran.expect_status(0).json();
        let findings = document["summary"]["findings"].as_array().expect("findings").clone();
        let is_ignored = findings.iter().any(|it| it["kind"] == "feature-ignored");
        let ran = run(&folder, &["plt.data", "-q", "-f", "ndjson"]).expect_status(0);
        (ran.text().matches(r#""end":"recorded""#).count(), is_ignored)
    };
    assert_eq!(recorded(&whole), (0, false));
    // Of another version: the keyword `root` is unknown.
    let mut other = whole.clone();
    other[keyword - 5..keyword - 1].copy_from_slice(b"Root");
    assert_eq!(recorded(&other), (19, false));
    let mut damaged = whole;
    let last = damaged.len() - 1;
    damaged[last] = 0x7f;
    assert_eq!(recorded(&damaged), (19, true));
}
