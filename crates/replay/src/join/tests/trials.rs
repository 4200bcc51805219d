//! Trials in the recording itself enable and disable evidence.

use crate::join::tests::notation::{check, check_exact};

/// The same frame was observed below two callers, so it is not evidence.
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

/// For calls that several samples showed, one failed trial in two hundred is tolerated if it is at another location.
#[test]
fn one_trial_among_many() {
    // The first two samples are not trials, and one trial concerns a call that one sample showed.
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

/// One of the two is right, and trials elsewhere do not show which.
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
