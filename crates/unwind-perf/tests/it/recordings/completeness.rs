//! Exact completeness of the stacks of every case: both a lost chain and a newly complete one fail here. One test for
//! each case.

use std::collections::BTreeMap;

use crate::support::cases::{Case, for_each_case, spelled};

/// Defines `completeness::CASE` for each case.
macro_rules! completeness_tests {
    ($($case:ident: [$($format:ident)*] { $($end:literal: $count:literal),* })*) => {
        $(#[test]
        fn $case() {
            check(stringify!($case), &[$(($end, $count)),*]);
        })*
    };
}
for_each_case!(completeness_tests);

/// Checks the end reasons of the case's samples, and that each sample has frames.
#[track_caller]
fn check(case: &str, expected: &[(&str, u64)]) {
    let mut ends = BTreeMap::<String, u64>::new();
    let case = Case::named(&spelled(case));
    for sample in case.run(&["-q", "-f", "ndjson"]).expect_status(0).lines() {
        let end = sample["end"].as_str().expect("a reason");
        *ends.entry(end.to_owned()).or_default() += 1;
        let frames = sample["frames"].as_array().expect("frames");
        assert_ne!(frames.len(), 0, "the sampled instruction is always there");
    }
    let ends: Vec<(&str, u64)> = ends.iter().map(|(end, &count)| (end.as_str(), count)).collect();
    assert_eq!(ends, expected);
}
