//! The summary for people.

use address::Timestamp;
use formats::{SummaryStyles, write_styled_summary, write_summary};
use profile::{
    Advice, ModuleLoss, Profile, StackNeeds, ThreadId, ThreadState, ThreadWithoutSwitch,
};

use crate::support::sample_profile::{empty, one_of_everything};

fn text(profile: &Profile) -> String {
    let mut out = Vec::new();
    write_summary(profile, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("UTF-8")
}

/// Styles change only the highlighted parts.
#[test]
fn parts_that_want_to_be_seen_have_styles() {
    let styled = |styles: &SummaryStyles| {
        let mut out = Vec::new();
        write_styled_summary(&one_of_everything(), styles, &mut out).expect("a vector");
        String::from_utf8(out).expect("UTF-8")
    };
    let plain = text(&one_of_everything());
    assert_eq!(styled(&SummaryStyles::plain()), plain);
    // The headline, a loss, a finding, two hints.
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
    assert_eq!(expected.matches('\x1b').count(), 10);
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
           what helps: give \"x\"
   20.0 %  [no module]: nothing is mapped there
build-id-mismatch: \"a\"\\nother (and 2 more)
hint: 20.0 % of the samples used up their copy of the stack (16384 bytes); nothing shows \
how much they need; record a larger one: perf record --call-graph dwarf,32768
hint: record with a lower frequency (-F) or a larger buffer (-m) to lose fewer samples
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

/// Returns the hint on the stack size for a run of 1,000 samples with copies of `recorded` bytes.
fn dump_hint(recorded: u32, needs: StackNeeds) -> String {
    let mut profile = one_of_everything();
    let sample = *profile.samples.iter().next().expect("five samples");
    profile.samples.truncate(0);
    profile.samples.extend(std::iter::repeat_n(sample, 1000));
    profile.summary =
        profile::Summary { samples: 1000, stack_needs: needs, ..profile::Summary::default() };
    profile.recording.stack_bytes = Some(recorded);
    let text = text(&profile);
    let hints = text.lines().filter_map(|line| line.strip_prefix("hint: "));
    hints.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_size_of_the_copy_is_suggested_by_what_chains_need() {
    let whole = [400, 200, 0, 0, 0, 0];
    // With joins, 16 KiB are enough: 240 of 350 fit, and 3 of 4 of the others are joined.
    let needs = StackNeeds {
        whole,
        truncated: 400,
        joined: [0, 0, 200, 50, 50, 0],
        across_gap: [0, 0, 40, 10, 0, 0],
    };
    let used_up = "40.0 % of the samples used up their copy of the stack (8192 bytes); ";
    assert_eq!(
        dump_hint(8192, needs),
        format!(
            "{used_up}perf record --call-graph dwarf,16384 would bring about 96.8 % of the user stacks to their root \
             without a gap, now 90.0 %, in a recording about 2.0 times as large"
        )
    );
    let unknown = StackNeeds { joined: [0; 6], across_gap: [0; 6], ..needs };
    assert_eq!(
        dump_hint(8192, unknown),
        format!(
            "{used_up}nothing shows how much they need; record a larger one: perf record --call-graph dwarf,16384"
        )
    );
    let endless = StackNeeds { across_gap: [0, 0, 0, 0, 0, 100], ..unknown };
    assert_eq!(dump_hint(8192, endless), format!("{used_up}a larger one would win few of them"));
    assert_eq!(
        dump_hint(65528, endless),
        "40.0 % of the samples used up their copy of the stack (65528 bytes); perf can record no larger one"
    );
    let joined = StackNeeds { joined: [0, 0, 200, 100, 50, 0], ..needs };
    assert_eq!(dump_hint(8192, joined), "");
    let small = StackNeeds { whole: [960, 40, 0, 0, 0, 0], ..StackNeeds::default() };
    assert_eq!(
        dump_hint(16384, small),
        "96.0 % of the user stacks need no more than 4096 of the 16384 bytes that were copied of each; perf record \
         --call-graph dwarf,4096 would make a recording about 0.3 times as large"
    );
    assert_eq!(dump_hint(4096, small), "");
}

#[test]
fn the_list_of_modules_is_cut() {
    let mut profile = one_of_everything();
    profile.summary.losses = vec![
        ModuleLoss {
            module: None,
            samples: 1,
            reason: "gone".into(),
            help: Some(Advice { code: "give-file", text: "look".into() })
        };
        12
    ];
    let text = text(&profile);
    assert_eq!(text.matches("  [no module]: gone\n").count(), 10);
    assert!(text.contains("\n   40.0 %  2 others\n"));
    // Only the modules with the highest costs have remedies.
    let with_help = "   20.0 %  [no module]: gone\n           what helps: look\n".repeat(3);
    assert!(text.contains(&with_help));
    assert_eq!(text.matches("what helps").count(), 3);
}

#[test]
fn threads_without_a_switch() {
    let row = |thread, state, duration| ThreadWithoutSwitch {
        thread: ThreadId::new(thread),
        state,
        since: Timestamp(5),
        duration,
    };
    let mut profile = empty();
    let before = text(&profile);
    let lines = |profile: &Profile| text(profile).replace(&before, "");
    profile.summary.threads_without_switch = vec![row(0, ThreadState::Asleep, 2_907_500_000)];
    let one = "1 thread had no context switch in the whole recording: asleep for 2.908 s, where is not known\n";
    assert_eq!(lines(&profile), one);
    profile.summary.threads_without_switch.push(row(1, ThreadState::Asleep, 2_907_500_000));
    assert_eq!(lines(&profile), one.replace("1 thread", "2 threads").replace(" s,", " s each,"));
    profile.summary.threads_without_switch.extend([
        row(2, ThreadState::Asleep, 1),
        row(3, ThreadState::Running, 9),
        row(4, ThreadState::Unknown, 9),
    ]);
    let expected = "3 threads had no context switch in the whole recording: asleep for up to 2.908 s each, where is not known\n\
        1 thread had no context switch in the whole recording: running\n\
        1 thread had no context switch in the whole recording: asleep or running, for no event samples the time that threads run\n";
    assert_eq!(lines(&profile), expected);
}
