//! Check of the share of incomplete callchains against the user's limit.

use profile::{EndReason, Profile};

use super::color;
use super::status::Status;
use options::Percent;

/// Number of samples of a run, and number of those with an incomplete callchain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completeness {
    samples: u64,
    incomplete: u64,
}

impl Completeness {
    /// Counts the samples of a profile. A callchain across a gap is not complete, nor is a recorded one.
    pub(crate) fn of(profile: &Profile) -> Self {
        let ends = EndReason::ALL.iter().zip(profile.end_counts());
        let incomplete = ends.filter(|(end, _)| !end.is_complete()).map(|(_, count)| count).sum();
        Self { samples: profile.samples.len() as u64, incomplete }
    }

    /// Returns the status of a run that ended with `status` and wrote its output.
    /// If more callchains are incomplete than `limit` allows, prints a line on standard error.
    pub(crate) fn judge(self, limit: Option<&Percent>, status: Status) -> Status {
        let Self { samples, incomplete } = self;
        let Some(limit) = limit.filter(|limit| limit.is_exceeded_by(incomplete, samples)) else {
            return status;
        };
        let share = 100.0 * incomplete as f64 / samples.max(1) as f64;
        eprintln!(
            "{} {incomplete} of {samples} samples ({share:.2} %) have incomplete callchains, more than the {limit} % of --fail-if-incomplete",
            color::error("unwind-perf")
        );
        Status::Incomplete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use options::parse_percent;
    use profile::{EventId, LayoutId, SampleRow, ThreadId};

    #[test]
    fn chains_of_recorders_and_across_gaps_are_not_complete() {
        let (thread, event, layout) = (ThreadId::new(0), EventId::new(0), LayoutId::new(0));
        let sample = |end| SampleRow::new(thread, event, end, None, layout);
        let mut profile = Profile::default();
        let ends = [
            EndReason::Root,
            EndReason::KernelOnly,
            EndReason::Recorded,
            EndReason::RootAcrossGap,
            EndReason::StackExhausted,
        ];
        profile.samples.extend(ends.map(sample));
        let judged = |limit: &str, status| {
            let limit = parse_percent(limit).expect("a number");
            Completeness::of(&profile).judge(Some(&limit), status)
        };
        assert_eq!(judged("59.9", Status::Complete), Status::Incomplete);
        assert_eq!(judged("60", Status::Complete), Status::Complete);
        assert_eq!(judged("60", Status::Damaged), Status::Damaged);
        assert_eq!(Completeness::of(&profile).judge(None, Status::Complete), Status::Complete);
        let nothing = Completeness::of(&Profile::default());
        let zero = parse_percent("0").expect("a number");
        assert_eq!(nothing.judge(Some(&zero), Status::Complete), Status::Complete);
    }
}
