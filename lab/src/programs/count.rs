//! Counts of a recording's stacks by their end.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::compare;

/// User stacks of a recording.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// Samples with a sufficient stack copy.
    pub(super) samples: u64,
    /// Number of these that reach a root, by our program and by perf.
    pub(super) ours: u64,
    pub(super) perf: u64,
    /// Our chains with a frame that is proven wrong.
    pub(super) wrong: u64,
    /// End reasons of our chains that do not reach one.
    pub(super) ends: BTreeMap<String, u64>,
}

/// Counts the stacks of a recording.
pub(super) fn count(recording: &Path, ours: &Path) -> Result<Counts> {
    let mut counts = Counts::default();
    let roots = compare::roots(recording, ours)?;
    counts.wrong = roots.ours_proven_wrong;
    for chain in roots.chains {
        let rooted = chain.end.starts_with("root");
        if chain.end == "stack-exhausted" && !chain.perf {
            continue;
        }
        counts.samples += 1;
        counts.ours += u64::from(rooted);
        counts.perf += u64::from(chain.perf);
        if !rooted {
            *counts.ends.entry(chain.end).or_default() += 1;
        }
    }
    Ok(counts)
}
