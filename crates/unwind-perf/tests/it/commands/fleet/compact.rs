//! `compact`: the files of a day become few large ones.

use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::rows::{reader, rows};
use super::{Fleet, add_files, opts};
use crate::support::run::{Ran, run};

impl Fleet {
    #[track_caller]
    fn compact(&self, arguments: &[&str]) -> Ran {
        run(&self.folder, &[&["compact", "out", "--out", "merged"][..], arguments].concat())
    }

    /// Returns the merged files that engines read, sorted.
    fn merged(&self) -> Vec<String> {
        let root = self.folder.join("merged");
        let mut files = Vec::new();
        add_files(&root, &root, &mut files);
        files.retain(|file| file.ends_with(".parquet"));
        files.sort();
        files
    }

    /// Copies the recording of a case, last written on a day of 1970.
    fn add_on(&self, case: &str, name: &str, day: u64) {
        let path = self.add(case, name);
        let file = std::fs::File::options().write(true).open(path).expect("a file");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(86_400 * day);
        file.set_modified(time).expect("a time");
    }

    /// Returns the rows of files below a folder as text, in the order of the files.
    fn rows(&self, folder: &str, files: &[String]) -> Vec<String> {
        let root = self.folder.join(folder);
        let of = |file: &String| rows(&reader(&root.join(file)));
        files.iter().flat_map(of).map(|row| row.to_string()).collect()
    }

    fn parts(&self) -> Vec<String> {
        let mut files = self.files();
        files.retain(|file| file.ends_with(".parquet"));
        files
    }
}

/// Returns the line of standard error about a day, without sizes.
fn line(ran: &Ran, day: &str) -> String {
    let line = ran.stderr.lines().find(|line| line.starts_with(day)).expect("a line");
    let words = line.split(" (").map(|part| part.split_once(") ").map_or(part, |it| it.1));
    words.collect::<Vec<_>>().join(" ").split(" of ").next().expect("text").to_owned()
}

#[test]
fn merged_rows_are_those_of_the_tree() {
    let fleet = Fleet::new("compact");
    fleet.add_on("inlines-gcc", "a.data", 1);
    fleet.add_on("two-events", "b.data", 1);
    fleet.add_on("syscalls", "c.data", 2);
    let manifests = fleet.convert(&["a.data", "b.data", "c.data"]).expect_status(0).lines();
    let hash = opts(&manifests);
    let ran = fleet.compact(&[]).expect_status(0);
    assert_eq!(line(&ran, "1970-01-02"), "1970-01-02: 87 rows");
    assert_eq!(line(&ran, "1970-01-03"), "1970-01-03: 48 rows");
    let last = ran.stderr.lines().last().expect("a line");
    assert!(last.starts_with("2 days (0 unchanged): 135 rows of 3 files ("), "{last}");
    assert!(last.contains(") in 2 files ("), "{last}");
    let files = fleet.merged();
    let [first, second] = &files[..] else { panic!("{files:?}") };
    assert!(first.starts_with(&format!("date=1970-01-02/opts={hash}/part-0-")), "{first}");
    assert!(second.starts_with(&format!("date=1970-01-03/opts={hash}/part-0-")), "{second}");
    let expected: Vec<String> = fleet
        .parts()
        .iter()
        .flat_map(|part| {
            let digest = part.split("recording_sha256=").nth(1).expect("a hash")[..64].to_owned();
            let of = fleet.rows("out", std::slice::from_ref(part)).into_iter();
            of.map(move |row| {
                format!("{}, recording_sha256: \"{digest}\"}}", &row[..row.len() - 1])
            })
        })
        .collect();
    assert_eq!(fleet.rows("merged", &files), expected);
    let manifest = std::fs::read(fleet.folder.join("merged/date=1970-01-03/_manifest.json"));
    let manifest: serde_json::Value =
        serde_json::from_slice(&manifest.expect("a file")).expect("JSON");
    assert_eq!(manifest["merged"], 1);
    assert_eq!(manifest["rows"], 48);
    let table = &manifest["tables"][0];
    assert_eq!(table["parts"][0]["part"], second["date=1970-01-03/".len()..]);
    assert_eq!(table["recordings"][0]["recording_sha256"], manifests_hash(&manifests, 48));
    assert_eq!(table["columns"][1], "REQUIRED INT32 pid;");
    assert!(!fleet.folder.join(".merged.unfinished").exists());
    assert_eq!(fleet.compact(&["-q", "--redo"]).expect_status(0).stderr, "");
    assert_eq!(fleet.merged(), files);
}

fn manifests_hash(manifests: &[serde_json::Value], samples: u64) -> serde_json::Value {
    let found = manifests.iter().find(|it| it["samples"] == samples).expect("a manifest");
    found["recording_sha256"].clone()
}

#[test]
fn only_changed_days_are_written() {
    let fleet = Fleet::new("compact-again");
    fleet.add_on("inlines-gcc", "a.data", 1);
    fleet.add_on("syscalls", "c.data", 2);
    fleet.convert(&["a.data", "c.data"]).expect_status(0);
    fleet.compact(&["--date", "1970-01-03"]).expect_status(0);
    let third = fleet.merged();
    assert_eq!(third.len(), 1);
    let ran = fleet.compact(&["-j", "1"]).expect_status(0);
    assert_eq!(line(&ran, "1970-01-03"), "1970-01-03: unchanged, 48 rows");
    assert_eq!(line(&ran, "1970-01-02"), "1970-01-02: 35 rows");
    assert!(ran.stderr.contains("\n2 days (1 unchanged): 83 rows of 2 files ("), "{}", ran.stderr);
    let before = fleet.merged();
    fleet.add_on("two-events", "b.data", 1);
    // A killed run leaves a folder beside the tree.
    std::fs::create_dir(fleet.folder.join(".merged.unfinished")).expect("a folder");
    fleet.convert(&["b.data"]).expect_status(0);
    let ran = fleet.compact(&[]).expect_status(0);
    assert_eq!(line(&ran, "1970-01-02"), "1970-01-02: 87 rows");
    assert_eq!(line(&ran, "1970-01-03"), "1970-01-03: unchanged, 48 rows");
    let after = fleet.merged();
    assert_eq!((after.len(), &after[1]), (2, &third[0]));
    assert_ne!(after[0], before[0]);
    assert!(!fleet.folder.join(".merged.unfinished").exists());
    // A lost file is written again.
    std::fs::remove_file(fleet.folder.join("merged").join(&third[0])).expect("a file");
    let ran = fleet.compact(&[]).expect_status(0);
    assert_eq!(line(&ran, "1970-01-03"), "1970-01-03: 48 rows");
    assert_eq!(fleet.merged(), after);
}

#[test]
fn fields_are_merged_by_name() {
    let fleet = Fleet::new("compact-fields");
    fleet.add_on("inlines-gcc", "a.data", 1);
    fleet.add_on("syscalls", "c.data", 1);
    fleet.convert(&["--with-fields", "all", "a.data", "c.data"]).expect_status(0);
    fleet.compact(&[]).expect_status(0);
    let rows = fleet.rows("merged", &fleet.merged());
    assert_eq!(rows.len(), 83);
    let nulls =
        |column: &str| rows.iter().filter(|row| row.contains(&format!("{column}: null, "))).count();
    let columns =
        ["cpu-clock/addr", "cpu-clock/data_src", "cpu-clock:u/addr", "cpu-clock:u/data_src"];
    assert_eq!(columns.map(nulls), [35, 35, 48, 48]);
}

#[test]
fn damaged_and_foreign_files_replace_nothing() {
    let fleet = Fleet::new("compact-damaged");
    fleet.add_on("inlines-gcc", "a.data", 1);
    fleet.add_on("syscalls", "c.data", 2);
    fleet.convert(&["a.data", "c.data"]).expect_status(0);
    fleet.compact(&["-q"]).expect_status(0);
    let before = fleet.merged();
    let day = fleet.folder.join("out/v2/date=1970-01-02");
    let foreign = day.join("recording_sha256=0/opts=0/part.parquet");
    std::fs::create_dir_all(foreign.parent().expect("a folder")).expect("a folder");
    std::fs::write(&foreign, "a text").expect("written");
    let ran = fleet.compact(&[]).expect_status(1);
    let message =
        format!("unwind-perf: 1970-01-02: cannot read {}: not a Parquet file", foreign.display());
    assert!(ran.stderr.starts_with(&message), "{}", ran.stderr);
    assert!(ran.stderr.contains("1970-01-03: unchanged, 48 rows"), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 day (1 unchanged, 1 not merged): 48 rows"), "{}", ran.stderr);
    assert_eq!(fleet.merged(), before);
    std::fs::remove_dir_all(foreign.ancestors().nth(2).expect("a folder")).expect("removed");
    std::fs::create_dir(day.join("other")).expect("a folder");
    std::fs::write(day.join("other/x.parquet"), "").expect("written");
    let ran = fleet.compact(&["-q"]).expect_status(1);
    assert!(ran.stderr.contains("the name of a folder is not KEY=VALUE"), "{}", ran.stderr);
    assert_eq!(fleet.merged(), before);
}

#[test]
fn wrong_calls_merge_nothing() {
    let fleet = Fleet::new("compact-calls");
    fleet.add_on("inlines-gcc", "a.data", 1);
    fleet.convert(&["a.data"]).expect_status(0);
    let call = |words: &[&str]| run(&fleet.folder, &[&["compact"][..], words].concat());
    for (words, message) in [
        (&["absent", "--out", "merged"][..], "unwind-perf: cannot read absent: "),
        (&[".", "--out", "merged"], "unwind-perf: . has no folder date=DAY"),
        (
            &["out", "--out", "merged", "--date", "1970-01-01"],
            "unwind-perf: out has no folder date=1970-01-01\n",
        ),
        (&["out", "--out", "out/v2/merged"], "unwind-perf: the merged tree "),
        (&["out/v2", "--out", "a.data"], "unwind-perf: cannot write a.data: "),
    ] {
        let ran = call(words).expect_status(2);
        assert!(ran.stderr.starts_with(message), "{words:?}: {}", ran.stderr);
        assert!(!fleet.folder.join("merged").exists());
    }
    std::fs::create_dir(fleet.folder.join("merged")).expect("a folder");
    let lock = std::fs::File::create(fleet.folder.join("merged/.lock")).expect("a file");
    flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("locked");
    let ran = fleet.compact(&[]).expect_status(2);
    assert_eq!(ran.stderr, "unwind-perf: another process compacts into merged\n");
    drop(lock);
    fleet.compact(&[]).expect_status(0);
    assert!(Path::new(&fleet.folder).join("merged/.lock").exists());
}

#[test]
fn stacks_have_the_folders_of_their_path() {
    let fleet = Fleet::new("compact-stacks");
    for host in ["a", "b"] {
        let name = fleet.add("inlines-gcc", &format!("{host}.data"));
        let folder = fleet.folder.join(format!("out/date=1970-01-02/server={host}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        let output = folder.join("stacks.parquet");
        let words = ["-q", "-f", "parquet", "--stacks", "-o", output.to_str().expect("UTF-8")];
        let input = [name.to_str().expect("UTF-8")];
        run(&fleet.folder, &[&input[..], &words].concat()).expect_status(0);
    }
    fleet.compact(&["-q"]).expect_status(0);
    let files = fleet.merged();
    assert_eq!(files.len(), 1);
    let rows = fleet.rows("merged", &files);
    let of = |host: &str| {
        rows.iter().filter(|row| row.ends_with(&format!("server: \"{host}\"}}"))).count()
    };
    assert_eq!((of("a"), of("b")), (rows.len() / 2, rows.len() / 2));
    let merged = format!("merged/{}", files[0]);
    let named =
        |files: &[&str]| run(&fleet.folder, &[&["symbolize", "-q"][..], files].concat()).stdout;
    let both = [
        "out/date=1970-01-02/server=a/stacks.parquet",
        "out/date=1970-01-02/server=b/stacks.parquet",
    ];
    assert_eq!(named(&[&merged]), named(&both));
}
