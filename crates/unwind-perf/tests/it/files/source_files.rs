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

/// Writes the recording of a case as if it were made on this host.
fn recorded_here(case: &Case, path: &Path) {
    /// Recorded strings are padded with zeros to a multiple of it. Source: tools/perf/util/header.c, `NAME_ALIGN`.
    const PADDED: usize = 64;
    let name = std::fs::read("/proc/sys/kernel/hostname").expect("a host name");
    let name = name.trim_ascii();
    let mut bytes = case.bytes();
    let recorded = b"testbox\0";
    let at = bytes.windows(recorded.len()).position(|it| it == recorded).expect("a host name");
    let field = &mut bytes[at..at + PADDED];
    field.fill(0);
    field[..name.len()].copy_from_slice(name);
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn own_recordings_bring_their_sources_along() {
    let folder = empty_folder("own-sources");
    let case = Case::named("inlines-gcc");
    recorded_here(&case, &folder.join("perf.data"));
    std::fs::write(folder.join("other.data"), case.bytes()).expect("written");
    std::fs::create_dir(folder.join("work")).expect("a folder");
    // The tables of a page are compressed: a long text without repetitions shows in its length.
    let text: String = (1..1000_u64).map(|at| format!("// {}\n", at.pow(5))).collect();
    std::fs::write(folder.join("work/inlines.cpp"), &text).expect("written");
    std::fs::write(folder.join("outside.cpp"), &text).expect("written");
    let built = "/tmp/unwind-perf-testdata/inlines-gcc";
    let map = format!("{built}={}", folder.join("work").display());
    let program = sysroot().join(format!("{}/inlines-gcc", built.trim_start_matches('/')));
    let program = program.to_str().expect("UTF-8");
    let embedded = |arguments: &[&str]| {
        let all = ["report", "-o", "page.html", "--module", program, "--path-map", &map];
        let ran = run(&folder, &[&all, arguments].concat()).expect_status(0);
        let page = std::fs::read_to_string(folder.join("page.html")).expect("a page");
        let said: Vec<String> =
            ran.stderr.lines().filter(|it| it.contains("source file")).map(str::to_owned).collect();
        (page.len(), said.join("\n"))
    };
    let (short, nothing) = embedded(&["perf.data", "--no-sources"]);
    assert_eq!(nothing, "");
    let embedded = |arguments: &[&str]| {
        let (len, said) = embedded(arguments);
        (len > short + 4096, said)
    };
    let said = "1 source file is in the page; --no-sources leaves it out";
    assert_eq!(embedded(&["perf.data"]), (true, said.to_owned()));
    assert_eq!(embedded(&["perf.data", "-q"]), (true, String::new()));
    assert_eq!(embedded(&["perf.data", "--embed-sources"]), (true, String::new()));
    let without = (false, String::new());
    assert_eq!(embedded(&["other.data"]), without, "of another host");
    let link = folder.join("work/inlines.cpp");
    std::fs::remove_file(&link).expect("removed");
    std::os::unix::fs::symlink(folder.join("outside.cpp"), link).expect("a link");
    assert_eq!(embedded(&["perf.data"]), without, "the link leaves the directory");
    run(&folder, &["bundle", "perf.data", "--module", program, "-o", "a.upb"]).expect_status(0);
    let ran = run(&folder, &["report", "-o", "page.html", "a.upb"]).expect_status(0);
    assert!(!ran.stderr.contains("source file"), "{}", ran.stderr);
    // Only the superuser can give a file away.
    if std::os::unix::fs::chown(folder.join("perf.data"), Some(12_345), None).is_ok() {
        std::fs::copy(folder.join("outside.cpp"), folder.join("work/copy")).expect("a copy");
        std::fs::rename(folder.join("work/copy"), folder.join("work/inlines.cpp")).expect("moved");
        assert_eq!(embedded(&["perf.data"]), without, "of another user");
    }
}
