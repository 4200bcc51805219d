//! Matching of functions, and their counts.

use profile::EndReason;
use profile::query::diff::{
    DiffInput, DiffLabel, DiffMethod, DiffNote, DiffOptions, Normalization, NotByTime, diff,
};

use super::recording::{Recording, recording};
use super::{diff_of, functions, marked, name_of};

/// Returns the samples of each function: own before and after, inclusive before and after.
fn samples(diff: &profile::query::diff::Diff) -> Vec<(String, [u64; 4])> {
    let rows = functions(diff).into_iter().map(|(name, own, inclusive)| {
        let counts = [own.before, own.after, inclusive.before, inclusive.after];
        (name, counts.map(|cost| cost.samples))
    });
    rows.filter(|(_, counts)| *counts != [0; 4]).collect()
}

fn expected(rows: &[(&str, [u64; 4])]) -> Vec<(String, [u64; 4])> {
    rows.iter().map(|&(name, counts)| (name.to_owned(), counts)).collect()
}

#[test]
fn own_and_inclusive_costs() {
    let before = recording(&[("main@/b/x work@/b/x work@/b/x", 6), ("main@/b/x", 2)]);
    let after = recording(&[("main@/c/x work@/c/x", 3), ("main@/c/x free@/lib/l", 5)]);
    let diff = diff_of(&before, &after, DiffOptions::default());
    let rows = [("free@l", [0, 5, 0, 5]), ("main@x", [2, 0, 8, 8]), ("work@x", [6, 3, 6, 3])];
    assert_eq!(samples(&diff), expected(&rows));
    assert_eq!(diff.normalization, Normalization::Time);
    assert_eq!(diff.not_by_time, None);
    assert_eq!(diff.method, DiffMethod::Rates);
    // 8 samples of a millisecond, a millisecond apart: 8 ms of one fully used CPU.
    assert_eq!(diff.before.runs[0].seconds, Some(0.008));
    assert_eq!(diff.total.before.value, 1e9);
    assert_eq!(diff.unit, Some("nanoseconds"));
}

#[test]
fn names_are_normalized_unless_they_are_to_be_exact() {
    let before = recording(&[("f::h0123456789abcdef@x", 5), ("g.isra.0@x", 5), ("h@x", 5)]);
    let after = recording(&[("f::h0000000000000000@x", 5), ("g.cold@x", 5), ("h@y", 5)]);
    let diff = diff_of(&before, &after, DiffOptions::default());
    let rows = [("f@x", [5; 4]), ("g@x", [5; 4]), ("h@x", [5, 0, 5, 0]), ("h@y", [0, 5, 0, 5])];
    assert_eq!(samples(&diff), expected(&rows));
    let options = DiffOptions { exact_names: true, ..DiffOptions::default() };
    let exact = diff_of(&before, &after, options);
    assert_eq!(samples(&exact).len(), 6);
}

#[test]
fn code_without_a_name_is_known_by_its_start_in_the_same_file_only() {
    let with_id = |id: &str| {
        let mut recording = Recording::new();
        recording.build_id("x", id);
        for (stack, count) in [("?0x40@x", 4), ("?0x80@x", 2), ("x+0x90@x", 1), ("?@x", 3)] {
            recording.stack(stack, count);
        }
        recording.profile
    };
    let same = diff_of(&with_id("aa"), &with_id("aa"), DiffOptions::default());
    let rows = [("0x40@x", [4; 4]), ("0x80@x", [2; 4]), ("0x90@x", [1; 4]), ("unknown@x", [3; 4])];
    assert_eq!(samples(&same), expected(&rows));
    assert!(same.notes.is_empty(), "{:?}", same.notes);
    let other = diff_of(&with_id("aa"), &with_id("bb"), DiffOptions::default());
    assert_eq!(samples(&other), expected(&[("unknown@x", [10; 4])]));
    let module = other.modules.ids().next().expect("a module");
    assert_eq!(other.notes, [DiffNote::FilesDiffer(vec![module])]);
}

#[test]
fn the_kernel_and_anonymous_memory_are_known_by_name() {
    let before =
        recording(&[("read@[kernel.kallsyms]", 5), ("jit@//anon", 5), ("", 1), ("[gap] f", 1)]);
    let after = recording(&[("read@[ext4]", 5), ("jit@//anon", 5), ("", 1), ("[gap] f", 1)]);
    let diff = diff_of(&before, &after, DiffOptions::default());
    let rows = [
        ("f@", [1; 4]),
        ("gap@", [0, 0, 1, 1]),
        ("jit@[anonymous]", [5; 4]),
        ("no frames@", [1; 4]),
        ("read@[kernel]", [5; 4]),
    ];
    assert_eq!(samples(&diff), expected(&rows));
}

#[test]
fn inlined_functions_count_where_both_sides_know_them() {
    let with = recording(&[("main:@x", 1), ("inner:<outer:@x", 5), ("leaf:<top:@y", 5)]);
    let without = recording(&[("main@x", 1), ("outer@x", 5), ("leaf:<top:@y", 5)]);
    let diff = diff_of(&with, &without, DiffOptions::default());
    let rows =
        [("leaf@y", [5; 4]), ("main@x", [1; 4]), ("outer@x", [5; 4]), ("top@y", [0, 0, 5, 5])];
    assert_eq!(samples(&diff), expected(&rows));
    let left_out: Vec<_> = diff.modules.entries().filter(|(_, row)| row.without_inlines).collect();
    assert_eq!(left_out.len(), 1);
    assert_eq!(diff.notes, [DiffNote::WithoutInlines(vec![left_out[0].0])]);
    let options = DiffOptions { inlines: false, ..DiffOptions::default() };
    let rows = [("main@x", [1; 4]), ("outer@x", [5; 4]), ("top@y", [5; 4])];
    assert_eq!(samples(&diff_of(&with, &without, options)), expected(&rows));
}

/// Returns the paths of the tree with the samples that end at each.
fn paths(diff: &profile::query::diff::Diff) -> Vec<(String, [u64; 2])> {
    let mut texts: Vec<String> = Vec::new();
    for node in &diff.tree {
        let label = match node.label {
            DiffLabel::Thread(name) => String::from_utf8_lossy(diff.text(name)).into_owned(),
            DiffLabel::Truncated => "[truncated]".to_owned(),
            DiffLabel::Function(function) => {
                let row = diff.functions.get(function).expect("a function");
                name_of(diff, row.name, row.module)
            }
        };
        texts.push(match node.parent {
            Some(parent) => format!("{};{label}", texts[parent.index()]),
            None => label,
        });
    }
    let nodes = diff.tree.iter().map(|node| [node.before.samples, node.after.samples]);
    texts.into_iter().zip(nodes).filter(|(_, counts)| *counts != [0; 2]).collect()
}

#[test]
fn the_union_has_the_stacks_of_both_sides() {
    let recording = |own: u64, tid: i32| {
        let mut recording = Recording::new();
        recording.thread(tid, &format!("worker-{tid}"));
        recording.stack("main f", own);
        recording.ended("f", 1, EndReason::StackExhausted);
        recording.ended("main f", 2, EndReason::RootAcrossGap);
        recording.profile
    };
    let diff = diff_of(&recording(3, 2), &recording(0, 5), DiffOptions::default());
    let rows = [("worker-N;main@;f@", [5, 2]), ("worker-N;[truncated];f@", [1, 1])];
    let rows: Vec<_> = rows.map(|(path, counts)| (path.to_owned(), counts)).to_vec();
    assert_eq!(paths(&diff), rows);
    // 1 of 6 samples and 1 of 3: 17 percentage points apart.
    assert!(diff.notes.contains(&DiffNote::TruncatedShares([1.0 / 6.0, 1.0 / 3.0])));
    assert_eq!(diff.before.complete_share(), 0.5);
}

/// The number of thread names is limited, since each multiplies the tree.
#[test]
fn threads_of_many_names_are_together() {
    let mut recording = Recording::new();
    for tid in 0..300 {
        recording.thread(tid, &format!("thread{tid}"));
        recording.stack("main f", 1);
    }
    let diff = diff_of(&recording.profile, &recording.profile, DiffOptions::default());
    let rows = paths(&diff);
    assert_eq!(rows.len(), 257);
    let others = rows.iter().find(|(path, _)| path.starts_with("[others]")).expect("others");
    assert_eq!(others, &("[others];main@;f@".to_owned(), [44, 44]));
    assert_eq!(rows.iter().map(|(_, counts)| counts[0]).sum::<u64>(), 300);
}

#[test]
fn costs_are_those_of_periods_and_of_the_first_event_of_both() {
    let recording = |events: &[(&str, u64, u64)]| {
        let mut recording = Recording::new();
        for &(name, period, count) in events {
            recording.event(name, 1000);
            recording.period = Some(period);
            recording.stack("f", count);
        }
        recording.profile
    };
    let before = recording(&[("faults", 1, 2), ("cycles", 10, 5)]);
    let after = recording(&[("cycles", 20, 7), ("instructions", 5, 1)]);
    let options = DiffOptions {
        normalization: Some(Normalization::Work { before: 2.0, after: 4.0 }),
        ..DiffOptions::default()
    };
    let diff = diff_of(&before, &after, options);
    assert_eq!((&*diff.event, diff.unit), ("cycles", Some("count")));
    assert_eq!([diff.total.before.cost, diff.total.after.cost], [50, 140]);
    assert_eq!([diff.total.before.value, diff.total.after.value], [25.0, 35.0]);
    assert_eq!(diff.total.ratio(), Some(1.4));
    assert_eq!(diff.notes, [DiffNote::OtherEvents([2, 1])]);
    let options =
        DiffOptions { normalization: Some(Normalization::Samples), ..DiffOptions::default() };
    let diff = diff_of(&before, &after, options);
    assert_eq!([diff.total.before.value, diff.total.after.value], [5.0, 7.0]);
    assert_eq!(diff.unit, None);
}

/// Shares are compared if costs per second would mislead.
#[test]
fn unlike_recordings_are_compared_by_share() {
    let plain = || Recording::new();
    let why = |mut other: Recording| {
        other.stack("f", 100);
        let mut first = plain();
        first.stack("f", 100);
        let diff = diff_of(&first.profile, &other.profile, DiffOptions::default());
        assert_eq!(diff.normalization == Normalization::Time, diff.not_by_time.is_none());
        diff.not_by_time
    };
    assert_eq!(why(plain()), None);
    let mut rate = plain();
    rate.event("cpu-clock", 99);
    assert_eq!(why(rate), Some(NotByTime::Rates([(true, 1000), (true, 99)])));
    let mut times = plain();
    times.step = 0;
    assert_eq!(why(times), Some(NotByTime::NoTimes));
    let mut threads = plain();
    threads.stack("f", 100);
    threads.thread(2, "program");
    assert_eq!(why(threads), Some(NotByTime::ThreadCounts([1.0, 2.0])));
    let mut name = plain();
    name.thread(1, "other");
    assert_eq!(why(name), Some(NotByTime::ThreadName(b"other".to_vec())));
    let reason = NotByTime::Rates([(true, 1000), (false, 99)]).to_string();
    assert_eq!(reason, "sampled at different rates, 1000 Hz and every 99");
}

/// Other load on a host reduces a program's CPU time per second. The load of programs observed while running, for
/// instance with -a, is their own.
#[test]
fn programs_that_the_recorder_started_are_compared_by_share_where_the_load_differs() {
    let recorded = |command_line: &str, step: u64| {
        let mut recording = Recording::new();
        recording.step = step;
        recording.stack("f", 100);
        let strings = &mut recording.profile.strings;
        let words = command_line.split(' ').map(|word| strings.intern(word.as_bytes())).collect();
        recording.profile.recording.command_line = words;
        recording.profile
    };
    let load = NotByTime::Load([0.25e9, 1e9]);
    for (command_line, expected) in [
        ("perf record -e x -- ./program -a", Some(load.clone())),
        ("perf record -g ./program", Some(load.clone())),
        ("perf record -a -- sleep 1", None),
        ("perf record -g --pid=7", None),
        ("perf record -p 7", None),
        ("", None),
    ] {
        let [before, after] = [4_000_000, 1_000_000].map(|step| recorded(command_line, step));
        let diff = diff_of(&before, &after, DiffOptions::default());
        assert_eq!(diff.not_by_time, expected, "{command_line}");
    }
    let text = "their cost per second is ×4.00 after, as on a machine with another load";
    assert_eq!(load.to_string(), text);
}

/// Three recordings before and after show the spread between recordings.
#[test]
fn several_recordings_tell_by_their_spread() {
    let run = |f: u64| recording(&[("main f", f), ("main g", 1000 - f)]);
    let profiles = [300, 310, 305, 400, 410, 405].map(run);
    let inputs = profiles.each_ref().map(|profile| DiffInput { name: "run", profile });
    let (before, after) = inputs.split_at(3);
    let options = DiffOptions::default();
    let change = diff(before, after, options).expect("a difference");
    assert_eq!(change.method, DiffMethod::Spread);
    assert_eq!(marked(&change), ["f@", "g@"]);
    assert_eq!(change.functions.iter().map(|row| row.own.before.samples).sum::<u64>(), 3000);
    // The same means, with runs as far apart as before and after.
    let profiles = [200, 300, 415, 300, 400, 515].map(run);
    let inputs = profiles.each_ref().map(|profile| DiffInput { name: "run", profile });
    let (before, after) = inputs.split_at(3);
    assert_eq!(marked(&diff(before, after, options).expect("a difference")), [""; 0]);
    let few = diff(&before[..2], &after[..2], options).expect("a difference");
    assert_eq!((few.method, marked(&few).len()), (DiffMethod::Unknown, 0));
    assert_eq!(few.notes, [DiffNote::FewRuns]);
    assert!(few.functions.iter().all(|row| row.own.interval.is_none() && row.own.p.is_none()));
}

#[test]
fn the_length_and_the_load_of_recordings_are_noticed() {
    let of = |count, step| {
        let mut recording = Recording::new();
        recording.step = step;
        recording.stack("f", count);
        recording.profile
    };
    let notes = |one, other| diff_of(&one, &other, DiffOptions::default()).notes;
    assert_eq!(notes(of(1000, 1_000_000), of(1005, 1_000_000)), []);
    let longer = notes(of(1000, 1_000_000), of(1100, 1_000_000));
    assert_eq!(longer, [DiffNote::OtherLength([1.0, 1.1])]);
    let less = notes(of(1000, 1_000_000), of(1000, 2_000_000));
    assert_eq!(less, [DiffNote::OtherLoad([1e9, 0.5e9])]);
}
