//! Tests of names that no compiler made: they are rejected or demangled quickly, without a panic and with limited
//! output.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use demangle::cxx::{DemangleOptions, Demangler, NameParts, Spelling};

const NAMES: &str = include_str!("names.txt");
/// Longest output: the limit, plus the last piece, which may exceed it.
const MAX_OUTPUT: usize = 1 << 16;

fn is_demangled(name: &str) -> bool {
    Demangler::default().demangle(name.as_bytes(), DemangleOptions::default()).is_some()
}

#[test]
fn nesting_is_limited() {
    for (before, level, after) in [
        ("_Z1f", "P", "i"),
        ("_Z1f", "1AI", "E"),
        ("_Z1f", "DpFi", "E"),
        ("_Z", "N1AIXadL_Z", "1x"),
        ("_Z1fIX", "ng", "Li1EEEvv"),
        ("_Z1fIX", "cl", "1aEEvv"),
        ("_Z1fI", "J", "EEvv"),
        ("_Z", "Z", "1fvE1x"),
        ("_Z1f", "UlS", "_E"),
        ("_Z1f", "U1q", "i"),
        ("_ZN1AC", "I1N1AC", "1E"),
        ("_Z1fI", "Tp", "yE"),
        ("_Z1fIXtl1A", "di1x", "Li1EEEEvv"),
        ("_Z1f", "M1A", "i"),
        ("_Z", "Th0_", "1fv"),
        ("_Z1f", "DO", "nxLi1E"),
    ] {
        for levels in [10_000, 50_000_usize] {
            let levels = levels / level.len();
            let name = format!("{before}{}{after}", level.repeat(levels));
            assert!(!is_demangled(&name), "{before}{level}...{after}");
        }
    }
    let nested = |levels: usize| format!("_Z1f{}i", "P".repeat(levels));
    assert!(is_demangled(&nested(500)));
    assert!(!is_demangled(&nested(520)));
}

/// Types that refer to each other, without nesting in the mangled name.
#[test]
fn depth_by_substitution_is_limited() {
    let mut name = "_Z1f1a".to_owned();
    for index in 0..2_000_usize {
        name.push_str(&format!(
            "PS{}_",
            if index == 0 { String::new() } else { base36(index - 1) }
        ));
    }
    assert!(!is_demangled(&name));
}

/// Each parameter contains the previous one twice: 2^60 characters.
#[test]
fn doubling_is_limited() {
    // The last number is the number of substitutions that each step adds.
    for (first, doubled, added) in
        [("1bIiE", "1aI{}{}E", 2), ("1bIJEE", "1aIJ{}{}EE", 2), ("Fi1bE", "Fv{}{}E", 1)]
    {
        let mut name = format!("_Z1f{first}");
        for index in 0..60 {
            let last = format!("S{}_", base36(index * added));
            name.push_str(&doubled.replace("{}", &last));
        }
        assert!(!is_demangled(&name), "{doubled}");
    }
    let mut name = "_Z1fIJEEvDpT_".to_owned();
    for index in 0..60 {
        let last = format!("S{}_", base36(2 * index + 1));
        name.push_str(&format!("DpFv{last}{last}E"));
    }
    assert!(!is_demangled(&name));
}

fn base36(number: usize) -> String {
    let digit = |value: usize| char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[value]);
    let (high, low) = (number / 36, number % 36);
    if high == 0 { digit(low).to_string() } else { format!("{}{}", base36(high), digit(low)) }
}

#[test]
fn numbers_that_are_too_large() {
    for name in [
        "_Z99999999999999999999999999f",
        "_Z4294967297fv",
        "_Z1fS99999999999999999999999_",
        "_Z1fIiEvT99999999999999999999_",
        "_Z1fIiEvTL99999999999999999999__",
        "_ZN1fUl18446744073709551616vE18446744073709551615_E",
    ] {
        let _ = is_demangled(name);
        assert!(!is_demangled(name) || name.contains("Ul"), "{name}");
    }
}

#[test]
fn long_names_are_left_alone() {
    let name = |length: usize| format!("_Z{length}{}", "a".repeat(length));
    assert!(is_demangled(&name(60_000)));
    assert!(!is_demangled(&name(70_000)));
}

/// A name that refers to itself by an argument that comes after it.
#[test]
fn circles_end() {
    for name in
        ["_Zcv1BIRT_EIS1_E", "_ZN1AcvT_IS0_EEv", "_ZcvPT_IS0_E", "_ZcvOT_IOS0_E", "_ZcvDpT_IJS0_EE"]
    {
        let _ = is_demangled(name);
    }
}

/// Reproducible pseudo-random numbers.
///
/// Source: Vigna, `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((value ^ (value >> 31)) % limit as u64).unwrap()
    }
}

#[test]
fn damaged_names_are_read_or_left() {
    let letters = b"_0123456789ABCDEFGIJKLMNOPQRSTUVWXZabcdefhijlmnopqrstuvwxyz.$";
    let names: Vec<&str> = NAMES.lines().filter(|line| line.starts_with('_')).collect();
    let options = [
        DemangleOptions::default(),
        DemangleOptions { spelling: Spelling::Gnu, parts: NameParts::All },
        DemangleOptions { spelling: Spelling::Gnu, parts: NameParts::Name },
    ];
    let mut random = Random(19);
    let mut demangler = Demangler::default();
    let mut read = 0;
    for round in 0..60_000 {
        let mut name = names[random.below(names.len())].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(name.len());
            let other = names[random.below(names.len())].as_bytes();
            match random.below(5) {
                0 => name[at] = letters[random.below(letters.len())],
                1 => drop(name.remove(at)),
                2 => name.insert(at, letters[random.below(letters.len())]),
                3 => {
                    let from = random.below(other.len());
                    let to = from + random.below(other.len() - from);
                    drop(name.splice(at..at, other[from..to].iter().copied()));
                }
                _ => name.truncate(at.max(3)),
            }
        }
        let option = options[round % options.len()];
        if let Some(readable) = demangler.demangle(&name, option) {
            assert!(readable.len() <= 2 * MAX_OUTPUT);
            read += 1;
            // Earlier names make no difference.
            let again = Demangler::default().demangle(&name, option).map(<[u8]>::to_vec);
            assert_eq!(demangler.demangle(&name, option).map(<[u8]>::to_vec), again);
        }
    }
    assert!(read > 5_000, "{read}");
}
