//! Every case prints the stored outputs: one test for each case and format, which can be selected by name, as in
//! `cargo test -p unwind-perf --test it golden::spin_lld`.
//!
//! The ending of a file `expected.*` selects the printer; `expected.summary` is the summary on stderr.

use crate::support::cases::{Case, for_each_case, spelled};

/// Maximum number of lines in a report of differences.
const SHOWN: usize = 5;
/// Maximum number of characters of such a line.
const WIDTH: usize = 160;

/// Defines `golden::CASE::FORMAT` for each case and format.
macro_rules! golden_tests {
    ($($case:ident: [$($format:ident)*] { $($end:literal: $count:literal),* })*) => {
        $(mod $case {
            $(#[test]
            fn $format() {
                super::check(stringify!($case), stringify!($format));
            })*
        })*

        /// Cases of the table, with their formats.
        const TABLE: &[(&str, &[&str])] =
            &[$((stringify!($case), &[$(stringify!($format)),*])),*];
    };
}
for_each_case!(golden_tests);

#[test]
fn the_table_has_every_expected_output() {
    let table: Vec<(String, Vec<String>)> = TABLE
        .iter()
        .map(|&(case, formats)| (spelled(case), formats.iter().map(|it| spelled(it)).collect()))
        .collect();
    let folders: Vec<(String, Vec<String>)> =
        Case::all().into_iter().map(|case| (case.name.clone(), case.expected_formats())).collect();
    assert_eq!(table, folders, "the table is in cases.rs, in the order of names");
}

/// Checks that the case prints the stored output in that format.
#[track_caller]
fn check(case: &str, format: &str) {
    let (case, format) = (Case::named(&spelled(case)), spelled(format));
    let file = case.folder.join(format!("expected.{format}"));
    let expected = std::fs::read(&file).expect("an expected output");
    let found = printed(&case, &format);
    assert!(
        found == expected,
        "testdata/cases/{0}/expected.{format} differs\n{1}if this is right: cargo xtask bless {0}",
        case.name,
        differences(&expected, &found)
    );
}

fn printed(case: &Case, format: &str) -> Vec<u8> {
    if format == "summary" {
        let arguments = ["--format", "folded", "--output", "/dev/null"];
        return case.run(&arguments).expect_status(0).stderr.into_bytes();
    }
    let ran = case.run(&["--quiet", "--format", format]).expect_status(0);
    assert_eq!(ran.stderr, "", "{}: --quiet is silent", case.name);
    ran.stdout
}

/// Returns the first differing lines, each pair truncated to the part around the first difference.
fn differences(expected: &[u8], found: &[u8]) -> String {
    let (expected, found) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(found));
    let (expected, found): (Vec<&str>, Vec<&str>) =
        (expected.lines().collect(), found.lines().collect());
    let mut text = String::new();
    let mut shown = 0;
    for number in 0..expected.len().max(found.len()) {
        let pair = (expected.get(number), found.get(number));
        if pair.0 == pair.1 {
            continue;
        }
        shown += 1;
        if shown > SHOWN {
            continue;
        }
        let same = match pair {
            (Some(one), Some(other)) => {
                one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
            }
            _ => 0,
        };
        let cut = |line: &str| {
            line.chars().skip(same.saturating_sub(WIDTH / 4)).take(WIDTH).collect::<String>()
        };
        text += &format!("  line {}, column {}\n", number + 1, same + 1);
        for (sign, line) in [('-', pair.0), ('+', pair.1)] {
            if let Some(line) = line {
                text += &format!("  {sign} {}\n", cut(line));
            }
        }
    }
    if shown > SHOWN {
        text += &format!("  and {} more lines\n", shown - SHOWN);
    }
    text
}

#[test]
fn differences_point_at_the_first_character() {
    let expected = format!("same\n{}ab\ngone\n", "x".repeat(100));
    let found = format!("same\n{}ac\n", "x".repeat(100));
    let shown = format!(
        "  line 2, column 102\n  - {0}ab\n  + {0}ac\n  line 3, column 1\n  - gone\n",
        "x".repeat(39)
    );
    assert_eq!(differences(expected.as_bytes(), found.as_bytes()), shown);
}
