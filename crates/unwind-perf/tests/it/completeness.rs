//! How complete the stacks of every case are, exactly: a chain that gets lost, and one that is found after all, both
//! show here.

use std::collections::BTreeMap;

use crate::cases::Case;

/// Case, and how many of its samples ended how.
const CASES: &[(&str, &[(&str, u64)])] = &[
    ("aarch64-chain", &[("root", 30)]),
    ("aarch64-signed", &[("root", 33)]),
    ("anon", &[("anonymous-memory", 15), ("root", 15)]),
    ("copied", &[("anonymous-memory", 31), ("root", 13)]),
    ("deep", &[("root", 5), ("stack-exhausted", 32)]),
    ("dlopen", &[("root", 23)]),
    ("exceptions", &[("not-mapped", 1), ("root", 39)]),
    ("fork", &[("root", 48)]),
    ("inlines-clang-lld", &[("root", 38)]),
    ("inlines-gcc", &[("root", 35)]),
    ("jit", &[("root", 21)]),
    ("leaf-nofp", &[("root", 35)]),
    ("noeh-debug-frame", &[("root", 31)]),
    ("noeh-fp", &[("root", 30)]),
    ("noeh-nofp", &[("no-unwind-info", 30)]),
    ("norm", &[("root", 33)]),
    ("plt", &[("root", 19)]),
    ("plt-sec", &[("root", 21)]),
    ("realign-clang", &[("root", 49)]),
    ("realign-gcc", &[("root", 53)]),
    ("recursion-rs", &[("root", 41)]),
    ("signal", &[("root", 44)]),
    ("spin-bfd", &[("root", 32)]),
    ("spin-gold", &[("root", 32)]),
    ("spin-lld", &[("root", 31)]),
    ("spin-lld-build-id", &[("root", 51)]),
    ("spin-lld-nopie", &[("root", 33)]),
    ("spin-mold", &[("root", 30)]),
    ("spin-nopie", &[("root", 30)]),
    ("spin-static", &[("root", 31)]),
    ("spin-static-pie", &[("root", 29)]),
    ("spin-stripped", &[("root", 32)]),
    ("syscalls", &[("root", 48)]),
    ("tailcall", &[("root", 31)]),
    ("two-events", &[("root", 52)]),
];

#[test]
fn chains_end_as_they_should() {
    let names: Vec<String> = Case::all().into_iter().map(|case| case.name).collect();
    let listed: Vec<&str> = CASES.iter().map(|&(name, _)| name).collect();
    assert_eq!(names, listed, "the table has every case, in order");
    for &(name, expected) in CASES {
        let mut ends = BTreeMap::<String, u64>::new();
        for sample in Case::named(name).run(&["-q", "-f", "ndjson"]).expect_status(0).lines() {
            let end = sample["end"].as_str().expect("a reason");
            *ends.entry(end.to_owned()).or_default() += 1;
            let frames = sample["frames"].as_array().expect("frames");
            assert_ne!(frames.len(), 0, "{name}: the sampled instruction is always there");
        }
        let ends: Vec<(&str, u64)> =
            ends.iter().map(|(end, &count)| (end.as_str(), count)).collect();
        assert_eq!(ends, expected, "{name}");
    }
}
