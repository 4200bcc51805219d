//! The printed result of a comparison.

use super::chain::{Chains, Sample};
use super::oracle::Ruling;
use super::verdict::{Group, Tally, Verdict};
use crate::strings::{StringId, StringTable};

/// Both sides with their names.
pub(super) struct Sides<'a> {
    pub(super) names: [&'a str; 2],
    pub(super) chains: [&'a Chains; 2],
    pub(super) words: &'a StringTable,
}

impl Sides<'_> {
    /// Prints the table, the groups and the differing names.
    pub(super) fn print(&self, tally: &Tally) {
        let [left, right] = self.chains;
        println!("\n{:<22}{:>12}{:>12}", "", self.names[0], self.names[1]);
        println!("{:<22}{:>12}{:>12}", "samples", left.samples.len(), right.samples.len());
        println!("{:<22}{:>12}{:>12}", "user frames", left.frames.len(), right.frames.len());
        println!("{:<22}{:>12}{:>12}", "tails in no module", left.null_tails, right.null_tails);
        println!("{:<22}{:>12}{:>12}", "not on the other side", tally.only_left, tally.only_right);
        println!("\n{} matched samples; {} is …", tally.matched, self.names[0]);
        for verdict in Verdict::ALL {
            let count = tally.verdicts.get(&verdict).copied().unwrap_or(0);
            println!(
                "  {:<20}{count:>12}{:>11.3} %",
                verdict.word(),
                percent(count, tally.matched)
            );
            for ruling in Ruling::ALL {
                if let Some(count) = tally.rulings.get(&(verdict, ruling)) {
                    println!("    {:<18}{count:>12}", ruling.words());
                }
            }
        }
        println!("  {:<20}{:>12}", "kernel part differs", tally.kernel_differs);
        println!("\n{} frames in common", tally.common_frames);
        println!("  {:<20}{:>12}", "named by both", tally.both_named);
        println!(
            "  {:<20}{:>12}{:>11.3} %",
            "same name",
            tally.same_name,
            percent(tally.same_name, tally.both_named)
        );
        println!("  {:<20}{:>12}", format!("only {}", self.names[0]), tally.only_left_named);
        println!("  {:<20}{:>12}", format!("only {}", self.names[1]), tally.only_right_named);
        self.print_ends(tally);
        self.print_groups(tally);
        self.print_names(tally);
    }

    fn print_ends(&self, tally: &Tally) {
        if tally.ends.keys().all(|&end| end == 0) {
            return;
        }
        println!("\nends of {}", self.names[0]);
        for (end, count) in largest(tally.ends.iter().map(|(&end, &count)| (end, count))) {
            println!("  {count:>9}  {}", self.text(end));
        }
    }

    fn print_groups(&self, tally: &Tally) {
        for verdict in [Verdict::Shorter, Verdict::Diverging, Verdict::Longer] {
            let groups = tally.group_sizes.iter().filter(|(group, _)| group.verdict == verdict);
            let groups = largest(groups.map(|(&group, &count)| (group, count)));
            if groups.is_empty() {
                continue;
            }
            println!("\n{}: by module of {}", verdict.word(), place(verdict));
            for (group, count) in groups.into_iter().take(20) {
                let example = tally.groups.get(&group).and_then(|examples| examples.first());
                let at = example.map_or_else(String::new, |(sample, _)| at(sample));
                println!(
                    "  {count:>9}  {:<17}  {}  {}  e.g. {at}",
                    group.ruling.words(),
                    self.text(group.module),
                    self.text(group.reason)
                );
            }
        }
    }

    fn print_names(&self, tally: &Tally) {
        if !tally.other_names.is_empty() {
            println!("\nother names: {} | {}", self.names[0], self.names[1]);
        }
        for ((one, other), count) in
            largest(tally.other_names.iter().map(|(&pair, &count)| (pair, count)))
                .into_iter()
                .take(20)
        {
            println!("  {count:>9}  {} | {}", self.words.text(one), self.words.text(other));
        }
    }

    /// Prints `limit` samples side by side, the worst kinds first, alternating between the groups.
    pub(super) fn print_examples(&self, tally: &Tally, limit: usize) {
        let mut groups: Vec<(&Group, &Vec<(Sample, Sample)>)> = tally.groups.iter().collect();
        groups.sort_by_key(|(group, _)| std::cmp::Reverse(group.verdict));
        let rounds = groups.iter().map(|(_, examples)| examples.len()).max().unwrap_or(0);
        let turns = (0..rounds).flat_map(|round| {
            groups.iter().filter_map(move |(group, all)| Some((group, all.get(round)?)))
        });
        for (group, (one, other)) in turns.take(limit) {
            println!(
                "\n{} {} ({}), {}",
                group.verdict.word(),
                at(one),
                self.text(one.end),
                group.ruling.words()
            );
            let (ours, theirs) = (self.chains[0].user(one), self.chains[1].user(other));
            for depth in 0..ours.len().max(theirs.len()) {
                let (a, b) = (ours.get(depth), theirs.get(depth));
                let same = matches!((a, b), (Some(a), Some(b)) if a.same_location(b));
                let show = |frame: Option<&super::chain::Frame>| {
                    frame.map_or_else(String::new, |frame| {
                        let module =
                            self.words.text(frame.module).rsplit('/').next().unwrap_or_default();
                        let offset = frame.stated[1];
                        let number =
                            if offset == super::chain::UNSTATED { frame.shown() } else { offset };
                        let name: String = self.words.text(frame.symbol).chars().take(40).collect();
                        format!("{number:x} {name} ({module}) {}", self.words.text(frame.found_by))
                    })
                };
                println!("  {} {:<72} {}", if same { ' ' } else { '!' }, show(a), show(b));
            }
        }
    }

    fn text(&self, word: StringId) -> &str {
        match self.words.text(word) {
            "" => "-",
            text => text,
        }
    }
}

const fn place(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Shorter => "the last frame, and why it is the last",
        Verdict::Longer => "the first further frame, and how the chain ended",
        _ => "the first other frame, and how it was found",
    }
}

fn at(sample: &Sample) -> String {
    format!("{}.{:09} tid {}", sample.time / 1_000_000_000, sample.time % 1_000_000_000, sample.tid)
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn largest<T>(counts: impl Iterator<Item = (T, u64)>) -> Vec<(T, u64)> {
    let mut counts: Vec<(T, u64)> = counts.collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    counts
}
