//! Names come from the recorded files and the recorded kernel, or are missing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::cases::{Case, copy_folder, sysroot};
use crate::support::run::{Ran, empty_folder, run};

const RECORDED: &str = "/tmp/unwind-perf-testdata/spin-lld-build-id/spin-lld-build-id";

/// Creates a sysroot with `file` as the program; the libraries are the recorded ones.
fn sysroot_with(folder: &Path, file: &Path) -> PathBuf {
    let root = folder.join("root");
    let program = root.join(RECORDED.trim_start_matches('/'));
    fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
    fs::copy(file, &program).expect("the program");
    copy_folder(&sysroot().join("usr"), &root.join("usr"));
    root
}

fn file_of(case: &str) -> PathBuf {
    sysroot().join("tmp/unwind-perf-testdata").join(case).join(case)
}

fn replay(case: &Case, root: &Path, more: &[&str]) -> Ran {
    let root = root.to_str().expect("UTF-8");
    run(&case.folder, &[&["perf.data", "-q", "--sysroot", root], more].concat())
}

fn findings(json: &Value) -> Vec<(&str, &str)> {
    let findings = json["summary"]["findings"].as_array().expect("findings");
    findings
        .iter()
        .map(|finding| {
            (
                finding["kind"].as_str().expect("a word"),
                finding["message"].as_str().expect("a text"),
            )
        })
        .collect()
}

#[test]
fn another_build_of_the_program_is_refused() {
    let case = Case::named("spin-lld-build-id");
    let folder = empty_folder("another-build");
    let root = sysroot_with(&folder, &file_of("spin-bfd"));
    let json = replay(&case, &root, &[]).expect_status(0).json();
    let path = root.join(RECORDED.trim_start_matches('/'));
    assert_eq!(
        findings(&json),
        [(
            "build-id-mismatch",
            format!(
                "{} has build-id d306bc3c364ba5e040fc25266da671a4cc3928b3, the recorded one is \
                 f3dcf08ec49ecbf60ccffc71893cba205ac80401",
                path.display()
            )
            .as_str()
        )]
    );
    // The sampled instruction is present, and its caller by the rule for code without unwind rules; neither has a name.
    for sample in replay(&case, &root, &["-f", "ndjson"]).expect_status(0).lines() {
        let frames = sample["frames"].as_array().expect("frames");
        assert_eq!((frames.len(), &sample["end"]), (2, &json!("no-module")));
        for (frame, found_by) in frames.iter().zip(["sampled", "leaf-rule"]) {
            assert_eq!(
                (&frame["module"], &frame["found_by"]),
                (&json!(RECORDED), &json!(found_by))
            );
            let unknown = ["function", "file", "line", "svma"].map(|name| frame.get(name));
            assert_eq!(unknown, [None; 4]);
        }
    }
}

/// The same file under another name is found by its build-id.
#[test]
fn a_file_is_found_by_its_build_id() {
    let case = Case::named("spin-lld-build-id");
    let folder = empty_folder("renamed");
    let root = sysroot_with(&folder, &file_of("spin-bfd"));
    let renamed = folder.join("renamed");
    fs::copy(file_of("spin-lld-build-id"), &renamed).expect("the file");
    let module = renamed.to_str().expect("UTF-8");
    let folded = replay(&case, &root, &["-f", "folded", "--module", module]).expect_status(0);
    assert_eq!(
        folded.text(),
        "spin-lld-build-;_start;__libc_start_main;libc.so.6+0x271d0;main;outer;inner;spin 51\n"
    );
}

/// Returns the kernel names of the `syscalls` case, replayed with these lines as the list.
fn with_kallsyms(name: &str, list: &str) -> (Vec<String>, Value) {
    let case = Case::named("syscalls");
    let folder = empty_folder(name);
    let path = folder.join("kallsyms");
    fs::write(&path, list).expect("written");
    let arguments = ["--kallsyms", path.to_str().expect("UTF-8")];
    let lines = replay(&case, &sysroot(), &[&["-f", "ndjson"], &arguments[..]].concat());
    let mut names: Vec<String> = lines
        .expect_status(0)
        .lines()
        .iter()
        .flat_map(|line| line["frames"].as_array().expect("frames"))
        .filter(|frame| frame["kernel"] == json!(true))
        .map(|frame| frame["function"].as_str().unwrap_or("[unknown]").to_owned())
        .collect();
    names.sort();
    names.dedup();
    let json = replay(&case, &sysroot(), &arguments).expect_status(0).json();
    (names, json)
}

const KERNEL_NAMES: [&str; 6] = [
    "do_syscall_64",
    "entry_SYSCALL_64_after_hwframe",
    "ksys_read",
    "read_zero",
    "rep_stos_alternative",
    "vfs_read",
];

fn list() -> String {
    fs::read_to_string(Case::named("syscalls").folder.join("kallsyms")).expect("kallsyms")
}

#[test]
fn the_kernel_that_was_recorded() {
    let (names, json) = with_kallsyms("kernel-same", &list());
    assert_eq!(names, KERNEL_NAMES);
    assert_eq!(findings(&json).iter().filter(|(kind, _)| *kind == "kernel-names").count(), 0);
}

/// After another boot the same kernel is at another address; the recorded reference symbol gives the distance.
#[test]
fn the_same_kernel_at_other_addresses() {
    let moved: String = list()
        .lines()
        .map(|line| {
            let (address, rest) = line.split_once(' ').expect("an address");
            let address = u64::from_str_radix(address, 16).expect("an address");
            format!("{:016x} {rest}\n", address.wrapping_add(0x1240_0000))
        })
        .collect();
    let (names, _) = with_kallsyms("kernel-moved", &moved);
    assert_eq!(names, KERNEL_NAMES);
}

/// The kernel's list for users who may not read its addresses.
#[test]
fn a_list_of_zeros_is_refused() {
    let zeros: String = list()
        .lines()
        .map(|line| format!("0000000000000000 {}\n", line.split_once(' ').expect("a line").1))
        .collect();
    let (names, json) = with_kallsyms("kernel-zeros", &zeros);
    assert_eq!(names, ["[unknown]"]);
    let reported: Vec<_> =
        findings(&json).into_iter().filter(|(kind, _)| *kind == "kernel-names").collect();
    let [(_, message)] = reported.as_slice() else { panic!("{reported:?}") };
    let why = "the kernel hides the addresses: all 15 are zero (kernel.kptr_restrict)";
    assert!(
        message.starts_with("kernel functions have no names: ") && message.ends_with(why),
        "{message}"
    );
}

/// A list has no build-id, but the code of another kernel has another end.
#[test]
fn a_list_of_another_kernel_is_refused() {
    let other: String = list()
        .lines()
        .map(|line| match line.strip_suffix(" T _etext") {
            Some(address) => {
                let address = u64::from_str_radix(address, 16).expect("an address");
                format!("{:016x} T _etext\n", address + 0x5000)
            }
            None => format!("{line}\n"),
        })
        .collect();
    assert_ne!(other, list());
    let (names, json) = with_kallsyms("kernel-other-list", &other);
    assert_eq!(names, ["[unknown]"]);
    let reported: Vec<_> =
        findings(&json).into_iter().filter(|(kind, _)| *kind == "kernel-names").collect();
    let [(_, message)] = reported.as_slice() else { panic!("{reported:?}") };
    assert!(message.contains("belongs to another kernel: its code ends at 0x"), "{message}");
}
