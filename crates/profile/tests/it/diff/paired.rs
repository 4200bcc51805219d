//! Pairing of modules with different names, and functions that are not compared.

use profile::query::diff::{
    Diff, DiffError, DiffInput, DiffNote, DiffOptions, DiffPair, NotCompared, PairedBy, diff,
};

use super::recording::{Recording, recording};
use super::{diff_of, marked, name_of};

/// Returns the functions that are not compared, by name, with reasons.
fn not_compared(diff: &Diff) -> Vec<(String, NotCompared)> {
    let rows = diff.functions_not_compared(true);
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|(_, row)| (name_of(diff, row.name, row.module), row.not_compared.expect("a reason")))
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    rows
}

fn paired_by(diff: &Diff) -> Vec<Option<PairedBy>> {
    diff.modules.iter().map(|row| row.paired).collect()
}

#[test]
fn modules_of_other_names_are_compared() {
    for (one, other, by) in [
        ("/t/bench-5f3a91c2d4e6b708", "/t/bench-9b07c1d2e3f4a586", PairedBy::Stem),
        ("/t/libx.so.1.0.0", "/t/libx.so.1.0.1", PairedBy::Soname),
        ("/t/app.old", "/t/app", PairedBy::Stem),
        ("/t/one", "/t/two", PairedBy::Functions),
        ("/tmp/jit-12.dump", "/tmp/jit-7.dump", PairedBy::Name),
        ("/tmp/jitted-12-3.so", "/tmp/jit/jitted-7-9.so", PairedBy::Name),
    ] {
        let of = |module: &str, hash, parse| {
            recording(&[
                (&format!("main@{module} hash@{module}"), hash),
                (&format!("main@{module} parse@{module}"), parse),
            ])
        };
        let diff = diff_of(&of(one, 500, 500), &of(other, 510, 490), DiffOptions::default());
        assert_eq!(paired_by(&diff), [Some(by)], "{one}");
        assert_eq!((marked(&diff), not_compared(&diff).len()), (vec![], 0), "{one}");
        assert_eq!(diff.tested, [2, 3]);
        let is_noted = diff.notes.iter().any(|note| matches!(note, DiffNote::Paired(_)));
        assert_eq!(is_noted, by != PairedBy::Name, "{one}");
        // A deliberate change is marked.
        let diff = diff_of(&of(one, 500, 500), &of(other, 900, 100), DiffOptions::default());
        assert_eq!(marked(&diff).len(), 2, "{one}");
    }
}

#[test]
fn functions_of_modules_without_a_partner_are_never_marked() {
    let before = recording(&[("main@x f@x", 500), ("main@x g@y", 500)]);
    let after = recording(&[("main@x f@x", 500), ("main@x h@z", 500)]);
    let diff = diff_of(&before, &after, DiffOptions::default());
    let expected = [("g@y", NotCompared::NoPartner), ("h@z", NotCompared::NoPartner)];
    assert_eq!(not_compared(&diff), expected.map(|(name, why)| (name.to_owned(), why)));
    assert_eq!(marked(&diff), [""; 0]);
    assert_eq!(diff.not_compared_shares(), [0.5, 0.5]);
    assert_eq!(diff.tested, [1, 2]);
    let row = diff.functions_not_compared(false)[0].1;
    assert_eq!((row.own.p, row.own.interval, row.own.before.samples), (None, None, 500));
}

/// A module mapped before without samples is a partner.
#[test]
fn new_functions_of_mapped_modules_are_compared_with_nothing() {
    let mut before = Recording::new();
    before.stack("main@x f@x", 1000);
    before.module("/lib/libm.so.6");
    let after = recording(&[
        ("main@x f@x", 800),
        ("main@x pow@/usr/lib/libm.so.6", 100),
        ("main@x new@x", 100),
    ]);
    let diff = diff_of(&before.profile, &after, DiffOptions::default());
    assert_eq!(not_compared(&diff), []);
    assert_eq!(marked(&diff), ["f@x", "new@x", "pow@libm.so.6"]);
}

#[test]
fn what_has_no_name_on_one_side_is_not_compared() {
    let before = recording(&[("main@x api@x hash@x", 600), ("main@x parse@x", 400)]);
    // No code has a name, or only exported functions have one.
    let stripped = recording(&[("?@x ?@x ?@x", 600), ("?@x ?@x", 400)]);
    let exported = recording(&[("?@x api@x ?@x", 600), ("?@x ?@x", 400)]);
    let names = |names: &[&str]| {
        names.iter().map(|name| ((*name).to_owned(), NotCompared::NoName)).collect::<Vec<_>>()
    };
    for (one, other) in [(&before, &stripped), (&stripped, &before)] {
        let diff = diff_of(one, other, DiffOptions::default());
        assert_eq!(
            not_compared(&diff),
            names(&["api@x", "hash@x", "main@x", "parse@x", "unknown@x"])
        );
        assert_eq!((marked(&diff), diff.not_compared_shares()), (vec![], [1.0, 1.0]));
    }
    let diff = diff_of(&before, &exported, DiffOptions::default());
    assert_eq!(not_compared(&diff), names(&["hash@x", "main@x", "parse@x", "unknown@x"]));
    assert_eq!(diff.tested, [0, 1]);
}

/// Code without a name both before and after is compared, and so is a new function in the same module.
#[test]
fn unnamed_code_of_both_sides_is_compared() {
    let before = recording(&[("main@x f@x", 700), ("main@x ?@x", 300)]);
    let after = recording(&[("main@x f@x", 600), ("main@x ?@x", 300), ("main@x new@x", 100)]);
    let diff = diff_of(&before, &after, DiffOptions::default());
    assert_eq!(not_compared(&diff), []);
    assert_eq!(marked(&diff), ["f@x", "new@x"]);
    let slower = recording(&[("main@x f@x", 500), ("main@x ?@x", 500)]);
    let diff = diff_of(&before, &slower, DiffOptions::default());
    assert_eq!(marked(&diff), ["unknown@x", "f@x"]);
}

/// With the same build, names of one recording apply to the other.
#[test]
fn names_of_the_same_build_serve_both_sides() {
    let with_id = |stacks: &[(&str, u64)]| {
        let mut recording = Recording::new();
        recording.build_id("x", "aa");
        stacks.iter().for_each(|&(stack, count)| recording.stack(stack, count));
        recording.profile
    };
    let mut named = with_id(&[("f@x", 50), ("g@x", 50)]);
    // The functions start at 0x40 and 0x80.
    for (location, start) in named.locations.as_mut_slice().iter_mut().zip([0x40, 0x80]) {
        (location.relative, location.function_offset) = (start + 8, Some(8));
    }
    let diff =
        diff_of(&named, &with_id(&[("?0x40@x", 50), ("?0x80@x", 50)]), DiffOptions::default());
    assert_eq!((not_compared(&diff), diff.tested), (vec![], [2, 2]));
    assert!(diff.ranked(false).is_empty());
}

#[test]
fn pairs_that_users_name_come_first() {
    let before = recording(&[("f@/a/x", 500), ("f@/a/y", 500)]);
    let after = recording(&[("f@/b/x", 500), ("f@/b/z", 500)]);
    let pair =
        |before: &str, after: &str| DiffPair { before: before.to_owned(), after: after.to_owned() };
    let compared = |pairs: &[DiffPair]| -> Result<Diff, DiffError> {
        let options = DiffOptions { pairs, ..DiffOptions::default() };
        diff(
            &[DiffInput { name: "a", profile: &before }],
            &[DiffInput { name: "b", profile: &after }],
            options,
        )
    };
    for pairs in [[pair("y", "z")], [pair("/a/y", "/b/z")]] {
        let diff = compared(&pairs).expect("a difference");
        assert_eq!(paired_by(&diff), [Some(PairedBy::Name), Some(PairedBy::Option)]);
        assert_eq!(not_compared(&diff), []);
    }
    // The user's pair takes precedence over a partner of the same name.
    let diff = compared(&[pair("x", "z")]).expect("a difference");
    assert_eq!(paired_by(&diff), [Some(PairedBy::Option), None, None]);
    let error = compared(&[pair("y", "q")]).expect_err("there is no q").to_string();
    assert_eq!(error, "no module after is called q; modules with samples are x, z");
    assert_eq!("a=b".parse(), Ok(pair("a", "b")));
    for wrong in ["a", "=b", "a=", ""] {
        assert!(wrong.parse::<DiffPair>().is_err(), "{wrong}");
    }
}

/// A thread is named after its program.
#[test]
fn threads_of_renamed_programs_are_the_same() {
    let of = |name: &str| {
        let mut recording = Recording::new();
        recording.thread(1, &name[..15]);
        recording.stack(&format!("main@/t/{name} f@/t/{name}"), 100);
        recording.profile
    };
    let diff = diff_of(
        &of("bench-5f3a91c2d4e6b708"),
        &of("bench-9b07c1d2e3f4a586"),
        DiffOptions::default(),
    );
    assert_eq!(diff.not_by_time, None);
    let threads = diff.tree.iter().filter(|node| node.parent.is_none()).count();
    assert_eq!((threads, diff.tree.len()), (1, 3));
}

#[test]
fn lambdas_and_scripts_are_told_apart_by_their_places() {
    let of = |lines: [u32; 2], folder: &str, tiers: &str| {
        let mut recording = Recording::new();
        for (line, count) in lines.into_iter().zip([500, 300]) {
            recording.one(&format!("f::(lambda at line {line})"), "x", count);
        }
        for tier in tiers.chars() {
            recording.one(&format!("JS:{tier}run /{folder}/a.js:3:4"), "//anon", 100);
        }
        recording.profile
    };
    let diff = diff_of(&of([9, 20], "v1", "~*"), &of([29, 44], "v2", "^+"), DiffOptions::default());
    assert!(diff.ranked(false).is_empty());
    let names: Vec<String> =
        diff.functions.iter().map(|row| name_of(&diff, row.name, row.module)).collect();
    assert_eq!(
        names,
        ["no frames@", "f::(lambda#1)@x", "f::(lambda#2)@x", "JS:run a.js@[anonymous]"]
    );
    let swapped =
        diff_of(&of([9, 20], "v1", "~*"), &of([20, 9], "v1", "~*"), DiffOptions::default());
    assert_eq!(marked(&swapped), ["f::(lambda#1)@x", "f::(lambda#2)@x"]);
}
