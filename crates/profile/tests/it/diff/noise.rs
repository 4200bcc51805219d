//! Chance alone is not marked as a change, and a real change is.

use profile::Profile;
use profile::query::diff::DiffOptions;

use super::recording::recording;
use super::{diff_of, marked};

/// Pseudo-random numbers that are equal in each run of the test.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014 (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(word ^ word >> 31) * u128::from(limit)) >> 64) as u64
    }
}

/// Returns samples of seven functions with 1/8 of the time each, and of 60 rare ones; `more` thousandths of all samples
/// are of the second function instead.
fn sampled(random: &mut Random, samples: u64, more: u64) -> Profile {
    let mut counts = [0_u64; 67];
    for _ in 0..samples {
        let function = match random.below(8) {
            _ if random.below(1000) < more => 1,
            7 => 7 + random.below(60) as usize,
            function => function as usize,
        };
        counts[function] += 1;
    }
    let names: Vec<String> = (0..67).map(|index| format!("main f{index}")).collect();
    let stacks: Vec<(&str, u64)> = names.iter().map(String::as_str).zip(counts).collect();
    recording(&stacks)
}

/// Of 200 pairs of recordings of one program, at most about one in twenty has a mark.
#[test]
fn unchanged_programs_show_no_change() {
    let mut random = Random(7);
    let (mut pairs_with_marks, mut far_apart) = (0, 0);
    for _ in 0..200 {
        let [before, after] = [(); 2].map(|()| sampled(&mut random, 2000, 0));
        let diff = diff_of(&before, &after, DiffOptions::default());
        pairs_with_marks += usize::from(!marked(&diff).is_empty());
        far_apart +=
            diff.functions.iter().filter(|row| row.own.p.is_some_and(|p| p < 0.05)).count();
    }
    assert!(pairs_with_marks <= 10, "{pairs_with_marks} of 200 pairs");
    assert!(far_apart > 300, "without a correction there are {far_apart} changes");
}

/// A change of 3 % of the time in one function of 20,000 samples is found in every pair, and ranked first.
#[test]
fn a_change_is_found_and_comes_first() {
    let mut random = Random(11);
    for _ in 0..20 {
        let before = sampled(&mut random, 20_000, 0);
        let after = sampled(&mut random, 20_000, 30);
        let diff = diff_of(&before, &after, DiffOptions::default());
        assert_eq!(marked(&diff).first().map(String::as_str), Some("f1@"));
    }
}
