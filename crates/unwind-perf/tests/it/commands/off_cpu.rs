//! Off-CPU times of a recording with switches. Its program naps 16 times for 4 ms and once for 20 ms, while a second
//! thread waits for a lock. By `perf script --show-switch-events` the threads are off for 120.28 and 187.78 ms: a
//! switch is recorded some 12 microseconds after its sample.

use crate::support::cases::Case;
use crate::support::run::run;

/// Returns the waiting stacks, and their time in nanoseconds.
fn waits(more: &[&str]) -> Vec<(String, u64)> {
    let arguments = [&["--weight", "off-cpu", "-q", "-f", "folded", "--no-inline"], more].concat();
    let ran = Case::named("off-cpu").run(&arguments).expect_status(0);
    let wait = |line: &str| {
        let (stack, cost) = line.rsplit_once(' ').expect("a cost");
        (stack.to_owned(), cost.parse().expect("a number"))
    };
    ran.text().lines().map(wait).collect()
}

/// Returns a table of the recording as CSV.
fn top(more: &[&str]) -> String {
    let mut arguments = vec!["top", "perf.data", "--sysroot", "../../sysroot"];
    arguments.extend(["--kallsyms", "kallsyms", "--weight", "off-cpu", "-q"]);
    arguments.extend(more);
    run(&Case::named("off-cpu").folder, &arguments).expect_status(0).text().to_owned()
}

#[test]
fn naps_and_locks_are_where_they_are() {
    let expected = [
        (
            "off-cpu;_start;__libc_start_main;libc.so.6+0x271d0;main;nap;__nanosleep;clock_nanosleep",
            20_091_177,
        ),
        (
            "off-cpu;_start;__libc_start_main;libc.so.6+0x271d0;main;pthread_join;libc.so.6+0x8abb0;libc.so.6+0x85f70;libc.so.6+0x85e50",
            87_006,
        ),
        (
            "off-cpu;_start;__libc_start_main;libc.so.6+0x271d0;main;serve;nap;__nanosleep;clock_nanosleep",
            73_777_203,
        ),
        (
            "off-cpu;_start;__libc_start_main;libc.so.6+0x271d0;main;serve;spin.constprop.0",
            26_643_849,
        ),
        (
            "off-cpu;libc.so.6+0x1098e1;libc.so.6+0x88ef0;helper;wait_for_lock;pthread_mutex_lock;libc.so.6+0x86100",
            187_783_267,
        ),
    ];
    let found = waits(&[]);
    let found: Vec<(&str, u64)> =
        found.iter().map(|(stack, cost)| (stack.as_str(), *cost)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_frames_of_the_kernel_can_be_shown() {
    let found = waits(&["--kernel-frames"]);
    assert_eq!(found.len(), 6);
    let preempted = found.iter().filter(|(stack, _)| stack.contains(";spin.constprop.0;asm_"));
    assert_eq!(preempted.map(|(_, cost)| cost).collect::<Vec<_>>(), [&22_637_698, &4_006_151]);
    assert!(found.iter().all(|(stack, _)| stack.ends_with(";schedule;__schedule")), "{found:?}");
}

#[test]
fn the_program_is_ranked_with_its_kinds_of_wait() {
    let text = top(&["-n", "5"]);
    let expected = "\
28 samples of off-cpu, 308.4 ms: 281.7 ms blocked, 26.6 ms preempted
    own   blocked  preempted  inclusive  wait       function          module
 60.9 %  187.8 ms                60.9 %  futex      wait_for_lock     off-cpu
 30.4 %   93.9 ms                30.4 %  sleep      nap               off-cpu
  8.6 %              26.6 ms      8.6 %  preempted  spin.constprop.0  off-cpu
 <0.1 %    0.1 ms                39.1 %  futex      main              off-cpu
  0.0 %                          60.9 %             helper            off-cpu
  0.0 %  6 more rows; --limit 0 shows all
";
    assert_eq!(text, expected);
    let csv = top(&["-f", "csv", "-n", "3"]);
    let program = "/tmp/unwind-perf-testdata/off-cpu/off-cpu";
    let expected = format!(
        "\
function,mark,module,own_samples,own,own_share,inclusive_samples,inclusive,inclusive_share,own_preempted,own_wait
wait_for_lock,,{program},1,187783267,0.608930,1,187783267,0.608930,0,futex
nap,,{program},17,93868380,0.304389,17,93868380,0.304389,0,sleep
spin.constprop.0,,{program},9,26643849,0.086399,9,26643849,0.086399,26643849,preempted
"
    );
    assert_eq!(csv, expected);
}

#[test]
fn waits_are_grouped_by_kind() {
    let expected = "\
wait,own_samples,own,own_share,inclusive_samples,inclusive,inclusive_share
futex,2,187870273,0.609212,2,187870273,0.609212
sleep,17,93868380,0.304389,17,93868380,0.304389
preempted,9,26643849,0.086399,9,26643849,0.086399
";
    assert_eq!(top(&["-f", "csv", "--by", "wait"]), expected);
}

#[test]
fn options_of_waits_need_the_weight() {
    let folder = Case::named("off-cpu").folder;
    for (option, message) in [
        (&["--by", "wait"][..], "--by wait groups times off the processor; add --weight off-cpu"),
        (
            &["--kernel-frames"],
            "--kernel-frames has an effect on times off the processor only; add --weight off-cpu",
        ),
    ] {
        let arguments = [&["top", "perf.data"], option].concat();
        let ran = run(&folder, &arguments).expect_status(2);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}
