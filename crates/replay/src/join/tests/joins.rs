//! Chains completed call by call: sufficient evidence, and contradictions.

use crate::join::tests::functions::{indirect, world};
use crate::join::tests::notation::{World, check, check_exact};

/// The same call of `D` as before, so its callers are the same.
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

/// One caller more than a chain may have shows that others are missing, here `B` and `A`, or `A` outside of a gap.
#[test]
fn callers_beyond_the_longest_chain() {
    let text = "
        E@10:1 D@20 C@30 B@40 A@50 $
        E@10:1 D@20 |30               => C B A $
    ";
    check(text);
    for (max_frames, found) in [(0, "=> C"), (1, "=> C B"), (2, "=> C B A $")] {
        let mut world = World { max_frames, ..World::new() };
        world.check_with(&text.replace("=> C B A $", found), true);
    }
    let text = "
        X@30 A@40 $
        4 x D@10 C@20:7 B@30:6 A@40 $
        E@8 |                         => ~ B $
        4 x D@10 C@20:7 B@30:6 A@40 $
        X@30 A@40 $
    ";
    let mut world = World { max_frames: 0, ..world(&[indirect('A')]) };
    world.check_with(text, true);
}

/// A repaired chain gives evidence for the later samples, which are compared with its frames.
#[test]
fn one_cut_chain_after_the_other() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        5 x D@10:1 C@20 |30           => B A $
    ",
    );
}

/// `D` returned and was called again, and saved the same registers: it does so for every caller of `C`.
#[test]
fn calls_that_save_the_same_each_time() {
    check_exact(
        "
        D@10:1 C@20 B@30 A@40 $
        E@8 C@20 B@30 A@40 $
        D@10:1 C@20 |30
    ",
    );
    // Once it saved other registers: these distinguish its calls.
    check_exact(
        "
        D@10:1 C@20 B@30 A@40 $
        E@8 C@20 B@30 A@40 $
        D@10:2 C@20 B@30 A@40 $
        D@10:2 C@20 |30               => B A $
    ",
    );
}

/// Truncated chains give each other outer frames, up to the outermost one of any of them.
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

/// `D` and `C` are at their CFAs, which proves nothing, regardless of the number of samples before and afterwards.
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

/// Each alone would be sufficient.
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

/// Frames are taken until the directions disagree.
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

/// `F` is at the CFA of `C`, with another caller.
#[test]
fn another_frame_in_the_same_place() {
    check(
        "
        D@10:1 C@20 B@30 A@40 $
        E@15 F@25 X@30 ?
        D@10:1 C@20 |30
    ",
    );
    // It overlaps the frames.
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

/// The frames of a recursion differ only in their stack addresses: they look the same for every first caller.
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

/// Each frame saved other registers, which distinguish them.
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
    // The recursion continued inwards: the innermost frame is new.
    check(
        "
        R@20:2 R@30:3 R@40:4 M@50 $
        R@10:1 R@20:2 R@30:3 |40      => R M $
    ",
    );
    // Another recursion, shifted by half a frame.
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

/// The CFA of the last function is unknown, so its outer frames are unknown, too.
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
