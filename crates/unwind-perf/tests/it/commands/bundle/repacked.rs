//! Bundles made of bundles, with less data, and bundles whose files are in a store.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::cases::root;
use crate::support::run::{Ran, empty_folder, run};

/// Bundles a case from the root of the repository.
fn bundle(folder: &Path, case: &str, name: &str, options: &[&str]) -> Ran {
    let output = folder.join(name);
    let recording = format!("testdata/cases/{case}/perf.data");
    let arguments = ["bundle", &recording, "--sysroot", "testdata/sysroot", "-o"];
    let arguments = [&arguments, &[output.to_str().expect("a name")][..], options].concat();
    run(root(), &arguments).expect_status(0)
}

fn unpacked(path: &Path) -> Vec<u8> {
    zstd::stream::decode_all(&*fs::read(path).expect("a bundle")).expect("zstd")
}

/// Returns the manifest: the first entry, whose size is in its header.
fn manifest(path: &Path) -> Value {
    let bytes = unpacked(path);
    let digits = std::str::from_utf8(&bytes[124..135]).expect("a size").trim();
    let size = usize::from_str_radix(digits, 8).expect("octal digits");
    serde_json::from_slice(&bytes[512..512 + size]).expect("a manifest")
}

#[test]
fn a_bundle_loses_its_stacks_later() {
    for case in ["inlines-gcc", "recursion-rs", "spin-lld"] {
        let folder = empty_folder(&format!("repacked-{case}"));
        bundle(&folder, case, "whole.upb", &[]);
        bundle(&folder, case, "direct.upb", &["--no-stacks"]);
        let made = run(&folder, &["bundle", "whole.upb", "--no-stacks", "-o", "later.upb"]);
        let made = made.expect_status(0);
        assert!(made.stderr.contains("It gave the same result"), "{}", made.stderr);
        let (later, direct) = (folder.join("later.upb"), folder.join("direct.upb"));
        let json = |name: &str| run(&folder, &["-q", name]).expect_status(0).stdout;
        assert!(json("later.upb") == json("direct.upb"), "{case}");
        assert_eq!(manifest(&later)["stacks"], false);
        assert_eq!(manifest(&later)["json_sha256"], manifest(&direct)["json_sha256"]);
        let dump = run(&folder, &["dump", "--full", "later.upb"]).expect_status(0);
        assert!(!dump.text().contains("rsp"), "{case}");
        // The holes of the files stay holes, so that reading them is noticed.
        let holes = |path: &Path| {
            let contents = manifest(path)["contents"].as_array().expect("files").clone();
            contents.iter().filter(|it| it.get("holes").is_some()).count()
        };
        assert!(holes(&later) >= holes(&folder.join("whole.upb")), "{case}");
    }
}

#[test]
fn a_bundle_becomes_anonymous_later() {
    let folder = empty_folder("repacked-anonymous");
    bundle(&folder, "inlines-gcc", "whole.upb", &[]);
    bundle(&folder, "inlines-gcc", "direct.upb", &["--anonymize"]);
    let made = run(&folder, &["bundle", "whole.upb", "--anonymize", "-o", "later.upb"]);
    assert!(made.expect_status(0).stderr.contains("are pseudonyms"));
    let functions = |name: &str| {
        let samples = run(&folder, &["-q", "-f", "ndjson", name]).expect_status(0).lines();
        let frames = samples.iter().flat_map(|it| it["frames"].as_array().expect("frames"));
        frames
            // A name by address begins with the pseudonym of the file.
            .filter(|frame| !frame["function"].as_str().is_some_and(|it| it.contains("+0x")))
            .map(|frame| format!("{} {} {}", frame["addr"], frame["function"], frame["line"]))
            .collect::<Vec<_>>()
    };
    assert!(functions("later.upb").len() > 100);
    assert_eq!(functions("later.upb"), functions("direct.upb"));
    let bytes = unpacked(&folder.join("later.upb"));
    for word in ["testbox", "unwind-perf-testdata", "inlines-gcc", "/usr/include", "call-graph"] {
        assert!(!bytes.windows(word.len()).any(|it| it == word.as_bytes()), "{word}");
    }
    for (arguments, expected) in [
        (&["later.upb", "--anonymize"][..], "later.upb is an anonymized bundle already"),
        (&["whole.upb"], "--no-stacks and --anonymize make one with less data of it"),
        (&["whole.upb", "--no-stacks", "--whole"], "--whole: whole.upb is a bundle"),
        (&["whole.upb", "--no-stacks", "--no-files"], "--no-files: whole.upb is a bundle"),
        (&["whole.upb", "--no-stacks", "--sysroot", "."], "--sysroot has no effect"),
        (&["whole.upb", "--anonymize", "--no-files"], "cannot be used with"),
    ] {
        let ran = run(&folder, &[&["bundle"], arguments, &["-o", "x.upb"]].concat());
        let ran = ran.expect_status(2);
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    }
}

/// Copies the files that a bundle leaves out to a build-id cache.
fn fill_store(bundle: &Path, store: &Path) -> usize {
    let manifest = manifest(bundle);
    let mut absent = 0;
    for place in manifest["places"].as_array().expect("places") {
        let Some(content) = place["content"].as_u64() else { continue };
        let stored = &manifest["contents"][content as usize];
        if stored["absent"] == true {
            let path = store.join(stored["name"].as_str().expect("a name"));
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::copy(root().join(place["path"].as_str().expect("a path")), path).expect("a file");
            absent += 1;
        }
    }
    absent
}

#[test]
fn files_of_a_store_are_left_out() {
    let folder = empty_folder("repacked-store");
    bundle(&folder, "inlines-gcc", "whole.upb", &[]);
    let made = bundle(&folder, "inlines-gcc", "thin.upb", &["--no-files"]);
    assert!(made.stderr.contains("3 of the files are left out"), "{}", made.stderr);
    let (thin, whole) = (folder.join("thin.upb"), folder.join("whole.upb"));
    let size = |path: &Path| fs::metadata(path).expect("a bundle").len();
    assert!(size(&thin) * 5 < size(&whole), "{} {}", size(&thin), size(&whole));
    assert_eq!(manifest(&thin)["version"], 4);
    assert_eq!(manifest(&whole)["version"], 3);
    let lost = run(&folder, &["-f", "folded", "thin.upb"]).expect_status(1);
    let id = "no store has the file of build-id 77ecbf57bb8690aa5de6d5104da1f11966e7809b";
    assert!(lost.stderr.contains(id), "{}", lost.stderr);
    let store = folder.join("store");
    assert_eq!(fill_store(&thin, &store), 3);
    for arguments in [&["-q"][..], &["-q", "-f", "perf-script"], &["top", "-q"]] {
        let there = [arguments, &["thin.upb", "--buildid-dir", "store"]].concat();
        let there = run(&folder, &there).expect_status(0);
        let expected = run(&folder, &[arguments, &["whole.upb"]].concat()).expect_status(0);
        assert!(there.stdout == expected.stdout, "{arguments:?}");
    }
    // Another file of that build-id is not the file.
    let program = store.join(".build-id/77/ecbf57bb8690aa5de6d5104da1f11966e7809b/elf");
    let mut bytes = fs::read(&program).expect("the program");
    *bytes.last_mut().expect("a byte") ^= 1;
    fs::write(&program, bytes).expect("written");
    let other = ["-f", "folded", "thin.upb", "--buildid-dir", "store"];
    assert!(run(&folder, &other).expect_status(1).stderr.contains(id));
    for (option, place) in [("--sysroot", "."), ("--extra-dir", "store")] {
        let ran = run(&folder, &["thin.upb", option, place]).expect_status(2);
        assert!(ran.stderr.contains(&format!("{option} has no effect")), "{}", ran.stderr);
    }
}

/// A store may have copies of files for single recordings. A rewritten recording is another one.
#[test]
fn copies_for_one_recording_do_not_matter() {
    let folder = empty_folder("repacked-copies");
    let store = folder.join("store");
    fs::create_dir_all(store.join("by-recording/0123")).expect("a folder");
    let store = store.to_str().expect("UTF-8");
    bundle(&folder, "inlines-gcc", "whole.upb", &["--buildid-dir", store]);
    for option in ["--no-stacks", "--anonymize"] {
        run(&folder, &["bundle", "whole.upb", option, "-o", "later.upb"]).expect_status(0);
        run(&folder, &["-q", "later.upb"]).expect_status(0);
    }
}
