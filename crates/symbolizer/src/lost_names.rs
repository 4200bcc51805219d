//! The account of missing names and lines over all runs for one recording: a sentence for each kind of damage and file,
//! and one for each reason that addresses have no names.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use address::Svma;

use crate::finding::{SymbolFinding, SymbolFindingKind};
use crate::request::WhyNoName;

/// Limit on the files of each kind with their own row, those with the most positions first.
const MAX_FILES: usize = 5;

/// Collects the damage and missing files found by runs, and the addresses without a name.
#[derive(Debug, Default)]
pub struct LostNames {
    findings: BTreeMap<SymbolFindingKind, BTreeMap<PathBuf, FoundDamage>>,
    nameless: BTreeMap<WhyNoName, BTreeMap<PathBuf, NamelessAddresses>>,
}

/// A row of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostNamesRow {
    /// Identifier of its kind: [`SymbolFindingKind::as_str`] or [`WhyNoName::as_str`].
    pub kind: &'static str,
    /// A sentence on the file, with its first position.
    pub message: String,
    /// Number of positions: sections, units, line programs, or distinct addresses.
    pub count: u64,
}

#[derive(Debug, Default)]
struct FoundDamage {
    places: BTreeSet<u64>,
    /// The missing file at the first position.
    missing: Option<Vec<u8>>,
}

#[derive(Debug)]
struct NamelessAddresses {
    count: u64,
    lowest: Svma,
}

impl LostNames {
    /// Adds the findings of a run. Positions that an earlier run found are not counted again.
    pub fn add_findings(&mut self, findings: Vec<SymbolFinding>) {
        for finding in findings {
            let SymbolFinding { kind, path, places, missing, .. } = finding;
            let known = self.findings.entry(kind).or_default().entry(path).or_default();
            if known.places.first().is_none_or(|first| places.first() < Some(first)) {
                known.missing = missing;
            }
            known.places.extend(places);
        }
    }

    /// Returns true if anything is damaged or missing. Addresses that no symbol covers do not count.
    #[must_use]
    pub fn has_damage(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Adds addresses of a file without a function name, as their number and the lowest. Each must be added once.
    pub fn add_addresses(&mut self, file: &Path, count: u64, lowest: Svma, why: WhyNoName) {
        let files = self.nameless.entry(why).or_default();
        match files.get_mut(file) {
            Some(known) => {
                known.count += count;
                known.lowest = known.lowest.min(lowest);
            }
            None => {
                files.insert(file.to_owned(), NamelessAddresses { count, lowest });
            }
        }
    }

    /// Merges another account, of other addresses.
    pub fn merge(&mut self, other: Self) {
        for (kind, files) in other.findings {
            let known = self.findings.entry(kind).or_default();
            for (path, more) in files {
                let found = known.entry(path).or_default();
                if found.places.first().is_none_or(|first| more.places.first() < Some(first)) {
                    found.missing = more.missing;
                }
                found.places.extend(more.places);
            }
        }
        for (why, files) in other.nameless {
            let known = self.nameless.entry(why).or_default();
            for (path, more) in files {
                let lowest = more.lowest;
                let found = known.entry(path).or_insert(NamelessAddresses { count: 0, lowest });
                found.count += more.count;
                found.lowest = found.lowest.min(lowest);
            }
        }
    }

    /// Returns the account: for each kind of damage the files with the most positions and one row for all others, then
    /// for each reason the addresses without a name.
    #[must_use]
    pub fn rows(&self) -> Vec<LostNamesRow> {
        let mut rows = Vec::new();
        for (&kind, files) in &self.findings {
            let row = |(path, found): (&PathBuf, &FoundDamage)| {
                let finding = SymbolFinding {
                    request: 0,
                    kind,
                    path: path.clone(),
                    places: found.places.first().copied().into_iter().collect(),
                    missing: found.missing.clone(),
                };
                let count = found.places.len() as u64;
                LostNamesRow { kind: kind.as_str(), message: finding.to_string(), count }
            };
            rows.extend(limited(files.iter().map(row).collect()));
        }
        rows.extend(self.nameless.iter().filter_map(|(&why, files)| nameless(why, files)));
        rows
    }
}

/// Returns the row on addresses without a name: their number, and the file with most of them. Stripped files are
/// common, so they have no rows of their own.
fn nameless(why: WhyNoName, files: &BTreeMap<PathBuf, NamelessAddresses>) -> Option<LostNamesRow> {
    let (path, most) = files.iter().min_by_key(|(_, found)| Reverse(found.count))?;
    let mut place = path.display().to_string();
    if files.len() > 1 {
        place.push_str(&format!(" and {} more files", files.len() - 1));
    }
    let lowest = most.lowest.0;
    let message = match why {
        WhyNoName::NoFile => format!(
            "{place}: addresses such as {lowest:#x} have no names, since the file was not found"
        ),
        WhyNoName::NoSymbols => format!(
            "{place}: addresses such as {lowest:#x} have no names, since the file has neither symbols nor debug information"
        ),
        WhyNoName::NotCovered => {
            format!(
                "{place}: addresses such as {lowest:#x} have no names, since no symbol covers them"
            )
        }
    };
    let count = files.values().map(|found| found.count).sum();
    Some(LostNamesRow { kind: why.as_str(), message, count })
}

/// Returns the rows of the files with the greatest counts, equal ones by path, and one row for the rest.
fn limited(mut rows: Vec<LostNamesRow>) -> Vec<LostNamesRow> {
    rows.sort_by_key(|row| Reverse(row.count));
    let rest = rows.split_off(rows.len().min(MAX_FILES));
    if let Some(first) = rest.first() {
        rows.push(LostNamesRow {
            kind: first.kind,
            message: format!("the same in {} more files", rest.len()),
            count: rest.iter().map(|row| row.count).sum(),
        });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(path: &str, places: &[u64]) -> SymbolFinding {
        SymbolFinding {
            request: 0,
            kind: SymbolFindingKind::SplitUnitMissing,
            path: path.into(),
            places: places.to_vec(),
            missing: Some(format!("{}.dwo", places[0]).into_bytes()),
        }
    }

    fn rows(lost: &LostNames) -> Vec<(&'static str, String, u64)> {
        lost.rows().into_iter().map(|row| (row.kind, row.message, row.count)).collect()
    }

    #[test]
    fn runs_are_added_up_and_places_counted_once() {
        let mut lost = LostNames::default();
        lost.add_findings(vec![finding("/a", &[7, 9])]);
        lost.add_addresses(Path::new("/b"), 1, Svma(0x20), WhyNoName::NoSymbols);
        let mut more = LostNames::default();
        more.add_findings(vec![finding("/a", &[3, 9])]);
        more.add_addresses(Path::new("/b"), 1, Svma(0x10), WhyNoName::NoSymbols);
        lost.merge(more);
        assert_eq!(
            rows(&lost),
            [
                (
                    "dwo-missing",
                    "/a: 3.dwo, the split debug information of a unit, was not found; inlined functions are missing"
                        .to_owned(),
                    3
                ),
                (
                    "no-symbols",
                    "/b: addresses such as 0x10 have no names, since the file has neither symbols nor debug information"
                        .to_owned(),
                    2
                ),
            ]
        );
    }

    #[test]
    fn few_files_of_a_kind_have_a_row() {
        let mut lost = LostNames::default();
        for file in 0..8_u64 {
            let places: Vec<u64> = (0..=file).collect();
            lost.add_findings(vec![finding(&format!("/{file}"), &places)]);
        }
        let sentence = |file: u64| {
            let path = format!("/{file}");
            ("dwo-missing", finding(&path, &[0]).to_string(), file + 1)
        };
        let rest = ("dwo-missing", "the same in 3 more files".to_owned(), 1 + 2 + 3);
        let expected: Vec<_> = (3..8).rev().map(sentence).chain([rest]).collect();
        assert_eq!(rows(&lost), expected);
    }

    #[test]
    fn addresses_without_a_name_have_one_row() {
        let mut lost = LostNames::default();
        for (path, address) in [("/c", 0x30), ("/b", 0x20), ("/b", 0x10), ("/a", 0x40)] {
            lost.add_addresses(Path::new(path), 1, Svma(address), WhyNoName::NotCovered);
        }
        let sentence = "/b and 2 more files: addresses such as 0x10 have no names, since no symbol covers them";
        assert_eq!(rows(&lost), [("not-covered", sentence.to_owned(), 4)]);
    }
}
