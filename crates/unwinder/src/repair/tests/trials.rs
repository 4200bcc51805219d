//! What samples of the recording itself say about evidence switches it on and off.

use crate::repair::tests::notation::{check, check_exact};

/// The same frame was seen below two callers: then it is no evidence.
#[test]
fn a_trial_against_the_same_frame() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        D@10:1 C@20 X@30 A@40 $
        D@10:1 C@20 |30
    ",
    );
    // Elsewhere in the module, too.
    check(
        "
        1: D@10:1 C@20 B@30 A@40 $
        1: D@10:1 C@20 X@30 A@40 $
        2: G@10:1 F@20 E@30 A@40 $
        2: G@10:1 F@20 |30
    ",
    );
}

/// Of what several samples showed: one wrong trial in two hundred is borne, where it is not of the same place.
#[test]
fn one_trial_among_many() {
    // The first two samples are no trial, and one of what one sample showed.
    for (samples, result) in [(202, "=> E A $"), (201, "")] {
        check_exact(&format!(
            "
            1: D@10:1 C@20 B@30 A@40 $
            2 x 1: D@10:1 C@20 X@30 A@40 $
            {samples} x 2: G@10:1 F@20 E@30 A@40 $
            2: G@10:1 F@20 |30        {result}
        "
        ));
    }
}

/// Fifty trials of a module prove what nothing speaks against at the place itself; apart for what one sample showed.
#[test]
fn weak_evidence_of_a_module() {
    for (samples, shown, result) in [(52, 2, "=> E"), (51, 2, ""), (52, 1, "")] {
        check_exact(&format!(
            "
            {samples} x 1: D@10 C@20 B@30 ?
            {shown} x 2: G@10 F@20 E@30 ?
            2: G@10 F@20 |30          {result}
        "
        ));
    }
}

/// That `C` was called from `B` is proven, but not that it is the same call: what was outside of it was not always so.
#[test]
fn what_was_seen_outside_of_another_call() {
    let elsewhere = "
        2 x 1: D@10 C@20 B@30 A@40 $
        2 x 1: D@10 C@20 B@30 Z@40 $
    ";
    let shown = "2: D@10 C@20 B@30 A@40 $\n 2: D@10 C@20 |30";
    check_exact(&format!("{} {shown} => B", elsewhere.repeat(20)));
    let elsewhere = elsewhere.replace("Z@40", "A@40");
    check_exact(&format!("{} {shown} => B A $", elsewhere.repeat(20)));
    // That it saved the same registers proves it.
    let elsewhere = elsewhere.replace("D@10 C@20 B@30 A@40", "D@10 C@20 B@30 Z@40");
    let shown = "2: D@10:1 C@20 B@30 A@40 $\n 2: D@10:1 C@20 |30";
    check_exact(&format!("{} {shown} => B A $", elsewhere.repeat(20)));
}

/// Thirty-two trials of a place of the code prove, whatever the rest of the module is like.
#[test]
fn weak_evidence_of_a_place() {
    let noise = "
        2 x 1: D@10 C@20 B@30 A@40 $
        2 x 1: D@10 C@20 X@30 A@40 $
    "
    .repeat(40);
    for (samples, result) in [(33, "=> E"), (32, "")] {
        check_exact(&format!(
            "
            {noise}
            {samples} x 2: G@10 F@20 E@30 ?
            2: G@10 F@20 |30          {result}
        "
        ));
    }
}

/// One of the two is right, and trials elsewhere do not tell which.
#[test]
fn both_disagree_where_trials_are_right() {
    check_exact(
        "
        250 x 2: D@10:1 C@20 B@30 A@40 ?
        250 x 1: D@10:1 C@20 B@30 A@40 ?
        1: D@10:1 C@20 |30
        1: D@10:1 C@20 X@30 A@40 ?
    ",
    );
    check_exact(
        "
        1: D@10:1 C@20 X@30 A@40 ?
        1: D@10:1 C@20 |30
        250 x 1: D@10:1 C@20 B@30 A@40 ?
        250 x 2: D@10:1 C@20 B@30 A@40 ?
    ",
    );
}
