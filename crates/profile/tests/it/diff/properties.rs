//! Properties of all recordings: none differs from itself, before and after can be exchanged, and own costs add up.

use profile::query::diff::{Change, Diff, DiffOptions, Normalization};
use profile::{EndReason, Profile};
use proptest::prelude::*;

use super::recording::Recording;
use super::{diff_of, functions};

/// Stacks of a few functions, each with a period and a number of samples.
fn profiles() -> impl Strategy<Value = Profile> {
    let function = prop::sample::select(vec![
        "a@x", "b@x", "b.cold@x", "c:<d:@x", "d@y", "?0x40@y", "?@y", "[gap]", "k@[ext4]",
    ]);
    let stack = prop::collection::vec(function, 0..6);
    let end = prop::sample::select(vec![EndReason::Root, EndReason::NoModule]);
    let samples = (stack, end, 1_u64..2_000_000, 1_u64..40);
    let build = prop::sample::select(vec!["aa", "bb"]);
    (prop::collection::vec(samples, 1..12), build, 1_u64..3).prop_map(|(stacks, build, threads)| {
        let mut recording = Recording::new();
        recording.build_id("y", build);
        for (index, (stack, end, period, count)) in stacks.into_iter().enumerate() {
            recording.period = Some(period);
            if (index as u64) < threads {
                recording.thread(index as i32, "worker");
            }
            recording.ended(&stack.join(" "), count, end);
        }
        recording.profile
    })
}

fn normalizations() -> impl Strategy<Value = Option<Normalization>> {
    prop::sample::select(vec![
        None,
        Some(Normalization::Share),
        Some(Normalization::Samples),
        Some(Normalization::Work { before: 3.0, after: 7.0 }),
    ])
}

/// Returns the normalization after before and after are exchanged.
fn turned(normalization: Option<Normalization>) -> Option<Normalization> {
    match normalization {
        Some(Normalization::Work { before, after }) => {
            Some(Normalization::Work { before: after, after: before })
        }
        other => other,
    }
}

fn is_negative_of(one: &Change, other: &Change) -> bool {
    let interval = other.interval.map(|[low, high]| [-high, -low]);
    one.before == other.after
        && one.after == other.before
        && one.delta() == -other.delta()
        && one.interval == interval
        && one.p == other.p
        && one.marked == other.marked
}

/// Own costs of functions, and costs of the nodes of the tree, add up to the total before and after.
fn add_up(diff: &Diff) {
    let sides: [fn(&Change) -> profile::query::diff::DiffCost; 2] =
        [|change| change.before, |change| change.after];
    for (index, side) in sides.into_iter().enumerate() {
        let total = side(&diff.total);
        let own = diff.functions.iter().map(|row| side(&row.own));
        let ends = diff.tree.iter().map(|node| [node.before, node.after][index]);
        for costs in [own.collect::<Vec<_>>(), ends.collect()] {
            assert_eq!(costs.iter().map(|cost| cost.samples).sum::<u64>(), total.samples);
            assert_eq!(costs.iter().map(|cost| cost.cost).sum::<u64>(), total.cost);
            let value: f64 = costs.iter().map(|cost| cost.value).sum();
            assert!((value - total.value).abs() <= 1e-9 * total.value);
        }
        for row in &diff.functions {
            assert!(side(&row.own).samples <= side(&row.inclusive).samples);
            assert!(side(&row.inclusive).samples <= total.samples);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_differs_from_itself(profile in profiles(), normalization in normalizations()) {
        let normalization = match normalization {
            Some(Normalization::Work { .. }) => Some(Normalization::Work { before: 3.0, after: 3.0 }),
            other => other,
        };
        let options = DiffOptions { normalization, ..DiffOptions::default() };
        let diff = diff_of(&profile, &profile, options);
        prop_assert!(diff.ranked(false).is_empty());
        prop_assert!(diff.ranked(true).is_empty());
        for row in &diff.functions {
            for change in [row.own, row.inclusive] {
                prop_assert_eq!(change.delta(), 0.0);
                prop_assert_eq!(change.p, Some(1.0));
                prop_assert!(!change.marked);
            }
        }
        prop_assert!(diff.tree.iter().all(|node| node.before == node.after));
    }

    #[test]
    fn before_and_after_change_places(
        (one, other) in (profiles(), profiles()),
        normalization in normalizations(),
    ) {
        let options = |normalization| DiffOptions { normalization, ..DiffOptions::default() };
        let there = diff_of(&one, &other, options(normalization));
        let back = diff_of(&other, &one, options(turned(normalization)));
        prop_assert_eq!(there.normalization.as_str(), back.normalization.as_str());
        prop_assert!(is_negative_of(&there.total, &back.total));
        let (there, back) = (functions(&there), functions(&back));
        prop_assert_eq!(there.len(), back.len());
        for ((name, own, inclusive), turned) in there.iter().zip(&back) {
            prop_assert_eq!(name, &turned.0);
            prop_assert!(is_negative_of(own, &turned.1), "{name}: {own:?} {:?}", turned.1);
            prop_assert!(is_negative_of(inclusive, &turned.2), "{name}");
        }
    }

    #[test]
    fn own_costs_add_up(
        (one, other) in (profiles(), profiles()),
        normalization in normalizations(),
    ) {
        let options = DiffOptions { normalization, ..DiffOptions::default() };
        add_up(&diff_of(&one, &other, options));
    }
}
