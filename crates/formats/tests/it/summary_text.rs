//! The summary for people.

use address::{ModuleId, Timestamp};
use formats::{
    ShortSummary, SummaryStyles, write_short_summary, write_styled_summary, write_summary,
};
use options::ShortRemedy;
use profile::{
    Advice, ModuleLoss, NamelessModule, Profile, StackNeeds, ThreadId, ThreadState,
    ThreadWithoutSwitch,
};

use crate::support::sample_profile::{empty, one_of_everything};

fn text(profile: &Profile) -> String {
    let mut out = Vec::new();
    write_summary(profile, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("UTF-8")
}

fn short(profile: &Profile, width: Option<usize>, package: Option<&str>) -> String {
    let mut out = Vec::new();
    let packages = |paths: &[&[u8]]| vec![package.map(str::to_owned); paths.len()];
    let look = ShortSummary { styles: SummaryStyles::plain(), width, packages: &packages };
    write_short_summary(profile, &look, &mut out).expect("a vector takes everything");
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
    // The headline, a loss, a finding, two tips.
    let expected: String = plain
        .lines()
        .map(|line| match line.split_once(": ") {
            _ if line.ends_with(" Ends:") => {
                format!("\x1b[1m{}\x1b[0m Ends:\n", line.trim_end_matches(" Ends:"))
            }
            _ if line.starts_with("The kernel ") => format!("\x1b[33m{line}\x1b[0m\n"),
            Some(("Tip", rest)) => format!("\x1b[36mTip:\x1b[0m {rest}\n"),
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
5 samples, 9 frames; 1,200 filtered out.
The kernel lost 1 sample (<0.1 %).
  cpu-clock: 1 sample lost
2 of 5 stacks (40.0 %) are complete. Ends:
   40.0 %  root                          2
   20.0 %  stack-exhausted               1
   20.0 %  not-mapped                    1
   20.0 %  no-user-regs                  1
Evidence of frames: 25.0 % sampled, 25.0 % cfi, 25.0 % frame-pointer, 12.5 % callchain, 12.5 % prologue.
Modules at which stacks end early:
   20.0 %  /tmp/x.bin: the file is missing
           remedy: give \"x\"
   20.0 %  [no module]: nothing is mapped there
build-id-mismatch: \"a\"\\nother (and 2 more)
Tip: 20.0 % of the stacks exceed their copy; record with --stack-size 32768.
Tip: a lower frequency (-F) or a larger buffer (-m) of record loses fewer samples.
20.0 % of the stacks exceed their copy of 16,384 bytes; perf record --call-graph dwarf,32768 copies more.
";
    let mut profile = one_of_everything();
    assert_eq!(text(&profile), expected.replace("(<0.1 %)", "(0.1 %)"));
    profile.summary.samples_filtered = 1_000_000;
    assert_eq!(text(&profile), expected.replace("1,200", "1,000,000"));
}

#[test]
fn everything_in_a_few_lines() {
    let expected = "\
5 samples, 9 frames; 1,200 filtered out.
The kernel lost 1 sample (0.1 %).
2 of 5 stacks (40.0 %) are complete.
Incomplete: 20.0 % exceed the recorded stack, 20.0 % end at an unmapped address, 20.0 % have no user registers.
Inferred: 25.0 % of frames by frame pointer.
No module: nothing is mapped there (20.0 % of stacks end there).
x.bin: the file is missing (20.0 % of stacks end there).
build-id-mismatch: \"a\"\\nother (and 2 more)
Tip: 20.0 % of the stacks exceed their copy; record with --stack-size 32768.
Tip: a lower frequency (-F) or a larger buffer (-m) of record loses fewer samples.
";
    assert_eq!(short(&one_of_everything(), None, None), expected);
}

#[test]
fn a_clean_run_is_short() {
    let mut profile = one_of_everything();
    profile.samples.truncate(1);
    profile.summary = profile::Summary { samples: 1, frames: 2, ..profile::Summary::default() };
    assert_eq!(short(&profile, None, None), "1 sample, 2 frames.\nThe stack is complete.\n");
    let sample = *profile.samples.iter().next().expect("a sample");
    profile.samples.extend(std::iter::repeat_n(sample, 742));
    profile.summary.samples = 743;
    profile.summary.frames = 4210;
    let expected = "743 samples, 4,210 frames.\nAll 743 stacks are complete.\n";
    assert_eq!(short(&profile, None, None), expected);
    profile.summary.names_lost = true;
    assert!(short(&profile, None, None).ends_with("complete, but names or lines are missing.\n"));
    assert_eq!(short(&empty(), None, None), "0 samples, 0 frames.\n");
    assert_eq!(text(&empty()), "0 samples, 0 frames.\n");
}

/// A run of 1,000 frames; the modules 0, 2 and so on have no names.
fn nameless(frames: &[(u32, u64)]) -> Profile {
    let mut profile = one_of_everything();
    profile.samples.truncate(1);
    let short = ShortRemedy {
        fact: "has exported symbols only".into(),
        action: "add --debuginfod".into(),
        package: true,
        ..ShortRemedy::default()
    };
    let help = Advice { code: "give-debug-info".into(), text: "long".into(), short };
    let row = |&(module, frames)| NamelessModule {
        module: Some(ModuleId(module)),
        frames,
        help: Some(help.clone()),
    };
    profile.summary = profile::Summary {
        samples: 1,
        frames: 1000,
        nameless: frames.iter().map(row).collect(),
        ..profile::Summary::default()
    };
    profile
}

#[test]
fn a_module_has_one_line_with_its_remedy() {
    let lines = |profile: &Profile, package| {
        let text = short(profile, None, package);
        text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let x = "x.bin has exported symbols only (40.2 % of frames).";
    let profile = nameless(&[(2, 402)]);
    assert_eq!(
        lines(&profile, None),
        [format!("{x} Install its debug package, or add --debuginfod.")]
    );
    assert_eq!(
        lines(&profile, Some("install x-dbgsym")),
        [format!("{x} Install x-dbgsym, or add --debuginfod.")]
    );
    // A remedy is printed once; small modules have no line.
    let profile = nameless(&[(2, 402), (0, 9), (1, 1)]);
    assert_eq!(
        lines(&profile, Some("install x-dbgsym")),
        [
            format!("{x} Install x-dbgsym, or add --debuginfod."),
            "t\"x has exported symbols only (0.9 % of frames).".to_owned(),
            "… and 1 more module; see --verbose.".to_owned(),
        ]
    );
    // Fewer than one frame in a hundred.
    assert_eq!(lines(&nameless(&[(2, 9)]), None), [""; 0]);
}

#[test]
fn a_module_is_named_once_for_stacks_and_names() {
    let mut profile = nameless(&[(2, 402)]);
    let help = profile.summary.nameless[0].help.clone();
    let loss = |samples| ModuleLoss {
        module: Some(ModuleId(2)),
        end: profile::EndReason::NoModule,
        samples,
        reason: "file not found".into(),
        help: help.clone(),
    };
    profile.summary.losses = vec![loss(1)];
    profile.summary.findings = vec![profile::FindingRow {
        kind: "build-id-mismatch".into(),
        message: "/s/tmp/x.bin has another build-id".into(),
        count: 1,
        help: None,
    }];
    let text = short(&profile, Some(60), Some("install x-dbgsym"));
    let expected = "\
x.bin has exported symbols only (100.0 % of stacks end
  there, 40.2 % of frames). Install x-dbgsym, or add
  --debuginfod.
";
    assert!(text.ends_with(expected), "{text}");
    assert!(!text.contains("build-id-mismatch"), "{text}");
}

/// The tip for the size of the copy and its details, in a run of 1,000 samples with copies of `bytes` bytes.
fn dump_hint(recorded: u32, needs: StackNeeds) -> [String; 2] {
    let mut profile = one_of_everything();
    let sample = *profile.samples.iter().next().expect("five samples");
    profile.samples.truncate(0);
    profile.samples.extend(std::iter::repeat_n(sample, 1000));
    profile.summary =
        profile::Summary { samples: 1000, stack_needs: needs, ..profile::Summary::default() };
    profile.recording.stack_bytes = Some(recorded);
    let text = text(&profile);
    let tips: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("Tip: ")).collect();
    let details = text
        .lines()
        .filter(|line| line.contains("the user stacks need") || line.contains(" bytes; "));
    [tips.join("\n"), details.collect::<Vec<_>>().join("\n")]
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
    let exceed = "40.0 % of the stacks exceed their copy of 8,192 bytes; ";
    let more = "perf record --call-graph dwarf,16384 copies more.";
    assert_eq!(
        dump_hint(8192, needs),
        [
            "--stack-size 16384 completes about 96.8 % of the user stacks (now 90.0 %) in a recording 2.0 times as large."
                .to_owned(),
            format!("{exceed}{more}"),
        ]
    );
    let unknown = StackNeeds { joined: [0; 6], across_gap: [0; 6], ..needs };
    assert_eq!(
        dump_hint(8192, unknown),
        [
            "40.0 % of the stacks exceed their copy; record with --stack-size 16384.".to_owned(),
            format!("{exceed}{more}"),
        ]
    );
    let endless = StackNeeds { across_gap: [0, 0, 0, 0, 0, 100], ..unknown };
    let none = |details: String| [String::new(), details];
    assert_eq!(
        dump_hint(8192, endless),
        none(format!("{exceed}a larger copy would complete few of them."))
    );
    assert_eq!(
        dump_hint(65528, endless),
        none(format!("{}perf cannot copy more.", exceed.replace("8,192", "65,528")))
    );
    let joined = StackNeeds { joined: [0, 0, 200, 100, 50, 0], ..needs };
    assert_eq!(dump_hint(8192, joined), [""; 2]);
    let small = StackNeeds { whole: [960, 40, 0, 0, 0, 0], ..StackNeeds::default() };
    assert_eq!(
        dump_hint(16384, small),
        [
            "--stack-size 4096 is enough here and makes the recording 4 times smaller.",
            "96.0 % of the user stacks need at most 4,096 of the 16,384 bytes that were copied of each (perf record \
             --call-graph dwarf,4096).",
        ]
    );
    assert_eq!(
        dump_hint(8192, small)[0],
        "--stack-size 4096 is enough here and halves the recording."
    );
    assert_eq!(dump_hint(4096, small), [""; 2]);
}

#[test]
fn the_list_of_modules_is_cut() {
    let mut profile = one_of_everything();
    profile.summary.losses = vec![
        ModuleLoss {
            module: None,
            end: profile::EndReason::NoUnwindInfo,
            samples: 1,
            reason: "gone".into(),
            help: Some(Advice {
                code: "give-file".into(),
                text: "look".into(),
                ..Advice::default()
            })
        };
        12
    ];
    let text = text(&profile);
    assert_eq!(text.matches("  [no module]: gone\n").count(), 10);
    assert!(text.contains("\n   40.0 %  2 others\n"));
    // Those that cost most have a remedy.
    let with_help = "   20.0 %  [no module]: gone\n           remedy: look\n".repeat(3);
    assert!(text.contains(&with_help));
    assert_eq!(text.matches("remedy: ").count(), 3);
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
    let one = "1 thread had no context switch in the whole recording: asleep for 2.908 s at an unknown place.\n";
    assert_eq!(lines(&profile), one);
    profile.summary.threads_without_switch.push(row(1, ThreadState::Asleep, 2_907_500_000));
    assert_eq!(
        lines(&profile),
        one.replace("1 thread", "2 threads").replace(" s at", " s each at")
    );
    profile.summary.threads_without_switch.extend([
        row(2, ThreadState::Asleep, 1),
        row(3, ThreadState::Running, 9),
        row(4, ThreadState::Unknown, 9),
    ]);
    let expected = "3 threads had no context switch in the whole recording: asleep for up to 2.908 s each at an unknown place.\n\
        1 thread had no context switch in the whole recording: running.\n\
        1 thread had no context switch in the whole recording: asleep or running, since no event samples CPU time.\n";
    assert_eq!(lines(&profile), expected);
}
