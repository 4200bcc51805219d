//! The summary for people.

use formats::{SummaryStyles, write_styled_summary, write_summary};
use profile::{ModuleLoss, Profile};

use crate::sample_profile::{empty, one_of_everything};

fn text(profile: &Profile) -> String {
    let mut out = Vec::new();
    write_summary(profile, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("UTF-8")
}

/// Styled parts, and nothing else, differ from the plain text.
#[test]
fn parts_that_want_to_be_seen_have_styles() {
    let styled = |styles: &SummaryStyles| {
        let mut out = Vec::new();
        write_styled_summary(&one_of_everything(), styles, &mut out).expect("a vector");
        String::from_utf8(out).expect("UTF-8")
    };
    let plain = text(&one_of_everything());
    assert_eq!(styled(&SummaryStyles::plain()), plain);
    // The headline, a loss, a finding, three hints.
    let expected: String = plain
        .lines()
        .map(|line| match line.split_once(": ") {
            _ if line.ends_with("they ended by") => format!("\x1b[1m{line}\x1b[0m\n"),
            _ if line.starts_with("the kernel ") => format!("\x1b[33m{line}\x1b[0m\n"),
            Some(("hint", rest)) => format!("\x1b[36mhint:\x1b[0m {rest}\n"),
            Some(("build-id-mismatch", rest)) => {
                format!("\x1b[33mbuild-id-mismatch:\x1b[0m {rest}\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    assert_eq!(styled(&SummaryStyles::colored()), expected);
    assert_eq!(expected.matches('\x1b').count(), 12);
}

#[test]
fn everything() {
    let expected = "\
5 samples with 9 frames; 1,200 left out by filters
the kernel lost 1 sample (<0.1 %)
  of cpu-clock: 1 sample
40.0 % of the stacks are complete; they ended by
   40.0 %  root                          2
   20.0 %  stack-exhausted               1
   20.0 %  not-mapped                    1
   20.0 %  no-user-regs                  1
modules at which stacks ended early:
   20.0 %  /tmp/x.bin: the file is missing
   20.0 %  [no module]: nothing is mapped there
build-id-mismatch: \"a\"\\nother (and 2 more)
hint: 20.0 % of the samples used up their copy of the stack (16384 bytes); record a larger one: \
perf record --call-graph dwarf,32768
hint: record with a lower frequency (-F) or a larger buffer (-m) to lose fewer samples
hint: stacks go on past a module where its file, or one with its debug information, is found
";
    let mut profile = one_of_everything();
    assert_eq!(text(&profile), expected.replace("(<0.1 %)", "(0.1 %)"));
    profile.summary.samples_filtered = 1_000_000;
    assert_eq!(text(&profile), expected.replace("1,200", "1,000,000"));
}

#[test]
fn a_clean_run_is_short() {
    let mut profile = one_of_everything();
    profile.samples.truncate(1);
    profile.summary = profile::Summary { samples: 1, frames: 2, ..profile::Summary::default() };
    let expected = "\
1 sample with 2 frames
100.0 % of the stacks are complete; they ended by
  100.0 %  root                          1
";
    assert_eq!(text(&profile), expected);
    assert_eq!(text(&empty()), "0 samples with 0 frames\n");
}

#[test]
fn the_largest_dump_gets_no_larger_one() {
    let mut profile = one_of_everything();
    profile.recording.command_line = vec![profile.strings.intern(b"--call-graph=dwarf,65528")];
    assert!(text(&profile).contains(
        "used up their copy of the stack (65528 bytes); perf can record no larger one\n"
    ));
    profile.recording.command_line.clear();
    assert!(
        text(&profile)
            .contains("(8192 bytes); record a larger one: perf record --call-graph dwarf,16384\n")
    );
}

#[test]
fn the_list_of_modules_is_cut() {
    let mut profile = one_of_everything();
    profile.summary.losses =
        vec![ModuleLoss { module: None, samples: 1, reason: "gone".into() }; 12];
    let text = text(&profile);
    assert_eq!(text.matches("  [no module]: gone\n").count(), 10);
    assert!(text.contains("\n   40.0 %  2 others\n"));
}
