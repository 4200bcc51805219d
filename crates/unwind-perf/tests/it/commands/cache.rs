//! Names and unwind rules that are cached between runs: the output is the same with and without them, even if the
//! folder is damaged.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::cases::{Case, sysroot};
use crate::support::run::{command, empty_folder, finish, listing, run};

/// A case with names in several files.
const CASE: &str = "plt";
/// A case with enough addresses in one file for its rules to be cached.
const RULES_CASE: &str = "spin-lld";

/// Arguments of runs that store and use no profiles, so that they use names and rules.
const NO_PROFILE: [&str; 2] = ["--max-memory", "4G"];

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Returns output and messages of a case, with further arguments.
fn printed(case: &Case, arguments: &[&str]) -> (Vec<u8>, String) {
    let ran = case.run(arguments);
    (ran.stdout, ran.stderr)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let is_entry = |name: &String| name.ends_with(".answers") || name.ends_with(".rules");
    let names = listing(folder).into_iter().filter(is_entry);
    names.map(|name| folder.join(name)).collect()
}

#[test]
fn a_folder_for_all_recordings_changes_nothing() {
    let folder = empty_folder("cache-all").join("made");
    for case in Case::all() {
        for format in ["json", "ndjson", "hotspot", "perf-script"] {
            let expected = printed(&case, &["-f", format]);
            for run in ["first", "with names", "with the profile"] {
                let mut words = vec!["-f", format, "--cache", text(&folder)];
                words.extend(NO_PROFILE.iter().filter(|_| run == "with names"));
                let with = printed(&case, &words);
                assert!(with == expected, "{} as {format}, {run}", case.name);
            }
        }
        let short = ["-q", "--demangle", "short"];
        let with = printed(&case, &[&short[..], &["--cache", text(&folder)]].concat());
        assert!(with == printed(&case, &short), "{} with short names", case.name);
    }
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert!(entries(&folder).iter().all(|entry| mode(entry) == 0o600));
}

#[test]
fn what_is_damaged_is_asked_anew() {
    for case in [CASE, RULES_CASE] {
        damaged_anew(&Case::named(case));
    }
}

fn damaged_anew(case: &Case) {
    let folder = empty_folder("cache-damaged");
    let expected = printed(case, &["-q"]);
    let words = [&["-q", "--jobs", "1", "--cache", text(&folder)], &NO_PROFILE[..]].concat();
    let with = || printed(case, &words);
    assert!(with() == expected);
    let whole: Vec<(PathBuf, Vec<u8>)> = entries(&folder)
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).expect("an entry")))
        .collect();
    assert!(whole.len() > 1);
    for damage in 0..5 {
        for (path, bytes) in &whole {
            let mut bytes = bytes.clone();
            let middle = bytes.len() / 2;
            match damage {
                0 => bytes.truncate(middle),
                1 => bytes.clear(),
                2 => bytes[middle] ^= 1,
                3 => bytes[8] ^= 1,
                // The entry of another file.
                _ => bytes.clone_from(&whole[usize::from(*path == whole[0].0)].1),
            }
            std::fs::write(path, bytes).expect("damaged");
        }
        assert!(with() == expected, "damage {damage}");
        // They were written again.
        for (path, bytes) in &whole {
            assert!(std::fs::read(path).expect("an entry") == *bytes, "damage {damage}");
        }
    }
}

/// Returns the number of files with unwind rules in a folder.
fn rule_files(folder: &Path) -> usize {
    entries(folder).iter().filter(|entry| entry.extension().is_some_and(|it| it == "rules")).count()
}

#[test]
fn rules_are_kept_without_names_too() {
    let folder = empty_folder("cache-rules");
    let case = Case::named(RULES_CASE);
    for format in ["json", "hotspot"] {
        let expected = printed(&case, &["-f", format, "--no-symbols"]);
        for jobs in ["1", "2", "7"] {
            let with = ["-f", format, "--no-symbols", "--jobs", jobs, "--cache", text(&folder)];
            let with = [&with, &NO_PROFILE[..]].concat();
            assert!(printed(&case, &with) == expected, "{format}, {jobs} jobs");
        }
        assert_eq!((rule_files(&folder), entries(&folder).len()), (1, 1));
        run(&folder, &["cache", "clear", text(&folder)]).expect_status(0);
        assert_eq!(entries(&folder), Vec::<PathBuf>::new());
    }
    printed(&case, &["-q", "--no-symbols", "--cache", text(&folder)]);
    let shown = run(&folder, &["cache", "info", text(&folder)]).expect_status(0).text().to_owned();
    let head = "files: 0, bytes: 0, addresses with an answer: 0\nfiles of unwind rules: 1, bytes: ";
    assert!(shown.starts_with(head), "{shown}");
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let folder = empty_folder("cache-unwritable");
    let file = folder.join("file");
    std::fs::write(&file, b"no folder").expect("a file");
    let case = Case::named(CASE);
    let (stdout, stderr) = printed(&case, &["--cache", text(&file.join("cache"))]);
    let (expected, summary) = printed(&case, &[]);
    assert!(stdout == expected);
    let told = format!(
        "--cache {}: Not a directory (os error 20); names and unwind rules are not cached for the next run\n",
        text(&file.join("cache"))
    );
    assert_eq!(stderr, summary + &told);
    assert_eq!(case.run(&["-q", "--cache", text(&file)]).expect_status(0).stderr, "");
}

#[test]
fn several_at_once_and_some_that_are_killed() {
    let folder = empty_folder("cache-several");
    let case = Case::named(RULES_CASE);
    let recording = case.folder.join("perf.data");
    let root = sysroot();
    let words = ["-q", "--sysroot", text(&root), "--cache", text(&folder), text(&recording)];
    let start = || command(&case.folder, &words).spawn().expect("the command starts");
    let without = ["-q", "--sysroot", text(&root), text(&recording)];
    let expected = run(&case.folder, &without).expect_status(0).stdout;
    for round in 0..8 {
        let mut killed = start();
        let others = [start(), start()];
        std::thread::sleep(Duration::from_millis(round));
        killed.kill().expect("killed");
        killed.wait().expect("ended");
        for other in others {
            assert!(finish(other).expect_status(0).stdout == expected);
        }
    }
}

#[test]
fn the_folder_is_shown_and_emptied() {
    let folder = empty_folder("cache-info");
    let cache = |what: &str| run(&folder, &["cache", what, text(&folder)]).expect_status(0);
    let nothing = "files: 0, bytes: 0, addresses with an answer: 0\n";
    assert_eq!(cache("info").text(), nothing);
    let words = [&["-q", "--cache", text(&folder)], &NO_PROFILE[..]].concat();
    Case::named(CASE).run(&words).expect_status(0);
    std::fs::write(folder.join("mine"), b"stays").expect("a file");
    let kept = entries(&folder);
    let bytes: u64 = kept.iter().map(|it| std::fs::metadata(it).expect("there").len()).sum();
    let shown = cache("info").text().to_owned();
    let start = format!("files: {}, bytes: {bytes}, addresses with an answer: ", kept.len());
    let addresses = shown.strip_prefix(&start).and_then(|rest| rest.strip_suffix('\n'));
    assert!(
        addresses.is_some_and(|number| number.parse::<u64>().is_ok_and(|it| it > 0)),
        "{shown}"
    );
    std::fs::write(&kept[0], b"damaged").expect("written");
    std::fs::write(folder.join(".unwind-perf-1"), b"half").expect("written");
    let shown = cache("info").text().to_owned();
    let others = "\ndamaged or of another version: 1, bytes: 7\nnot completed: 1, bytes: 4\n";
    assert!(shown.ends_with(others), "{shown}");
    let removed = cache("clear").text().to_owned();
    assert!(
        removed.starts_with(&format!("removed files: {}, bytes: ", kept.len() + 1)),
        "{removed}"
    );
    assert_eq!(listing(&folder), ["CACHEDIR.TAG", "mine"]);
    assert_eq!(cache("info").text(), nothing);
    let missing = run(&folder, &["cache", "info", "none"]).expect_status(2);
    assert!(missing.stderr.contains("the cache none"), "{}", missing.stderr);
}

#[test]
fn a_named_folder_that_others_can_write_is_refused() {
    let folder = empty_folder("cache-shared");
    let shared = folder.join("shared");
    std::fs::create_dir(&shared).expect("a folder");
    let writable = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&shared, writable).expect("set");
    std::fs::write(folder.join("perf.data"), Case::named(CASE).bytes()).expect("written");
    std::os::unix::fs::symlink("shared", folder.join("link")).expect("a link");
    for (option, arguments) in [
        ("--cache", &["perf.data"][..]),
        ("--buildid-dir", &["perf.data"]),
        #[cfg(feature = "service")]
        ("--store", &["serve", "--no-open", "perf.data"]),
        #[cfg(feature = "service")]
        ("--store", &["live", "--no-open"]),
    ] {
        for name in ["shared", "link"] {
            let ran = run(&folder, &[arguments, &[option, name]].concat()).expect_status(2);
            let message = format!(
                "unwind-perf: {option} {name}: {name} can be written by others (mode 777); name a folder that only you \
                 can write (chmod go-w)\n"
            );
            assert_eq!((ran.stderr, ran.stdout), (message, Vec::new()));
        }
    }
    assert_eq!(listing(&folder), ["link", "perf.data", "shared"]);
    assert_eq!(listing(&shared), Vec::<String>::new());
}
