//! Bytes of stack that the chains of samples need, counted during walk and repair.

use profile::{EndReason, NeedCounts, StackNeeds};

/// Counts a walked sample by its end reason.
/// `leaf_and_root` are the stack pointers of its innermost and outermost user frame, 0 if unknown.
pub(crate) fn note_walked(needs: &mut StackNeeds, leaf_and_root: Option<[u64; 2]>, end: EndReason) {
    match (end, leaf_and_root) {
        // The root's frame begins at the end of its callee's frame; detecting the root reads no further bytes.
        (EndReason::Root, Some([leaf, root])) => count(&mut needs.whole, root.saturating_sub(leaf)),
        (EndReason::StackExhausted, _) => needs.truncated += 1,
        _ => {}
    }
}

/// Counts a repaired sample by its end reasons before and after the repair;
/// `bytes` is the stack that it would have needed.
pub(crate) fn note_repaired(
    needs: &mut StackNeeds,
    before: EndReason,
    after: EndReason,
    bytes: Option<u64>,
) {
    match (before, after, bytes) {
        (EndReason::StackExhausted, EndReason::Root, Some(bytes)) => {
            count(&mut needs.joined, bytes);
        }
        (EndReason::StackExhausted, EndReason::RootAcrossGap, Some(bytes)) => {
            count(&mut needs.across_gap, bytes);
        }
        _ => {}
    }
}

fn count(counts: &mut NeedCounts, bytes: u64) {
    if let Some(count) = counts.get_mut(StackNeeds::slot(bytes)) {
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_of_walked_and_repaired_samples() {
        let mut needs = StackNeeds::default();
        note_walked(&mut needs, Some([0x7000, 0x8000]), EndReason::Root);
        note_walked(&mut needs, Some([0x7000, 0x8001]), EndReason::Root);
        note_walked(&mut needs, Some([0x7000, 0x7000]), EndReason::Root);
        note_walked(&mut needs, None, EndReason::Root);
        for end in [EndReason::StackExhausted; 5] {
            note_walked(&mut needs, Some([0x7000, 0x8000]), end);
        }
        // A larger dump would not help these.
        for end in [EndReason::NoModule, EndReason::NoUserStack, EndReason::Recorded] {
            note_walked(&mut needs, Some([0x7000, 0x8000]), end);
        }
        let cut = EndReason::StackExhausted;
        note_repaired(&mut needs, cut, EndReason::Root, Some(0x2400));
        note_repaired(&mut needs, cut, EndReason::RootAcrossGap, Some(0x4000));
        note_repaired(&mut needs, cut, EndReason::RootAcrossGap, Some(0x10_0000));
        note_repaired(&mut needs, cut, cut, None);
        note_repaired(&mut needs, cut, EndReason::MaxFrames, Some(0x4000));
        note_repaired(&mut needs, EndReason::NoUserStack, EndReason::Root, Some(0x4000));
        let expected = StackNeeds {
            whole: [2, 1, 0, 0, 0, 0],
            truncated: 5,
            joined: [0, 0, 1, 0, 0, 0],
            across_gap: [0, 0, 1, 0, 0, 1],
        };
        assert_eq!(needs, expected);
    }
}
