//! Advice on the size of the stack copies, which a recording with callchains does not show.

use formats::share;
use profile::{DumpAdvice, StackNeeds};

/// Returns the advice if another size than `copied` bytes serves better. `samples` is the number of the samples with these needs.
pub(super) fn stack_tip(needs: &StackNeeds, copied: u64, samples: u64) -> Option<String> {
    let of_stacks = |count| share(count, needs.decided());
    match DumpAdvice::new(needs, copied, samples) {
        DumpAdvice::Change { bytes, rooted: Some(rooted) } if bytes < copied => Some(format!(
            "Tip: --stack-size {bytes} is enough for {} of the stacks; perf then copies less.",
            of_stacks(rooted)
        )),
        DumpAdvice::Change { bytes, rooted: Some(rooted) } => Some(format!(
            "Tip: --stack-size {bytes} completes about {} of the stacks (now {}).",
            of_stacks(rooted),
            of_stacks(needs.rooted())
        )),
        DumpAdvice::Change { bytes, rooted: None } => Some(format!(
            "Tip: {} of the stacks exceed their copy; record with --stack-size {bytes}.",
            share(needs.truncated, samples)
        )),
        DumpAdvice::Keep | DumpAdvice::NoneServes => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_size_is_named() {
        let tip = |needs: StackNeeds| stack_tip(&needs, 16_384, 1000);
        let whole = [950, 50, 0, 0, 0, 0];
        assert_eq!(
            tip(StackNeeds { whole, ..StackNeeds::default() }).as_deref(),
            Some(
                "Tip: --stack-size 4096 is enough for 95.0 % of the stacks; perf then copies less."
            )
        );
        let whole = [0, 0, 600, 0, 0, 0];
        let joined = [0, 0, 0, 200, 0, 0];
        assert_eq!(
            tip(StackNeeds { whole, truncated: 400, joined, ..StackNeeds::default() }).as_deref(),
            Some("Tip: --stack-size 32768 completes about 100.0 % of the stacks (now 80.0 %).")
        );
        assert_eq!(
            tip(StackNeeds { whole, truncated: 400, ..StackNeeds::default() }).as_deref(),
            Some("Tip: 40.0 % of the stacks exceed their copy; record with --stack-size 32768.")
        );
        assert_eq!(tip(StackNeeds { whole, ..StackNeeds::default() }), None);
    }
}
