//! The cache of runs that name none: in the user's cache folder, or in that of `UNWIND_PERF_CACHE`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::support::cases::{Case, sysroot};
use crate::support::run::{Ran, command, empty_folder, finish, listing};

/// The folder below a home.
const BELOW: &str = ".cache/unwind-perf/names";

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Runs a case with its files in a folder, with these variables and further words.
fn folded(files: &Path, variables: &[(&str, &Path)], words: &[&str]) -> Ran {
    let case = Case::named("plt");
    let all = [&["-f", "folded", "perf.data"], words, &["--extra-dir", text(files)]].concat();
    let mut command = command(&case.folder, &all);
    command.envs(variables.iter().copied());
    finish(command.spawn().expect("the command starts")).expect_status(0)
}

/// Number of cached files in a folder.
fn cached(folder: &Path) -> usize {
    if !folder.is_dir() {
        return 0;
    }
    let is_cached = |name: &String| name.ends_with(".answers") || name.ends_with(".rules");
    listing(folder).iter().filter(|name| is_cached(name)).count()
}

/// Copies the files of the case to a folder.
fn copied(to: &str) -> PathBuf {
    let folder = empty_folder(to);
    for name in ["plt", "libplt.so", "libc.so.6"] {
        for path in find(&sysroot(), name.as_ref()) {
            fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("copied");
        }
    }
    folder
}

fn find(folder: &Path, name: &std::ffi::OsStr) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => find(&path, name),
            false => Vec::from_iter((path.file_name() == Some(name)).then_some(path)),
        })
        .collect()
}

#[test]
fn runs_share_a_cache_in_the_cache_folder() {
    let (files, home) = (copied("usual-files"), empty_folder("usual-home"));
    let expected = folded(&files, &[], &[]);
    let folder = home.join(BELOW);
    for (words, is_used) in [(&["--no-cache"][..], false), (&[], true), (&[], true)] {
        let ran = folded(&files, &[("HOME", &home)], words);
        assert!(ran.stdout == expected.stdout && ran.stderr == expected.stderr, "{words:?}");
        assert_eq!(cached(&folder) > 0, is_used, "{words:?}");
    }
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!([mode(&folder), mode(&home.join(".cache"))], [0o700; 2]);
    let info = finish(command(&files, &["cache", "info"]).env("HOME", &home).spawn().expect("run"));
    let head = format!("names, unwind rules and profiles, in {}\nfiles: ", folder.display());
    assert!(info.expect_status(0).text().starts_with(&head));
    let cleared = command(&files, &["cache", "clear"]).env("HOME", &home).spawn().expect("run");
    finish(cleared).expect_status(0);
    assert_eq!(cached(&folder), 0);
}

#[test]
fn a_variable_names_the_folder_or_turns_it_off() {
    let (files, home) = (copied("usual-files-2"), empty_folder("usual-home-2"));
    let other = home.join("other");
    let off = Path::new("off");
    for (value, of_home, of_other) in [(off, false, false), (&other, false, true)] {
        folded(&files, &[("HOME", &home), ("UNWIND_PERF_CACHE", value)], &[]);
        assert_eq!((cached(&home.join(BELOW)) > 0, cached(&other) > 0), (of_home, of_other));
    }
    let case = Case::named("plt");
    let root = sysroot();
    let words = ["-q", "-f", "folded", "perf.data", "--sysroot", text(&root)];
    let ran = command(&case.folder, &words).env("HOME", &home).spawn().expect("run");
    finish(ran).expect_status(0);
    assert_eq!(cached(&home.join(BELOW)), 0);
}

#[test]
fn a_home_that_cannot_be_written_is_no_error() {
    let files = copied("usual-files-3");
    let expected = folded(&files, &[], &[]);
    let ran = folded(&files, &[("HOME", Path::new("/proc/none"))], &[]);
    assert!(ran.stdout == expected.stdout);
    assert_eq!(ran.stderr, expected.stderr);
    let home = empty_folder("usual-home-3");
    // Only the superuser can give a folder away.
    if chown(&home, Some(12_345), None).is_ok() {
        folded(&files, &[("HOME", &home)], &[]);
        assert_eq!(listing(&home), Vec::<String>::new());
    }
}

#[test]
fn a_file_that_claims_the_build_id_of_another_does_not_name_later_runs() {
    let (files, home) = (copied("usual-files-4"), empty_folder("usual-home-4"));
    let crafted = copied("usual-crafted");
    let path = crafted.join("libplt.so");
    let bytes = fs::read(&path).expect("a program");
    let mut other = bytes.clone();
    let places: Vec<usize> = memchr::memmem::find_iter(&bytes, b"call_back\0").collect();
    assert!(!places.is_empty());
    places.iter().for_each(|at| other[*at..*at + 9].copy_from_slice(b"swindler_"));
    fs::write(&path, other).expect("crafted");
    let home = [("HOME", &*home)];
    let names = |files: &Path| folded(files, &home, &["-q"]).text().contains("call_back");
    assert_eq!(
        [&crafted, &files, &crafted, &files].map(|it| names(it)),
        [false, true, false, true]
    );
}

#[test]
fn later_commands_on_a_recording_use_the_profile_of_the_first() {
    let (files, home) = (copied("usual-files-5"), empty_folder("usual-home-5"));
    let case = Case::named("plt");
    let run = |words: &[&str], home: Option<&Path>| {
        let all = [words, &["perf.data", "--extra-dir", text(&files)]].concat();
        let mut command = command(&case.folder, &all);
        command.envs(home.map(|home| ("HOME", home)));
        let ran = finish(command.spawn().expect("the command starts")).expect_status(0);
        (ran.stdout, ran.stderr)
    };
    let profiles = || {
        let names = listing(&home.join(BELOW));
        names.iter().filter(|name| name.ends_with(".profile")).count()
    };
    let commands = [&["top"][..], &["tree"], &["-f", "json"], &["-f", "folded", "-v"], &["top"]];
    for words in commands {
        assert!(run(words, Some(&home)) == run(words, None), "{words:?}");
        assert_eq!(profiles(), 1, "{words:?}");
    }
    assert!(run(&["top", "--no-inline"], Some(&home)) == run(&["top", "--no-inline"], None));
    assert_eq!(profiles(), 2);
}
