//! Chains that are continued call by call: which evidence is enough, and what contradicts it.

use crate::join::tests::notation::{check, check_exact};

/// `D` was called by the same call before: so were its callers.
#[test]
fn the_past_alone() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        D@10:1 C@20 |30               => B A $
    ",
    );
}

#[test]
fn the_future_alone() {
    check(
        "
        D@10:1 C@20 |30               => B A $
        D@10:1 C@20 B@30 A@40 $
    ",
    );
}

/// What a repaired chain shows is known for the samples after it, for their frames are compared with it.
#[test]
fn one_cut_chain_after_the_other() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        5 x D@10:1 C@20 |30           => B A $
    ",
    );
}

/// `D` was left and called again, and saved the same: so it does whoever calls `C`.
#[test]
fn calls_that_save_the_same_each_time() {
    check_exact(
        "
        D@10:1 C@20 B@30 A@40 $
        E@8 C@20 B@30 A@40 $
        D@10:1 C@20 |30
    ",
    );
    // Once it saved something else: that tells its calls apart.
    check_exact(
        "
        D@10:1 C@20 B@30 A@40 $
        E@8 C@20 B@30 A@40 $
        D@10:2 C@20 B@30 A@40 $
        D@10:2 C@20 |30               => B A $
    ",
    );
}

/// Cut chains show each other what is outside of them, as far as any of them reached.
#[test]
fn a_chain_that_was_cut_off_further_out() {
    check(
        "
        D@10:1 C@20 B@30 A@40 |50
        D@10:1 C@20 |30               => B A
    ",
    );
    check(
        "
        D@10:1 C@20:2 B@30 |40        => A $
        D@10:1 C@20:2 |30             => B A $
        D@10:1 C@20:2 B@30 A@40 $
    ",
    );
}

/// `D` and `C` are in their places: that proves nothing, however often it was so before and is so afterwards.
#[test]
fn places_alone() {
    check_exact(
        "
        250 x D@10 C@20 B@30 A@40 $
        D@10 C@20 |30
        250 x D@10 C@20 B@30 A@40 $
    ",
    );
}

/// Each alone would be enough.
#[test]
fn both_disagree() {
    check_exact(
        "
        D@10:1 C@20 B@30 A@40 $
        D@10:1 C@20 |30
        D@10:1 C@20 X@30 A@40 $
    ",
    );
}

/// As far as both agree, and not beyond.
#[test]
fn both_agree_at_first() {
    check_exact(
        "
        250 x D@10:1 C@20:3 B@30 A@40:2 Y@50 R@60 $
        D@10:1 C@20:3 |30             => B A
        250 x D@10:1 C@20:3 B@30 A@40:2 Z@50 R@60 $
    ",
    );
}

#[test]
fn the_stack_pointer_was_above_the_frame() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        B@28 ?
        D@10:1 C@20 |30
    ",
    );
    check(
        "
        D@10:1 C@20 |30
        A@40 ?
        D@10:1 C@20 B@30 A@40 $
    ",
    );
    // Below the frames, nothing is contradicted.
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        E@8 ?
        D@10:1 C@20 |30               => B A $
    ",
    );
}

/// `F` was where `C` is, and called from elsewhere.
#[test]
fn another_frame_in_the_same_place() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        E@15 F@25 X@30 ?
        D@10:1 C@20 |30
    ",
    );
    // It lies across the frames.
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        E@15 F@2c ?
        D@10:1 C@20 |30
    ",
    );
}

#[test]
fn another_call_of_the_same_function() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        D@10:2 C@20 |30
    ",
    );
}

/// The frames of a recursion differ in nothing but their places: whoever began it, they look the same.
#[test]
fn a_recursion_that_saves_the_same() {
    check_exact(
        "
        R@10:1 R@20:1 R@30:1 R@40:1 M@50 $
        R@10:1 R@20:1 |30
        R@10:1 R@20:1 R@30:1 |40
        R@20:1 R@30:1 |40
        R@10:1 R@20:1 |30
        R@10:1 R@20:1 R@30:1 R@40:1 M@50 $
    ",
    );
    // Two functions in turn.
    check_exact(
        "
        P@10:1 Q@20:2 P@30:1 Q@40:2 M@50 $
        P@10:1 Q@20:2 P@30:1 |40
        P@10:1 Q@20:2 P@30:1 Q@40:2 M@50 $
    ",
    );
}

/// Each frame saved something else, which tells them apart.
#[test]
fn recursion() {
    check(
        "
        R@10:1 R@20:2 R@30:3 R@40:4 M@50 $
        R@10:1 R@20:2 |30             => R R M $
        R@10:1 R@20:2 R@30:3 |40      => R M $
        R@20:2 R@30:3 |40             => R M $
        R@20:2 R@30:3 R@40:4 M@50 $
    ",
    );
    // It went on inwards: the innermost frame was not called before.
    check(
        "
        R@20:2 R@30:3 R@40:4 M@50 $
        R@10:1 R@20:2 R@30:3 |40      => R M $
    ",
    );
    // Another one, shifted by half a frame.
    check(
        "
        R@10:1 R@20:2 R@30:3 R@40:4 M@50 $
        R@18:1 R@28:2 |38
    ",
    );
}

#[test]
fn threads_have_nothing_in_common() {
    check(
        "
        4 x 1: D@10:1 C@20 B@30 A@40 $
        2: D@10:1 C@20 |30
        1: D@10:1 C@20 |30            => B A $
        4 x 1: D@10:1 C@20 B@30 A@40 $
    ",
    );
}

/// Stacks of a thread in different regions of 4 GiB do not contradict each other.
#[test]
fn the_stack_of_a_signal_handler() {
    check(
        "
        D@7fff00000010:1 C@7fff00000020 B@7fff00000030 A@7fff00000040 $
        4 x H@10:1 G@20 F@30 $
        D@7fff00000010:1 C@7fff00000020 |7fff00000030    => B A $
        H@10:1 G@20 |30               => F $
    ",
    );
}

/// Where the frame of the last function begins is not known, so what is outside of it is not, either.
#[test]
fn a_last_function_without_a_frame() {
    check_exact(
        "
        D@10:1 C@20 B@30 A@40 $
        D@10:1 C@20 |
        D@10:1 C@20 ?
        D@10:1 C@20 B@30 A@40 $
    ",
    );
}
