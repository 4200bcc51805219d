//! Source files with names relative to the build folder: `-ffile-prefix-map=$PWD=.`.

use std::path::{Path, PathBuf};

use crate::support::cases::{Case, root, sysroot};
use crate::support::run::{Ran, empty_folder, run};

/// A line of the function's source file.
const LINE: &str = "spin_sink += i ^ (spin_sink >> 3);";

/// Annotates the function `spin` from a folder, with the program and these arguments.
fn annotate(folder: &Path, arguments: &[&str]) -> Ran {
    let case = Case::named("relative-sources");
    let recording = case.folder.join("perf.data");
    let program = sysroot().join("tmp/unwind-perf-testdata/relative-sources/relative-sources");
    let [recording, program] = [&recording, &program].map(|it| it.to_str().expect("UTF-8"));
    let all = ["annotate", "spin", recording, "--no-code", "--module", program];
    run(folder, &[&all, arguments].concat())
}

fn sources() -> String {
    root().join("testdata/programs").to_str().expect("UTF-8").to_owned()
}

#[test]
fn the_folder_of_the_sources_is_named_or_the_current_one() {
    let elsewhere = empty_folder("source-files");
    let dir = sources();
    let below = root();
    let below = below.to_str().expect("UTF-8");
    let missing = "./spin.h was not found; name its folder with --source-dir DIR\n";
    let shown = |ran: &Ran| (ran.text().contains(LINE), ran.stderr.contains(missing));
    assert_eq!(shown(&annotate(Path::new(&dir), &[])), (true, false));
    assert_eq!(shown(&annotate(&elsewhere, &[])), (false, true));
    assert_eq!(shown(&annotate(&elsewhere, &["--source-dir", &dir])), (true, false));
    assert_eq!(shown(&annotate(&elsewhere, &["--source-dir", below])), (false, true));
    for from in [".", "./", "././"] {
        let map = format!("{from}={dir}");
        assert_eq!(shown(&annotate(&elsewhere, &["--path-map", &map])), (true, false), "{from}");
    }
    let quiet = annotate(&elsewhere, &["--quiet"]);
    assert_eq!(quiet.stderr, "");
    let none = annotate(&elsewhere, &["--source-dir", "/nonexistent"]).expect_status(2);
    assert_eq!(none.stderr, "unwind-perf: --source-dir /nonexistent: not a directory\n");
}

/// With a sysroot only folders that the user named are searched.
#[test]
fn a_sysroot_leaves_the_current_folder_out() {
    let (dir, sysroot) = (sources(), sysroot());
    let root = sysroot.to_str().expect("UTF-8");
    let here = annotate(Path::new(&dir), &["--sysroot", root]);
    assert!(!here.text().contains(LINE));
    let named = annotate(Path::new(&dir), &["--sysroot", root, "--source-dir", "."]);
    assert!(named.text().contains(LINE));
}

#[test]
fn pages_and_bundles_have_them_from_the_named_folder() {
    let folder = empty_folder("source-files-page");
    let case = Case::named("relative-sources");
    let recording = case.folder.join("perf.data");
    let (sysroot, dir) = (sysroot(), sources());
    let [recording, root] = [&recording, &sysroot].map(|it| it.to_str().expect("UTF-8"));
    let page = |arguments: &[&str]| {
        let all = ["report", recording, "--sysroot", root, "--embed-sources", "-o", "page.html"];
        let ran = run(&folder, &[&all, arguments].concat()).expect_status(0);
        let page = std::fs::read_to_string(folder.join("page.html")).expect("a page");
        (page.len(), ran.stderr)
    };
    let (without, told) = page(&[]);
    assert!(
        told.contains("./spin.h was not found; name its folder with --source-dir DIR"),
        "{told}"
    );
    let (with, told) = page(&["--source-dir", &dir]);
    assert!(with > without && !told.contains("--source-dir"), "{with} {without} {told}");
    run(&folder, &["bundle", recording, "--sysroot", root, "-o", "a.upb"]).expect_status(0);
    let shown = ["annotate", "spin", "a.upb", "--no-code"];
    let none = run(&folder, &shown).expect_status(0);
    assert!(!none.text().contains(LINE) && none.stderr.contains("--source-dir DIR"));
    let named = run(&folder, &[&shown[..], &["--source-dir", &dir]].concat()).expect_status(0);
    assert!(named.text().contains(LINE));
    // A bundle is from another machine, so the current folder is not searched.
    std::fs::copy(PathBuf::from(&dir).join("spin.h"), folder.join("spin.h")).expect("a copy");
    assert!(!run(&folder, &shown).text().contains(LINE));
}
