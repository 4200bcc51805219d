//! Collector of findings: counted, with a limited number of examples per kind.

use std::mem::discriminant;

use crate::finding::{Finding, Severity};

/// Maximum number of examples per kind.
const EXAMPLES: usize = 4;

/// Findings of one kind.
#[derive(Clone, Copy, Debug)]
pub struct FindingGroup<'f> {
    /// Number of findings.
    pub count: u64,
    /// The first few findings, at least one.
    pub examples: &'f [Finding],
}

/// Findings grouped by kind, in order of first appearance. A group has a count and the first few findings.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    groups: Vec<(u64, Vec<Finding>)>,
}

impl Findings {
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding) {
        let kind = discriminant(&finding);
        let of_kind =
            |group: &&mut (u64, Vec<Finding>)| group.1.first().map(discriminant) == Some(kind);
        match self.groups.iter_mut().find(of_kind) {
            Some((count, examples)) => {
                *count += 1;
                if examples.len() < EXAMPLES {
                    examples.push(finding);
                }
            }
            None => self.groups.push((1, vec![finding])),
        }
    }

    /// Adds all findings of another collector, for instance of another thread.
    pub fn merge(&mut self, other: &Self) {
        for group in other.iter() {
            group.examples.iter().for_each(|&finding| self.push(finding));
            let kind = group.examples.first().map(discriminant);
            if let Some(mine) =
                self.groups.iter_mut().find(|mine| mine.1.first().map(discriminant) == kind)
            {
                mine.0 += group.count - group.examples.len() as u64;
            }
        }
    }

    /// Returns the groups in order of first appearance.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FindingGroup<'_>> {
        self.groups.iter().map(|(count, examples)| FindingGroup { count: *count, examples })
    }

    /// Returns true if there are no findings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the worst severity of all findings.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        self.iter().flat_map(|group| group.examples).map(Finding::severity).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_all_and_keeps_few() {
        let mut findings = Findings::default();
        assert!(findings.is_empty());
        findings.push(Finding::Simpleperf);
        assert_eq!(findings.severity(), Some(Severity::Note));
        for offset in 0..10 {
            findings.push(Finding::UnknownEventId { offset, id: 7 });
        }
        let groups: Vec<_> =
            findings.iter().map(|group| (group.count, group.examples.len())).collect();
        assert_eq!(groups, [(1, 1), (10, 4)]);
        assert_eq!(findings.severity(), Some(Severity::Damage));
        let mut sum = findings.clone();
        sum.merge(&findings);
        let groups: Vec<_> = sum.iter().map(|group| (group.count, group.examples.len())).collect();
        assert_eq!(groups, [(2, 2), (20, 4)]);
    }
}
