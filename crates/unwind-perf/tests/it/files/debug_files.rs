//! For every storage of debug information, functions, inlined functions and lines are those of the unsplit build.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use image_store::Image;
use serde_json::Value;

use crate::support::cases::root;
use crate::support::mapped::{Map, Recording, samples};
use crate::support::run::{Ran, empty_folder, run};

/// Code of the program: first address, size, offset in the file.
const TEXT: (u64, u64, u64) = (0x40_1000, 0xca, 0x1000);

fn variant(dwarf: &str, name: &str) -> PathBuf {
    root().join("crates/unwind-perf/testdata/debug").join(dwarf).join(name)
}

/// Writes a recording with a sample at each byte of the code into a new folder. Returns the folder, that of the program
/// and that of its debug files.
fn recorded(dwarf: &str, name: &str) -> (PathBuf, String, String) {
    // Several tests use the same names at a time.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let asked = ASKED.fetch_add(1, Ordering::Relaxed);
    let folder = empty_folder(&format!("debug-{dwarf}-{name}-{asked}"));
    let mut recording = Recording::new();
    let (start, size, offset) = TEXT;
    recording.map(1, Map::code(start, 0x1000, offset, "/program"));
    for address in start..start + size {
        recording.sample(1, address);
    }
    recording.write(&folder);
    let place = variant(dwarf, name);
    // Some variants have no folder of debug files.
    let debug = Some(place.join("debug")).filter(|debug| debug.is_dir());
    let debug = debug.unwrap_or_else(|| place.clone());
    let [place, debug] = [place, debug].map(|path| path.to_str().expect("UTF-8").to_owned());
    (folder, place, debug)
}

/// Returns for each byte of the code the names of its frames, innermost first.
fn names(dwarf: &str, name: &str, more: &[&str]) -> Vec<Vec<[Value; 5]>> {
    let (folder, place, debug) = recorded(dwarf, name);
    let lines = samples(&folder, &[&["--sysroot", &place, "--debug-dir", &debug], more].concat());
    let fields = ["function", "file", "line", "inlined", "function_offset"];
    let address_of = |frame: &Value| frame["addr"].clone();
    let chain = |line: &Value| -> Vec<[Value; 5]> {
        let frames = line["frames"].as_array().expect("frames");
        let first = address_of(&frames[0]);
        let own = frames.iter().take_while(|frame| address_of(frame) == first);
        own.map(|frame| fields.map(|field| frame[field].clone())).collect()
    };
    lines.iter().map(chain).collect()
}

#[test]
fn wherever_it_is_kept() {
    for dwarf in ["v4", "v5"] {
        let plain = names(dwarf, "plain", &[]);
        let inlined = plain.iter().filter(|chain| chain.len() > 2).count();
        let with_line = plain.iter().filter(|chain| chain[0][2].is_u64()).count();
        assert_eq!((plain.len(), inlined, with_line), (0xca, 21, 172), "{dwarf}");
        for name in ["zlib", "zstd", "dwo", "dwp", "dwz", "link", "id", "path"] {
            let found = names(dwarf, name, &[]);
            for (index, (found, plain)) in found.iter().zip(&plain).enumerate() {
                assert_eq!(found, plain, "{dwarf} {name} {:#x}", TEXT.0 + index as u64);
            }
            assert_eq!(found.len(), plain.len());
        }
    }
}

/// Returns the variables of a function: name, type and location of each.
fn variables(dwarf: &str, name: &str, function: &str) -> Vec<[Value; 3]> {
    let (folder, place, debug) = recorded(dwarf, name);
    let files = ["--sysroot", &place, "--debug-dir", &debug, "perf.data", "-q"];
    let args = [&["values", "--format", "json", function][..], &files].concat();
    let list = run(&folder, &args).expect_status(0).json();
    let row = |row: &Value| ["name", "type", "location"].map(|field| row[field].clone());
    list.as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn variables_wherever_they_are_kept() {
    for dwarf in ["v4", "v5"] {
        for function in ["middle", "enclosing"] {
            let plain = variables(dwarf, "plain", function);
            assert!(plain.iter().any(|row| row[2] != "optimized out"), "{dwarf} {plain:?}");
            for name in ["zlib", "dwo", "dwp", "dwz", "id"] {
                assert_eq!(variables(dwarf, name, function), plain, "{dwarf} {name} {function}");
            }
        }
    }
}

#[test]
fn names_of_functions_in_a_stripped_file() {
    let function = |chain: &Vec<[Value; 5]>| (chain[0][0].clone(), chain[0][4].clone());
    let plain = names("v5", "plain", &["--no-inline"]);
    let mini = names("v5", "mini", &["--no-inline"]);
    let named = mini.iter().filter(|chain| chain[0][0].is_string()).count();
    assert_eq!(named, 150);
    assert_eq!(
        mini.iter().map(function).collect::<Vec<_>>(),
        plain.iter().map(function).collect::<Vec<_>>()
    );
}

/// Runs a recording of the program in `place` with `samples` samples, one at each byte. Checks that its only finding of
/// that kind is this one.
#[track_caller]
fn check_finding(folder: &Path, samples: u64, kind: &str, sentence: &str) -> Ran {
    let mut recording = Recording::new();
    let (start, _, offset) = TEXT;
    recording.map(1, Map::code(start, 0x1000, offset, "/program"));
    for address in start..start + samples {
        recording.sample(1, address);
    }
    recording.write(folder);
    let ran = run(folder, &["perf.data", "--sysroot", "place"]).expect_status(1);
    let json = ran.json();
    let findings = json["summary"]["findings"].as_array().expect("findings");
    let found: Vec<_> = findings.iter().filter(|finding| finding["kind"] == kind).collect();
    let expected = serde_json::json!({ "kind": kind, "count": 1, "message": sentence });
    assert_eq!(found, [&expected], "{}", folder.display());
    ran
}

/// If a file with inlined functions is unavailable, both the summary and the JSON report that they are missing.
#[test]
fn what_is_missing_is_said() {
    for (dwarf, name, file, kind, sentence) in [
        (
            "v4",
            "dwo",
            "chain.dwo",
            "dwo-missing",
            "place/program: chain.dwo, the split debug information of a unit, was not found; inlined functions are missing",
        ),
        (
            "v5",
            "dwo",
            "chain.dwo",
            "dwo-missing",
            "place/program: chain.dwo, the split debug information of a unit, was not found; inlined functions are missing",
        ),
        (
            "v5",
            "dwz",
            "common",
            "dwz-missing",
            "place/program: common, its shared debug information, was not found; inlined functions are missing",
        ),
    ] {
        let folder = empty_folder(&format!("missing-{dwarf}-{name}"));
        let place = folder.join("place");
        std::fs::create_dir(&place).expect("a folder");
        assert!(variant(dwarf, name).join(file).is_file());
        std::fs::copy(variant(dwarf, name).join("program"), place.join("program")).expect("a copy");
        let ran = check_finding(&folder, TEXT.1, kind, sentence);
        assert!(ran.stderr.contains(&format!("{kind}: {sentence}\n")), "{}", ran.stderr);
    }
}

/// A damaged file with debug information is reported, and so is a damaged section of the program.
#[test]
fn what_is_damaged_is_said() {
    let missing = "as the debug file of place/program it is not used, so names, inlined functions or lines are missing";
    let cut = "has another checksum than the file that belongs to it states";
    let packed =
        "place/program: section .gnu_debugdata cannot be decompressed; function names are missing";
    for (name, file, kind, sentence) in [
        (
            "link",
            "program.debug",
            "debug-file-unusable",
            format!("place/program.debug {cut}; {missing}"),
        ),
        ("mini", "program", "section-unreadable", packed.to_owned()),
    ] {
        let folder = empty_folder(&format!("damaged-{name}"));
        let place = folder.join("place");
        std::fs::create_dir(&place).expect("a folder");
        for entry in std::fs::read_dir(variant("v5", name)).expect("a folder") {
            let entry = entry.expect("a file");
            let mut bytes = std::fs::read(entry.path()).expect("its bytes");
            if entry.file_name() == "program.debug" {
                bytes.truncate(bytes.len() / 2);
            } else if entry.file_name() == file {
                let image =
                    Image::from_vec(Path::new("program"), bytes.clone()).expect("an ELF file");
                let at = image.section(".gnu_debugdata").expect("symbols").offset().0 as usize;
                bytes[at + 32..at + 64].fill(0xff);
            }
            std::fs::write(place.join(entry.file_name()), bytes).expect("written");
        }
        check_finding(&folder, 1, kind, &sentence);
    }
}

/// If the second half of `.debug_info` is overwritten, the first half gives correct results, and functions have the
/// names of their symbols. The run is not reported as complete.
#[test]
fn half_of_the_debug_information_is_overwritten() {
    let folder = empty_folder("half-of-debug-info");
    let place = folder.join("place");
    std::fs::create_dir(&place).expect("a folder");
    let mut bytes = std::fs::read(variant("v5", "plain").join("program")).expect("the program");
    let image = Image::from_vec(Path::new("program"), bytes.clone()).expect("an ELF file");
    let section = image.section(".debug_info").expect("debug information");
    let data = image.section_data(section).expect("its bytes");
    let len = data.len();
    let at = bytes.windows(len).position(|window| *window == *data).expect("where it is");
    bytes[at + len / 2..at + len].fill(0xff);
    std::fs::write(place.join("program"), bytes).expect("written");
    let mut recording = Recording::new();
    let (start, size, offset) = TEXT;
    recording.map(1, Map::code(start, 0x1000, offset, "/program"));
    for address in start..start + size {
        recording.sample(1, address);
    }
    recording.write(&folder);
    let ran = run(&folder, &["perf.data", "-f", "ndjson", "--sysroot", "place"]).expect_status(1);
    let plain = names("v5", "plain", &["--no-inline"]);
    let mut inlined = 0;
    for (line, plain) in ran.lines().iter().zip(&plain) {
        let frames = line["frames"].as_array().expect("frames");
        let own = frames.iter().take_while(|frame| frame["addr"] == frames[0]["addr"]);
        let own: Vec<_> = own.collect();
        inlined += usize::from(own.len() > 1);
        assert_eq!(own.last().expect("a frame")["function"], plain[0][0]);
    }
    let kept = names("v5", "plain", &[]).iter().filter(|chain| chain.len() > 1).count();
    assert_eq!((inlined, kept), (15, 35));
    let finding = "debug-info-damaged: place/program: the entry at 0x254 of .debug_info is unreadable; \
                   inlined functions of its unit are missing\n";
    assert!(ran.stderr.contains(finding), "{}", ran.stderr);
    assert!(ran.stderr.contains("but names or lines are missing"), "{}", ran.stderr);
}
