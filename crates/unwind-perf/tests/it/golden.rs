//! Every case prints what is stored beside it. The list of tests is the folder, and the ending of a file `expected.*`
//! picks the printer; `expected.summary` is the account on stderr.

use std::path::Path;

use crate::cases::Case;
use crate::run::listing;

/// Lines that a report of differences shows.
const SHOWN: usize = 5;
/// Characters of a line that it shows.
const WIDTH: usize = 160;

#[test]
fn every_case_prints_what_is_expected() {
    let mut wrong = Vec::new();
    for case in Case::all() {
        let mut outputs = 0;
        for file in listing(&case.folder) {
            let Some(format) = file.strip_prefix("expected.") else { continue };
            outputs += 1;
            let expected = std::fs::read(case.folder.join(&file)).expect("an expected output");
            let found = printed(&case, format);
            if found != expected {
                let path = Path::new("testdata/cases").join(&case.name).join(&file);
                let lines = differences(&expected, &found);
                wrong.push(format!(
                    "{}:\n{lines}if this is right: cargo xtask bless {}\n",
                    path.display(),
                    case.name
                ));
            }
        }
        assert!(outputs > 0, "{} has no expected output", case.name);
    }
    assert!(wrong.is_empty(), "{} outputs differ\n\n{}", wrong.len(), wrong.join("\n"));
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

/// The first lines that differ, each pair cut to the part around the first difference.
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
