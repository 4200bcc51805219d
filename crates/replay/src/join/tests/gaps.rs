//! Chains completed outside of a gap, or by the only known calls outside of it.

use crate::join::tests::notation::{check, check_exact};

/// `B` called `C` before and afterwards, and `A` called `B`: both calls saved the same registers.
#[test]
fn the_same_calls_before_and_after() {
    let text = "
        X@30 A@40 $
        4 x D@10 C@20:7 B@30:6 A@40 $
        E@8 |                         => ~ B A $
        E@8 F@18 |                    => ~ B A $
        4 x D@10 C@20:7 B@30:6 A@40 $
        X@30 A@40 $
    ";
    check(text);
    check_exact(&text.replace("=> ~ B A $", ""));
}

/// The frame of `B` is the same before and afterwards; that of `C` belongs to another call.
#[test]
fn calls_that_saved_other_registers() {
    check(
        "
        X@30 A@40 $
        4 x D@10 C@20:7 B@30:6 A@40 $
        E@8 |                         => ~ A $
        4 x D@10 C@20:8 B@30:6 A@40 $
        X@30 A@40 $
    ",
    );
}

/// Calls outside of the gap are outside of the sample's own frames.
#[test]
fn what_the_sample_shows_itself() {
    for cut in ["F@18 |28 => ~ B A $", "F@28 | => ~ B A $", "F@38 | => ~ A $", "F@18 |38 => ~ A $"]
    {
        check(&format!(
            "
            X@30 A@40 $
            4 x D@10 C@20:7 B@30:6 A@40 $
            E@8 {cut}
            4 x D@10 C@20:7 B@30:6 A@40 $
            X@30 A@40 $
        "
        ));
    }
}

/// `F` is at the CFA of `C`: the call of `C` is over, and the location of the call of `F` in `B` is unknown.
#[test]
fn another_function_in_the_place_of_a_callee() {
    check(
        "
        X@30 A@40 $
        4 x D@10 C@20:7 B@30:6 A@40 $
        E@8 F@18 |30                  => ~ A $
        4 x D@10 C@20:7 B@30:6 A@40 $
        X@30 A@40 $
    ",
    );
}

/// If as many samples did not show the calls, nothing indicates that they remained active.
#[test]
fn samples_that_showed_the_calls_and_those_that_did_not() {
    check(
        "
        X@30 A@40 $
        4 x D@10 C@20:7 B@30:6 A@40 $
        3 x E@8 |                     => ~ B A $
        4 x D@10 C@20:7 B@30:6 A@40 $
        X@30 A@40 $
    ",
    );
    // The direction with more samples counts.
    check(
        "
        X@30 A@40 $
        D@10 C@20:7 B@30:6 A@40 $
        4 x E@8 |                     => ~ B A $
        5 x D@10 C@20:7 B@30:6 A@40 $
        X@30 A@40 $
    ",
    );
}

/// `X` was called once in between, and then the same call of `C` returned.
/// Equal calls before and afterwards have not been active all the time.
#[test]
fn calls_that_come_back() {
    let shown = "4 x D@10 C@20:7 B@30:6 A@40 $";
    check(&format!("{shown}\n Y@8 X@28 A@40 $\n {shown}\n E@8 | => ~ A $\n {shown}"));
    // A call that saved other registers is a different one.
    let other = "4 x D@10 C@20:8 B@30:6 A@40 $";
    check(&format!("{other}\n Y@8 X@28 A@40 $\n {shown}\n E@8 | => ~ B A $\n {shown}"));
}

/// As many samples as those that showed them.
#[test]
fn too_many_samples_that_did_not_show_the_calls() {
    check(
        "
        X@30 A@40 $
        2 x D@10 C@20:7 B@30:6 A@40 $
        4 x E@8 |                     => ~ A $
        2 x D@10 C@20:7 B@30:6 A@40 $
        X@30 A@40 $
    ",
    );
}

/// The calls that a stack starts with are those that all its samples share.
#[test]
fn what_a_stack_starts_with() {
    check(
        "
        2 x D@10 C@20 B@30 A@40 $
        E@8 |                         => ~ B A $
        2 x D@10 C@20 B@30 A@40 $
    ",
    );
    check(
        "
        D@10 C@20 B@30 A@40 $
        D@18 C@28 B@30 A@40 $
        E@8 |                         => ~ B A $
        2 x D@10 C@20 B@30 A@40 $
    ",
    );
}

/// At least four samples of both directions must show it.
#[test]
fn too_few_samples_that_show_the_start() {
    check(
        "
        2 x D@10 C@20 B@30 A@40 $
        E@8 |
        D@10 C@20 B@30 A@40 $
    ",
    );
}

/// The thread may have been started for other code at another time.
#[test]
fn what_a_stack_starts_with_from_one_side() {
    check(
        "
        4 x G@5 F@10 E@20 D@30 C@40 B@50 A@60 $
        H@2 |                         => ~ B A $
    ",
    );
    check(
        "
        H@2 |                         => ~ B A $
        4 x G@5 F@10 E@20 D@30 C@40 B@50 A@60 $
    ",
    );
    check(
        "
        H@2 |
        3 x G@5 F@10 E@20 D@30 C@40 B@50 A@60 $
    ",
    );
}

/// The root is at most a stack size away.
#[test]
fn a_root_far_away() {
    check(
        "
        4 x D@10000 C@20000 B@800000 A@800008 $
        H@8 |                         => ~ B A $
        H@7 |
    ",
    );
}

/// Chains that did not reach the root have no start, and their calls do not lead to it.
#[test]
fn without_a_root() {
    check(
        "
        5 x D@10 C@20:7 B@30:6 A@40 ?
        E@8 |
        5 x D@10 C@20:7 B@30:6 A@40 ?
    ",
    );
}

/// Stacks of fibers, or of threads of a runtime: the root outside of the gap is ambiguous.
#[test]
fn two_roots_on_one_stack() {
    check(
        "
        4 x D@1010 C@1020:7 B@1030:6 A@1040 $
        D@5010 C@5020:7 B@5030:7 A@5040 $
        4 x D@1010:5 C@1020:7 B@1030:6 A@1040 $
        E@1008 |
        D@1010:5 C@1020:7 |1030       => B A $
        4 x D@1010 C@1020:7 B@1030:6 A@1040 $
    ",
    );
    // The roots of the loader and of the program are near each other.
    check(
        "
        D@1110 C@1120:7 B@1130:7 A@1140 $
        4 x D@1010 C@1020:7 B@1030:6 A@1040 $
        E@1008 |                      => ~ B A $
        4 x D@1010 C@1020:7 B@1030:6 A@1040 $
    ",
    );
}

/// A call that saved the same registers as its outer call is not distinguishable from others.
#[test]
fn registers_that_are_handed_down() {
    check(
        "
        X@30 A@40 $
        4 x D@10 C@20:7 B@30:7 A@40 $
        E@8 |                         => ~ A $
        4 x D@10 C@20:7 B@30:7 A@40 $
        X@30 A@40 $
    ",
    );
}
