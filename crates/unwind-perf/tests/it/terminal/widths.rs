//! Tables fit the terminal.

use crate::support::cases::{Case, sysroot};
use crate::support::pty::on_terminal;

/// Returns the text of a command for a case on a terminal of that many columns.
fn text(case: &str, arguments: &[&str], columns: u16) -> String {
    let sysroot = sysroot();
    let files = ["--sysroot", sysroot.to_str().expect("UTF-8"), "-q", "--color", "never"];
    let ran = on_terminal(&Case::named(case).folder, &[arguments, &files].concat(), columns, false);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.text
}

#[test]
fn tables_fit_the_terminal() {
    let commands: [&[&str]; 9] = [
        &["perf.data"],
        &["top", "perf.data"],
        &["top", "--by", "line", "perf.data"],
        &["top", "--by", "thread", "perf.data"],
        &["top", "--weight", "period", "perf.data"],
        &["tree", "perf.data"],
        &["tree", "--bottom-up", "perf.data"],
        &["annotate", "_Unwind_Resume", "perf.data"],
        &["diff", "perf.data", "../spin-lld/perf.data"],
    ];
    for columns in [60, 80, 120, 160] {
        for arguments in commands {
            let text = text("exceptions", arguments, columns);
            assert!(text.lines().count() > 2, "{text}");
            let fits = |line: &str| line.chars().count() <= usize::from(columns);
            assert!(text.lines().all(fits), "{arguments:?} at {columns} columns:\n{text}");
        }
    }
}

/// The heading is wider than every module.
#[test]
fn headings_count_for_the_width() {
    let text = text("anon", &["top", "-n", "1", "perf.data"], 80);
    let heading = text.lines().nth(1).expect("a heading");
    assert_eq!(heading, "    own  samples  inclusive  samples  function  module");
}

/// Names in a file are neither cut nor without their parameters if the user asks for them.
#[test]
fn names_are_short_unless_a_spelling_is_chosen() {
    let name = |arguments: &[&str]| {
        let text = text("recursion-rs", arguments, 160);
        text.lines().nth(2).expect("a row").to_owned()
    };
    let full = name(&["top", "--demangle", "full", "perf.data"]);
    let short = name(&["top", "perf.data"]);
    assert_eq!(name(&["top", "--demangle", "short", "perf.data"]), short);
    assert!(full.len() >= short.len(), "{full}\n{short}");
}

#[test]
fn options_before_a_command_are_its_own() {
    let folder = Case::named("plt").folder;
    let sysroot = sysroot();
    let sysroot = ["--sysroot", sysroot.to_str().expect("UTF-8")];
    let run = |arguments: &[&str]| crate::support::run::run(&folder, arguments);
    let before = run(&[&["-q", "-j", "1"], &sysroot[..], &["top", "perf.data"]].concat());
    let after = run(&[&["top", "perf.data", "-q", "-j", "1"], &sysroot[..]].concat());
    assert_eq!(before.expect_status(0).text(), after.expect_status(0).text());
    let refused = run(&["-v", "info", "perf.data"]).expect_status(2).stderr;
    assert!(refused.starts_with("error: unexpected argument '-v' found"), "{refused}");
    let twice = run(&["-j", "1", "top", "-j", "2", "perf.data"]).expect_status(2).stderr;
    let expected = "error: the argument '--jobs <N>' cannot be used multiple times";
    assert!(twice.starts_with(expected), "{twice}");
    let kept = run(&["perf.data", "-q", "-f", "folded", sysroot[0], sysroot[1]]).expect_status(0);
    assert!(kept.text().starts_with("plt;"), "{}", kept.text());
}
