//! Off-CPU times of a recording with switches. Its program naps 16 times for 4 ms and once for 20 ms, while a second
//! thread waits for a lock. By `perf script --show-switch-events` the threads are off for 120.28 and 187.78 ms: a
//! switch is recorded some 12 microseconds after its sample.

use crate::support::cases::Case;

/// Returns the waiting stacks without the kernel's frames, and their time in nanoseconds.
fn waits() -> Vec<(String, u64)> {
    let arguments = ["--weight", "off-cpu", "-q", "-f", "folded", "--no-inline"];
    let ran = Case::named("off-cpu").run(&arguments).expect_status(0);
    let wait = |line: &str| {
        let (stack, cost) = line.rsplit_once(' ').expect("a cost");
        let user: Vec<&str> = stack
            .split(';')
            .take_while(|name| !name.starts_with("entry_") && !name.starts_with("asm_"))
            .collect();
        (user.join(";"), cost.parse().expect("a number"))
    };
    ran.text().lines().map(wait).collect()
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
            22_637_698,
        ),
        (
            "off-cpu;_start;__libc_start_main;libc.so.6+0x271d0;main;serve;spin.constprop.0",
            4_006_151,
        ),
        (
            "off-cpu;libc.so.6+0x1098e1;libc.so.6+0x88ef0;helper;wait_for_lock;pthread_mutex_lock;libc.so.6+0x86100",
            187_783_267,
        ),
    ];
    let found = waits();
    let found: Vec<(&str, u64)> =
        found.iter().map(|(stack, cost)| (stack.as_str(), *cost)).collect();
    assert_eq!(found, expected);
}
